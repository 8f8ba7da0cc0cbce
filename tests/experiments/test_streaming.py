"""The experiments on streams and on MinAtar: what is declared, and their figures on invented runs."""

import itertools

import numpy as np
import polars as pl
import pytest

from gpbe import experiments, figures
from gpbe.analysis.labels import look_of
from gpbe.analysis.stored import Stored
from gpbe.envs.domains import MINATAR, PAPER
from gpbe.experiments import minatar, streaming
from gpbe.experiments.streaming import verdict
from gpbe.learn.control.learning import STREAMING

FIGURES = {
    "minatar": (minatar, MINATAR),
    "streaming": (streaming, streaming.DOMAINS),
    "streaming-step-sizes": (streaming, streaming.DOMAINS),
    "streaming-lambdas": (streaming, streaming.CHEAP),
}


def invented(name: str) -> pl.DataFrame:
    """Every setting of the large scale, two runs each: the better, the larger lambda and the smaller the step size."""
    sweep, rng, rows = experiments.find(name, "paper"), np.random.default_rng(0), []
    for domain, swept in sweep.parts():
        for (number, setting), run in itertools.product(swept.numbered().items(), range(2)):
            skill = setting.get("lam", 0.5) - 0.1 * np.log10(setting["step_size"])
            returns = 10 * skill * np.linspace(0, 1, 8) + rng.normal(0, 0.2, 8)
            about = {"domain": domain, "algorithm": swept.algorithm, "setting": number, **setting}
            rows.append(about | {"run": run, "every": 500, "returns": returns.tolist(), "diverged_at": -1})
    return pl.DataFrame(rows, schema_overrides={"returns": pl.List(pl.Float32)}, infer_schema_length=None)


@pytest.fixture(scope="module")
def stored() -> Stored:
    return Stored({name: invented(name) for name in ("minatar", "streaming")}, scale="paper")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_every_algorithm_and_domain_of_its_own_experiment(name, stored):
    drawing = figures.draw(experiments.FIGURES[name], stored)
    experiment, domains = FIGURES[name]
    assert set(drawing.table["algorithm"]) == set(experiment.ALGORITHMS)
    assert set(drawing.table["domain"]) == set(domains)
    assert not any("not in these results" in note for note in drawing.notes)


def test_the_best_setting_is_the_one_that_is_best_by_construction(stored):
    table = figures.draw(experiments.FIGURES["streaming"], stored).table
    assert table.filter(domain="CartPole-v1")["lam"].unique().to_list() == [0.95]
    assert table.filter(domain="Breakout-MinAtar")["lam"].unique().to_list() == [0.8]
    assert set(table.filter(algorithm="qrc-lambda")["step_size"]) == {1e-5}
    assert set(table.filter(algorithm="stream-q")["step_size"]) == {0.1}


def test_the_papers_figures_see_nothing_of_minatar(stored):
    """QRC ran in both; a figure of the paper's shows what it needs."""
    bakeoff = stored.tables["minatar"].filter(domain="Breakout-MinAtar").with_columns(domain=pl.lit("CartPole-v1"))
    both = Stored({**stored.tables, "bakeoff": bakeoff})
    assert figures.draw(experiments.FIGURES["tuned"], both).table["domain"].unique().to_list() == ["CartPole-v1"]


def test_streams_are_learned_as_their_papers_do_it():
    sweep = experiments.find("streaming", "paper")
    assert STREAMING.items() <= sweep.options.items()
    assert sweep.options["epsilon_steps"] == sweep.steps / 5
    ours = {swept.algorithm: swept.grid for swept in sweep.algorithms}
    assert 1e-4 in ours["qrc-lambda"]["step_size"]
    assert ours["qrc-lambda"]["ratio"] == (0.1,)
    assert "ratio" not in ours["q-lambda"]


def test_all_lambdas_are_swept_where_runs_are_cheap_and_elsewhere_what_a_choice_needs():
    lambdas = {}
    for domain, swept in experiments.find("streaming", "paper").parts():
        found = {(setting["step_size"], setting["lam"]) for setting in swept.numbered().values()}
        sizes = {size for size, _ in found}
        assert len(sizes) == 3
        lambdas[domain, swept.algorithm] = {lam for _, lam in found}
        assert len(found) == 3 * len(lambdas[domain, swept.algorithm])
    assert set(streaming.CHEAP) == {"MountainCar-v0", "Acrobot-v1", "CartPole-v1"}
    for (domain, algorithm), found in lambdas.items():
        some = {0.0, 0.8} if algorithm == "qrc-lambda" else {0.8}
        assert found == ({0.0, 0.8, 0.95} if domain in streaming.CHEAP else some)
    assert {domain for domain, _ in lambdas} == {*PAPER, *verdict.GAMES}


def test_algorithms_differ_in_color():
    for names in (minatar.ALGORITHMS, streaming.ALGORITHMS):
        assert len({look_of(name).color for name in names}) == len(names)
