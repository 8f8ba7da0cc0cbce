"""The experiment in stages: parts of grids that stand for the whole, settings that follow from stored runs alone."""

import math

import numpy as np
import polars as pl
import pytest

from gpbe import experiments
from gpbe.experiments.evidence import choices, design, grids, stages
from gpbe.experiments.evidence.design import PLAN, Plan

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
    assert once["seed"] == stages.CHOOSING != stages.JUDGING


def test_the_runs_that_judge_are_not_those_that_choose():
    table = screened(SMALL, 2)
    raced = choices.raced(table, SMALL)
    more = performances(SMALL, raced, SMALL.race + SMALL.final, seed=1).with_columns(pl.col("run") + 2)
    verdict = stages.verdict(pl.concat([table, more]), SMALL)
    assert verdict.seed == stages.JUDGING
    runs = {swept.domains: verdict.runs_of(swept) for swept in verdict.algorithms}
    assert runs == {("MountainCar-v0",): 50, ("CartPole-v1",): 30, ("LunarLander-v3",): 50}


@pytest.mark.slow
def test_it_runs_from_end_to_end_and_goes_on_from_packed_results(tmp_path, run):
    first = run("run", "evidence", "--scale", "smoke", "--out", str(tmp_path / "a"), "--json")
    names = [row["experiment"] for row in first]
    assert names == ["evidence-screen", "evidence-race", "evidence-final", "evidence-verdict"]
    run("pack", str(tmp_path / "a"), str(tmp_path / "packed"))
    packed = str(tmp_path / "packed")
    again = run("run", "evidence", "--scale", "smoke", "--out", str(tmp_path / "b"), "--start", packed, "--json")
    assert [row["done"] for row in again] == [0, 0, 0, 0]
    assert [row["skipped"] for row in again] == [row["total"] for row in first]
    assert "evidence" in experiments.STAGED
