"""Figures and a report of a sweep of one's own, from invented runs whose truth is known."""

import numpy as np
import polars as pl
import pytest

from gpbe import figures
from gpbe.cli.figure import find_own
from gpbe.experiments import own
from gpbe.experiments.sweep import Sweep, Swept
from helpers.control_runs import runs
from helpers.packed import pack

NAMES, DOMAINS = ("qrc", "q-learning"), ("CartPole-v1", "Acrobot-v1")
SIZES = tuple(2.0**k for k in range(-12, -8))
MINE = Sweep("mine", DOMAINS, tuple(Swept(name, {"step_size": SIZES, "tau": (0.0,)}) for name in NAMES), 5, 15_000)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    pack("mine", runs(NAMES, DOMAINS, n=5, points=8, step_sizes=4), folder, spec=MINE.spec())
    return folder


@pytest.mark.slow
def test_a_report_has_every_figure_and_the_choices(packed, tmp_path, run):
    made = run("report", "mine", "--from", str(packed), "--out", str(tmp_path), "--json")
    assert made["figures"] == ["mine", "mine-vote", "mine-settings", "mine-runs", "mine-step-size"]
    page = (tmp_path / "mine.html").read_text()
    assert page.count("<img ") == 5
    assert "The best setting of each domain" in page
    curves = pl.read_csv(tmp_path / "mine.csv")
    assert set(curves["algorithm"]) == set(NAMES)


def test_tables_tell_the_truth(packed):
    """The best setting is the one in the middle of the grid, and QRC was made better than Q-learning."""
    name, place = own.find_results("mine", packed, packed)
    tables = own.tables_of(own.open_own(name, place), MINE.spec())
    picks = tables["The best setting of each domain"].filter(algorithm="qrc")
    assert picks["step_size"].to_list() == [SIZES[2]] * 2
    differences = tables["Differences between algorithms, with 95 % intervals"]
    better = differences["difference"] * (1 - 2 * (differences["first"] == "q-learning").cast(int))
    assert (better > 0).all()


def test_sensitivity_is_drawn_as_its_table_says(packed):
    stored, (spec,) = find_own("mine-step-size", packed, packed)
    drawing = figures.draw(spec, stored)
    axes = {axis.get_title(): axis for axis in drawing.figure.axes}
    assert set(axes) == {"Cart Pole", "Acrobot"}
    mine = drawing.table.filter(domain="CartPole-v1", algorithm="qrc").sort("step_size")
    drawn = [line.get_xydata() for line in axes["Cart Pole"].lines]
    assert any(np.allclose(line, mine.select("step_size", "mean").to_numpy()) for line in drawn)


def test_one_figure_by_its_name(packed):
    stored, specs = find_own("mine-step-size", packed, packed)
    assert [spec.name for spec in specs] == ["mine-step-size"]
    assert set(stored.tables) == {"mine"}
    assert len(find_own("mine", packed, packed)[1]) == 5
    assert find_own("mine-absent", packed, packed) is None


def test_what_has_one_value_only_has_no_sensitivity():
    assert own.swept_in(MINE.spec()) == ["step_size"]
    chosen = Sweep("mine", DOMAINS, (Swept("qrc", {"step_size": SIZES}, only=(2,)),), 5, 15_000)
    assert own.swept_in(chosen.spec()) == []


def test_mistakes_get_one_line(packed, tmp_path, refuses):
    refuses(
        lambda: own.find_results("mien", tmp_path), "there are no results of 'mien' in .*; first: gpbe run mien.toml"
    )
    study = pack("study", pl.DataFrame({"x": [1.0]}), tmp_path)
    refuses(lambda: own.open_own("study", study), "study is no sweep of control, and only these are drawn")
