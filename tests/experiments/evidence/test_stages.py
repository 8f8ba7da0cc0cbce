"""The experiment in stages: parts of grids that stand for the whole, settings that follow from stored runs alone."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gpbe import experiments, store
from gpbe.analysis.findings import Cell
from gpbe.analysis.performance import performance
from gpbe.experiments.evidence import choices, design, grids, names, replication, sides, stages
from gpbe.experiments.evidence.claims import CLAIMS
from gpbe.experiments.evidence.design import PLAN, Plan
from gpbe.experiments.evidence.gathered import from_stages
from gpbe.experiments.evidence.sweeps import CHOOSES, JUDGES
from helpers import evidence_runs

SMALL = Plan(domains=("MountainCar-v0", "CartPole-v1", "LunarLander-v3"), algorithms=("qrc", "gq"), best=2)


def performances(plan: Plan, cells, runs: int, seed: int = 0) -> pl.DataFrame:
    """Invented runs: how good a setting is depends on its number, and a little on chance."""
    rng = np.random.default_rng(seed)
    rows = []
    for (algorithm, domain), settings in cells.items():
        rank = len(algorithm) + len(domain)
        for number in settings:
            level = -abs(number - rank)
            for run in range(runs):
                value = level + 0.01 * rng.standard_normal()
                rows.append((domain, algorithm, number, run, value, 50, 0, False))
    names = ["domain", "algorithm", "setting", "run", "performance", "points", "unfinished", "diverged"]
    return pl.DataFrame(rows, schema=names, orient="row")


def screened(plan: Plan, runs: int) -> pl.DataFrame:
    cells = {(a, d): design.part_of(a).settings for a in plan.algorithms for d in plan.domains}
    return performances(plan, cells, runs)


@pytest.mark.parametrize("algorithm", PLAN.algorithms)
def test_a_part_stands_for_its_whole_grid(algorithm):
    grid, part = design.grid_of(algorithm), design.part_of(algorithm)
    total = math.prod(len(values) for values in grid.values())
    assert sum(part.sizes) == total
    assert len(set(part.settings)) == len(part.settings)
    assert all(0 <= number < total for number in part.settings)
    drawn = np.bincount(part.strata)
    assert len(drawn) == len(part.sizes)
    assert (drawn <= part.sizes).all()
    if len(part.settings) < total:
        assert set(drawn[np.array(part.sizes) <= total / len(drawn) * 2]) == {2}


def test_every_setting_is_drawn_equally_often():
    """Of each stratum of 4, 2 are drawn: over many seeds, each setting in half of them."""
    grid = {"a": (1.0, 2.0), "b": tuple(map(float, range(8)))}
    counts = np.zeros(16)
    for seed in range(400):
        counts[list(grids.stratified(grid, {"a": 2, "b": 2}, 2, seed).settings)] += 1
    np.testing.assert_allclose(counts, 200, atol=5 * math.sqrt(100))


def test_sbeed_without_temperature_is_one_setting_that_counts_for_all():
    part, grid = design.part_of("sbeed"), design.grid_of("sbeed")
    still = [n for n in part.settings if grids.setting_of(grid, n)["tau"] == 0]
    assert still == [part.settings[0]]
    assert part.sizes[0] == 144
    assert set(part.sizes[1:]) == {24}


def test_neighbors_differ_in_one_step_of_one_hyperparameter():
    grid = design.grid_of("gq")
    for number in (0, 17, 143):
        here = grids.setting_of(grid, number)
        for near in grids.neighbors(grid, number):
            there = grids.setting_of(grid, near)
            (name,) = [k for k in here if here[k] != there[k]]
            assert abs(grid[name].index(here[name]) - grid[name].index(there[name])) == 1


def test_the_screening_is_as_large_as_designed():
    sweep = stages.screen(PLAN)
    assert sweep.work == 3272 * 100_000
    assert {swept.algorithm: swept.count for swept in sweep.algorithms}["sbeed"] == 61


def test_what_is_best_is_raced_and_chosen():
    """The best setting of an algorithm in a domain is the one with the number that the invented runs favor."""
    table = screened(SMALL, 2)
    raced = choices.raced(table, SMALL)
    best = {cell: len(cell[0]) + len(cell[1]) for cell in raced}
    assert all(best[cell] in settings for cell, settings in raced.items() if cell[0] == "qrc")
    more = performances(SMALL, raced, SMALL.race, seed=1).with_columns(pl.col("run") + 2)
    after = pl.concat([table, more])
    finalists = choices.finalists(after, SMALL)
    assert all(set(finalists[cell]) <= set(raced[cell]) for cell in raced)
    last = performances(SMALL, finalists, SMALL.final, seed=2).with_columns(pl.col("run") + 6)
    chosen = choices.chosen(pl.concat([after, last]), SMALL)
    tuned = {(a, d): s for a, d, c, s in chosen.rows() if c == "tuned"}
    assert all(tuned[cell] == best[cell] for cell in tuned if cell[0] == "qrc")
    voted = chosen.filter(choice="voted", algorithm="qrc")
    assert voted["setting"].n_unique() == 1
    assert set(chosen.filter(algorithm="gq")["choice"]) == {"tuned"}


def test_stages_follow_from_stored_runs_alone():
    table = screened(SMALL, 2)
    once, again = (stages.race(t, SMALL).spec() for t in (table, table.sample(fraction=1, shuffle=True, seed=3)))
    assert once == again
    assert once["first_run"] == 2
    assert once["seed"] == CHOOSES != JUDGES


def test_the_runs_that_judge_are_not_those_that_choose():
    table = screened(SMALL, 2)
    raced = choices.raced(table, SMALL)
    more = performances(SMALL, raced, SMALL.race + SMALL.final, seed=1).with_columns(pl.col("run") + 2)
    verdict = stages.verdict(pl.concat([table, more]), SMALL)
    assert verdict.seed == JUDGES
    runs = {swept.domains: verdict.runs_of(swept) for swept in verdict.algorithms}
    assert runs == {("MountainCar-v0",): 48, ("CartPole-v1",): 32, ("LunarLander-v3",): 32}


def test_the_declaration_of_the_screening_is_the_one_that_is_stored():
    """Whatever is added to declarations: stored stages must be gone on with."""
    kept = store.spec(Path(__file__).parents[3] / "results" / "evidence-screen.parquet")
    assert json.loads(store.canonical(stages.screen(PLAN).spec())) == kept


@pytest.fixture(scope="module")
def whole() -> list[pl.DataFrame]:
    """Runs tables of the stages that choose, in all domains, as `gpbe run evidence` would store them."""
    return list(evidence_runs.chosen_stages(PLAN).values())


def test_side_sweeps_are_small_and_follow_from_the_choice(whole):
    built = {stage.name: stage for stage in sides.side_stages(PLAN)}
    assert set(built) == {*names.SIDES, *map(names.screening_of, (*names.OPTIMIZERS.values(), names.RHO))}
    tables = [table.lazy() for table in whole]
    made = {name: stage.build(tables) for name, stage in built.items() if stage.after == names.CHOOSING}
    runs = {name: each.work // 100_000 for name, each in made.items()}
    assert runs[names.BETA] == runs[names.BOUNDARY] == 2 * (48 + 3 * 32)
    assert runs[names.GREEDY] == 4 * 32
    assert runs[names.SKEW] == 36 * 4 * 4
    assert runs[names.STEP_SIZES] == 4 * 6 * 4 * 8
    assert runs["evidence-sgd-screen"] == 3 * 3 * 8 * 2
    assert runs["evidence-rho-screen"] <= 4 * 9 * 4
    seeds = {each.seed for name, each in made.items() if name != names.GREEDY}
    assert not seeds & {CHOOSES, JUDGES}
    tuned = choices.chosen(performance(pl.concat(whole)), PLAN).filter(choice="tuned", algorithm="qrc")
    for swept, row in zip(made[names.BETA].algorithms, tuned.rows(named=True), strict=True):
        expected = grids.setting_of(design.grid_of("qrc"), row["setting"])
        assert list(swept.numbered().values()) == [{**expected, "beta": b} for b in (0.5, 2.0)]
        assert swept.domains == (row["domain"],)


def test_side_sweeps_that_tune_judge_the_best_of_what_they_tried(whole):
    screen = sides.optimizer_screen("sgd")(performance(pl.concat(whole)), PLAN)
    assert screen.options == {"optimizer": "sgd"}
    assert design.LANDER not in screen.domains
    table = evidence_runs.of_sweep(
        screen, lambda algorithm, domain, setting: 1 - 0.1 * abs(np.log2(setting["step_size"]) + 9)
    )
    judge = sides.optimizer_judge("sgd")([table.lazy()], PLAN)
    assert {each["step_size"] for swept in judge.algorithms for each in swept.numbered().values()} == {2.0**-9}
    assert judge.work == 9 * 20 * 100_000
    assert judge.seed != screen.seed


def test_the_second_verdict_goes_on_where_the_first_ended(whole, monkeypatch):
    verdict = stages.verdict(performance(pl.concat(whole)), PLAN)
    first = {(swept.algorithm, swept.domains[0]): swept.only for swept in verdict.algorithms}
    tables = [table.lazy() for table in (*whole, evidence_runs.of_sweep(verdict))]
    asked = frozenset(Cell("qrc", domain, first["qrc", domain][0]) for domain in PLAN.domains)
    monkeypatch.setattr(stages, "open_cells", lambda gathered: asked if gathered.fresh else frozenset())
    second = stages.second(tables, PLAN)
    assert second.seed == verdict.seed
    assert {Cell(s.algorithm, s.domains[0], s.only[0]) for s in second.algorithms} == asked
    assert {s.domains[0]: (s.first_run, s.runs) for s in second.algorithms} == {
        domain: (PLAN.runs_of(domain),) * 2 for domain in PLAN.domains
    }
    lanes = [tuple(lane) for chunk in second.chunks() for lane in chunk.payload["lanes"]]
    assert min(run for _, run in lanes) == 32
    monkeypatch.setattr(stages, "open_cells", lambda gathered: frozenset())
    assert stages.second(tables, PLAN) is None


@pytest.mark.slow
def test_all_stages_can_be_judged(whole):
    tables = evidence_runs.all_stages(PLAN)
    first = from_stages(tables, {})
    second = from_stages(tables, {}, look=2)
    found = {claim.name: claim.judge((first, second)) for claim in CLAIMS}
    assert found["qrc-among-the-best"].verdict == found["saddlepoint-worse"].verdict == "holds"
    assert "96 runs" in found["qrc-narrow-over-runs"].where
    shuffled = [table.sample(fraction=1, shuffle=True, seed=1).lazy() for table in list(tables.values())[:4]]
    again = evidence_runs.of_sweep(stages.second(shuffled, PLAN))
    assert again.sort(pl.all()).equals(tables[names.SECOND].sort(pl.all()))


def test_the_replication_runs_what_was_chosen_on_other_seeds(whole):
    made = replication.replication([table.lazy() for table in whole], PLAN)
    assert {swept.algorithm for swept in made.algorithms} == set(design.BENCHMARK)
    assert made.seed not in (CHOOSES, JUDGES)
    runs = {swept.domains[0]: swept.runs for swept in made.algorithms}
    assert runs == replication.RUNS
    assert all(len(swept.only) == 1 for swept in made.algorithms if swept.domains == (design.LANDER,))
    assert made.work <= 260 * 100_000


@pytest.mark.slow
def test_it_runs_from_end_to_end_and_goes_on_from_packed_results(tmp_path, run):
    first = run("run", "evidence", "--scale", "smoke", "--out", str(tmp_path / "a"), "--json")
    done = [row["experiment"] for row in first]
    assert done[:4] == ["evidence-screen", "evidence-race", "evidence-final", "evidence-verdict"]
    assert set(done[4:]) == {names.BETA, names.BOUNDARY, names.SKEW}  # no claim is open where domains are missing
    run("pack", str(tmp_path / "a"), str(tmp_path / "packed"))
    packed = str(tmp_path / "packed")
    again = run("run", "evidence", "--scale", "smoke", "--out", str(tmp_path / "b"), "--start", packed, "--json")
    assert [row["done"] for row in again] == [0] * len(first)
    assert [row["skipped"] for row in again] == [row["total"] for row in first]
    assert "evidence" in experiments.STAGED
