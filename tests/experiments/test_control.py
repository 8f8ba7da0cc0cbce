"""Figures of control, on invented runs whose truth is known."""

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from gpbe import InputError, figures
from gpbe.analysis import choices
from gpbe.analysis.labels import look_of
from gpbe.analysis.stored import Stored, amount, missing
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments import FIGURES
from gpbe.experiments.control import BAKEOFF, MEMBERS
from gpbe.figures import Drawing
from helpers.control_runs import DOMAINS, VALUES, runs, sweeps

CONTROL = [name for name, spec in FIGURES.items() if set(spec.needs) <= set(MEMBERS)]
LANDER = "LunarLander-v3"


@pytest.fixture(scope="module")
def small() -> Stored:
    return Stored(sweeps(n=3, points=12), scale="quick")


@pytest.fixture(scope="module")
def drawings(small) -> dict[str, Drawing]:
    return {name: draw(name, small) for name in CONTROL}


def draw(name: str, stored: Stored) -> Drawing:
    return figures.draw(FIGURES[name], stored)


def words(figure: Figure) -> str:
    """Every text of a figure, so that no test depends on where it stands."""
    from matplotlib.text import Text

    texts = [text.get_text() for text in figure.findobj(Text)]
    return "\n".join([*texts, *(text.get_text() for legend in figure.legends for text in legend.get_texts())])


@pytest.mark.parametrize("name", CONTROL)
def test_every_figure_says_how_much_stands_behind_it(name, drawings):
    said = words(drawings[name].figure)
    assert "3 runs of 6,000 environment steps, 6 settings an algorithm; quick scale" in said.replace("\n", " ")
    domains = {"Lunar Lander"} if name == "runs" else set(map(title_of, PAPER))
    assert all(domain in said for domain in domains)
    assert "not in these results" not in said
    assert drawings[name].table.height > 0


def test_every_algorithm_of_every_experiment_is_drawn_somewhere(drawings):
    drawn = {name for drawing in drawings.values() for name in drawing.table["algorithm"]}
    assert drawn == {name for names in MEMBERS.values() for name in names}


def test_algorithms_of_a_figure_differ_in_color(drawings):
    for drawing in drawings.values():
        names = drawing.table["algorithm"].unique()
        assert len({look_of(name).color for name in names}) == len(names)


def test_bakeoff_shows_the_one_setting_that_is_best_by_construction():
    # The best step size is the fourth of six; a spread of nothing leaves no doubt.
    table = runs(BAKEOFF, n=2, points=8, skill={name: (0.8, 0.0, 0.6) for name in BAKEOFF})
    drawing = draw("bakeoff", Stored({"bakeoff": table}))
    assert drawing.table["step_size"].unique().to_list() == [VALUES["step_size"][3]]
    assert set(drawing.table["domain"]) == set(DOMAINS)
    assert sum("it beats every other setting" in note for note in drawing.notes) == len(BAKEOFF)
    assert "step size 2^-9" in " ".join(drawing.notes)


def test_curves_are_means_of_the_runs_themselves(small, drawings):
    row = drawings["bakeoff"].table.filter(domain="CartPole-v1", algorithm="qrc").row(-1, named=True)
    mine = small.tables["bakeoff"].filter(
        pl.col("domain") == "CartPole-v1", pl.col("algorithm") == "qrc", pl.col("setting") == row["setting"]
    )
    last = np.array(mine["returns"].to_list())[:, -1]
    assert row["mean"] == pytest.approx(last.mean())
    assert row["standard_error"] == pytest.approx(last.std(ddof=1) / np.sqrt(3))
    assert row["step"] == 6000


def disagreeing() -> pl.DataFrame:
    """Three domains like setting 0, Lunar Lander setting 5, which nobody else minds much."""
    table = runs(["qrc"], n=2, points=4, skill={"qrc": (0.5, 0.0, 0.0)})
    bonus = (
        pl.when(pl.col("domain") == LANDER).then(20.0 * (pl.col("setting") == 5)).otherwise(-10.0 * pl.col("setting"))
    )
    return table.with_columns(returns=pl.concat_list([bonus.cast(pl.Float32)] * 4))


def test_tuning_follows_each_domain_and_the_vote_the_majority():
    data = Stored({"bakeoff": disagreeing()})
    tuned = draw("tuned", data).table.group_by("domain").agg(pl.col("setting").first())
    assert dict(tuned.rows()) == {domain: 5 if domain == LANDER else 0 for domain in DOMAINS}
    for name in ("bakeoff", "without-lunar-lander", "runoff"):
        assert draw(name, data).table["setting"].unique().to_list() == [0]


def test_lunar_lander_decides_unless_it_is_held_out():
    # Mountain Car and Acrobot like 0, Cart Pole and Lunar Lander 1 and both put the other's favorite next.
    table = runs(["qrc"], n=2, points=4, step_sizes=2)
    likes_one = pl.col("domain").is_in(["CartPole-v1", LANDER])
    third = pl.col("domain") == "Acrobot-v1"
    worth = pl.when(likes_one).then(pl.col("setting")).when(third).then(0).otherwise(-pl.col("setting"))
    data = Stored({"bakeoff": table.with_columns(returns=pl.concat_list([worth.cast(pl.Float32)] * 4))})
    assert draw("bakeoff", data).table["setting"].unique().to_list() == [1]
    held_out = draw("without-lunar-lander", data)
    assert held_out.table["setting"].unique().to_list() == [0]
    assert LANDER in set(held_out.table["domain"])
    assert "The voters: Mountain Car, Acrobot and Cart Pole." in held_out.notes


