"""Searches: what is tried follows from the declaration and the results so far; the choice is judged on fresh runs."""

import numpy as np
import polars as pl
import pytest

from gpbe import experiments
from gpbe.experiments.results import planned
from gpbe.experiments.search import Range, Search

SPACES = {"qrc": {"step_size": Range(1e-5, 1e-1, log=True), "tau": (0.0, 0.1)}, "q-learning": {"step_size": (0.1, 0.2)}}
DOMAINS = ("CartPole-v1", "Acrobot-v1")
BEST = {"CartPole-v1": 1e-3, "Acrobot-v1": 1e-2}
"""Invented runs have the largest return at these step sizes."""


def search(**given):
    return Search("mine", DOMAINS, SPACES, **{"trials": 8, "runs": 3, "steps": 1000, "fresh": 5} | given)


def invented(sweep):
    """A runs table of a sweep, as a runner would store it, in which the return falls with the distance to the best."""
    rows = []
    for chunk in sweep.chunks():
        p = chunk.payload
        for (setting, run), hypers in zip(p["lanes"], p["hyperparameters"], strict=True):
            away = np.log10(hypers["step_size"] / BEST[p["domain"]])
            level = 100 - 10 * away**2 - hypers.get("tau", 0.0) + 0.01 * run
            about = {"domain": p["domain"], "algorithm": p["algorithm"], "setting": setting}
            swept = {k: hypers.get(k) for k in p["columns"]}
            rows.append({**about, **swept, "run": run, "every": 500, "returns": [0.0, level], "diverged_at": -1})
    kinds = {"returns": pl.List(pl.Float32), "step_size": pl.Float64, "tau": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds).lazy()


def test_random_trials_depend_on_the_seed_and_fill_the_space():
    (first, last) = search(trials=200).stages()
    sweep = first.build([])
    assert (first.name, last.after) == ("mine-search", ("mine-search",))
    sizes = np.array([setting["step_size"] for setting in sweep.algorithms[0].settings])
    assert ((sizes >= 1e-5) & (sizes <= 1e-1)).all()
    # Half of them are below the middle of the logarithm: 200 draws, four standard deviations.
    assert abs((sizes < 1e-3).mean() - 0.5) < 4 * 0.5 / np.sqrt(200)
    assert {s["tau"] for s in sweep.algorithms[0].settings} == {0.0, 0.1}
    assert search(trials=200).stages()[0].build([]).spec() == sweep.spec()
    assert search(trials=200, seed=1).stages()[0].build([]).spec() != sweep.spec()
    fewer = search(trials=50).stages()[0].build([])
    assert fewer.algorithms[0].settings == sweep.algorithms[0].settings[:50]


def test_what_is_chosen_is_judged_on_runs_that_no_trial_had():
    first, last = search().stages()
    sweep = first.build([])
    judged = last.build([invented(sweep)])
    lanes = [
        (c.payload["domain"], c.payload["algorithm"], *lane) for c in judged.chunks() for lane in c.payload["lanes"]
    ]
    assert {run for *_, run in lanes} == set(range(3, 8))  # trials had runs 0, 1, 2
    assert {(domain, algorithm) for domain, algorithm, *_ in lanes} == {(d, a) for d in DOMAINS for a in SPACES}
    tried = sweep.algorithms[0].numbered()
    for domain in DOMAINS:
        (chosen,) = {setting for d, a, setting, _ in lanes if (d, a) == (domain, "qrc")}
        away = {k: 10 * np.log10(s["step_size"] / BEST[domain]) ** 2 + s["tau"] for k, s in tried.items()}
        assert chosen == min(away, key=away.get)


def test_a_guided_search_goes_where_it_was_better():
    """Three rounds: later trials are nearer to the optimum than random ones, in their median."""
    pytest.importorskip("optuna")
    one = {"domains": DOMAINS[:1], "spaces": {"qrc": {"step_size": SPACES["qrc"]["step_size"]}}}
    guided = Search("mine", **one, trials=45, runs=2, steps=1000, fresh=4, method="optuna", rounds=3)
    *rounds, last = guided.stages()
    tables = []
    for stage in rounds:
        sweep = stage.build(tables)
        assert stage.build(tables).spec() == sweep.spec()  # it can be built again, to go on
        tables.append(invented(sweep))
    settings = [s["step_size"] for s in sweep.algorithms[0].settings]
    away = np.abs(np.log10(np.array(settings) / BEST["CartPole-v1"]))
    assert np.median(away[30:]) < np.median(away[:15])
    assert last.build(tables).algorithms[0].first_run == 2


def test_a_search_in_a_file(tmp_path, refuses):
    text = """
domains = ["CartPole-v1"]
runs = 3
steps = 1000
[search]
trials = 4
fresh = 5
[algorithms.qrc]
step_size = { low = 1e-4, high = 1e-1, log = true }
beta = [0.5, 1.0]
"""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    (found,) = experiments.read(file)
    assert found == Search(
        "mine", ("CartPole-v1",), {"qrc": {"step_size": Range(1e-4, 1e-1, True), "beta": (0.5, 1.0)}}, 4, 3, 1000, 5
    )
    stages = planned(str(file), "quick", tmp_path)
    experiment, folder = next(stages)
    assert (experiment.work, folder) == (12_000, tmp_path / "results" / "mine-search")
    refuses(lambda: next(stages), "mine-search")
    for old, new, message in (
        ("high = 1e-1", "high = 1e-5", "the range of step_size of qrc is 0.0001 to 1e-05; it should be from above 0"),
        ("trials = 4", "trial = 4", "trial"),
        ("trials = 4", "trials = 1000000000", "trials is 1,000,000,000; a search has at most 1,000,000"),
        ("fresh = 5", "fresh = 99999999999", "there are 99,999,999,999 runs of 1,000 steps; there should be"),
        ("trials = 4", "trials = 4\nmethod = 'grid'", "method of search 'grid'"),
        ("trials = 4", "trials = 4\nrounds = 2", "random trials learn nothing from others"),
        ("beta = [0.5, 1.0]", "beta = [-1.0]", "beta"),
        ("log = true", "log = 3", "log of step_size of qrc is 3; it should be true or false"),
    ):
        file.write_text(text.replace(old, new))
        refuses(lambda: experiments.read(file), message)