def test_the_best_step_size_of_each_algorithm_and_domain_is_marked_once(drawings):
    table = drawings["step-sizes"].table
    best = table.filter("best").group_by("domain", "algorithm").agg(pl.col("step_size").n_unique())
    assert best["step_size"].to_list() == [1] * 16
    means = table.group_by("domain", "algorithm", "step_size", "best").agg(pl.col("performance").mean())
    top = means.filter(pl.col("performance") == pl.col("performance").max().over("domain", "algorithm"))
    assert top["best"].all()


def test_violins_show_every_setting_over_all_of_learning(small, drawings):
    table = drawings["hyperparameters"].table
    assert table.height == 4 * 4 * 6
    row = table.row(0, named=True)
    mine = small.tables["bakeoff"].filter(**{name: row[name] for name in ("domain", "algorithm", "setting")})
    assert row["mean"] == pytest.approx(np.mean(mine["returns"].to_list()))


@pytest.mark.slow
def test_what_is_missing_is_said_and_the_rest_is_drawn(tmp_path):
    everything = sweeps(n=2, points=4, step_sizes=3)
    partly = everything["bakeoff"].filter(
        pl.col("domain") != LANDER,
        pl.col("algorithm") != "qc-ll",
        (pl.col("algorithm") != "sbeed") | (pl.col("domain") != "Acrobot-v1"),
        (pl.col("algorithm") != "qrc") | (pl.col("domain") != "CartPole-v1") | (pl.col("setting") > 0),
    )
    data = Stored({"bakeoff": partly.lazy(), "basis": everything["basis"].filter(algorithm="qrc-sep")})
    for name in ("bakeoff", "step-sizes", "policies", "without-lunar-lander"):
        said = words(draw(name, data).figure)
        assert "not in these results" in said, name
    assert missing(data.runs, BAKEOFF) == ["Lunar Lander", "QC-LL", "SBEED in Acrobot"]
    assert "QRC: 2 of 3 settings stand for election" in " ".join(draw("bakeoff", data).notes)
    assert draw("runs", data).table["domain"].unique().to_list() == ["CartPole-v1"]
    written = figures.make(FIGURES["basis"], data, tmp_path / "out")
    assert [path.suffix for path in written] == [".png", ".pdf", ".parquet", ".csv"]
    assert all(path.stat().st_size for path in written)


def test_a_single_run_of_a_single_setting_is_drawn():
    data = Stored({"bakeoff": runs(["qrc"], ["CartPole-v1"], n=1, points=2, step_sizes=1)})
    for name in ("bakeoff", "hyperparameters", "runs", "step-sizes", "tuned", "without-lunar-lander", "runoff"):
        assert draw(name, data).table.height
    assert amount(data.runs, BAKEOFF) == "1 run of 1,000 environment steps, 1 setting an algorithm"


def test_points_without_a_return_count_as_the_worst_of_all_experiments():
    table = runs(["qrc"], ["CartPole-v1"], n=2, points=4, step_sizes=1)
    never = table.with_columns(returns=pl.lit([float("nan")] * 4, dtype=pl.List(pl.Float32)))
    other = runs(["gq"], ["CartPole-v1"], n=2, points=4, step_sizes=1)
    data = Stored({"bakeoff": never, "saddlepoint": other})
    lowest = min(min(row) for row in other["returns"].to_list())
    assert data.runs.performances(["qrc"])["performance"].to_list() == pytest.approx([lowest] * 2)


def test_a_domain_in_which_no_episode_ended_is_missing():
    table = runs(["qrc"], ["CartPole-v1", "MountainCar-v0"], n=2, points=4, step_sizes=2)
    nan = pl.lit([float("nan")] * 4, dtype=pl.List(pl.Float32))
    table = table.with_columns(returns=pl.when(domain="MountainCar-v0").then(nan).otherwise("returns"))
    drawing = draw("bakeoff", Stored({"bakeoff": table}))
    assert drawing.table["domain"].unique().to_list() == ["CartPole-v1"]
    assert "Mountain Car" in drawing.notes[0]


def test_sweeps_of_different_lengths_are_refused():
    data = Stored({"bakeoff": runs(BAKEOFF, n=2, points=4), "saddlepoint": runs(["gq"], n=2, points=8)})
    assert draw("bakeoff", data).table.height
    with pytest.raises(InputError, match=r"2,000 and 4,000 steps .* run the experiments at the same scale"):
        draw("saddlepoint", data)


def test_figures_without_runs_say_what_to_run(small):
    with pytest.raises(InputError, match="first: gpbe run basis"):
        draw("basis", Stored({"saddlepoint": small.tables["saddlepoint"]}))
    with pytest.raises(InputError, match="no runs"):
        draw("bakeoff", Stored({"bakeoff": small.tables["bakeoff"].clear()}))
    with pytest.raises(InputError, match="no domain is left to vote"):
        draw("without-lunar-lander", Stored({"bakeoff": runs(["qrc"], [LANDER], n=2, points=4)}))


def test_an_incomplete_vote_leaves_out_the_emptiest_domain():
    table = runs(["qrc"], list(DOMAINS)[:2], n=1, points=4, step_sizes=3)
    apart = table.filter((pl.col("domain") != "Acrobot-v1") | (pl.col("setting") == 0))
    apart = apart.filter((pl.col("domain") != "MountainCar-v0") | (pl.col("setting") > 0))
    electorate, said = choices.electable(Stored({"bakeoff": apart}).runs.performances(["qrc"]))
    assert set(electorate["domain"]) == {"MountainCar-v0"}
    assert said[0] == "QRC: Acrobot does not vote, for want of runs."
