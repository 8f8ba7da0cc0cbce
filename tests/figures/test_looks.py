"""In one figure no two algorithms look alike, and those that are apart already keep their looks."""

from itertools import combinations

import polars as pl
import pytest
from matplotlib.colors import to_rgba

from gpbe.algorithms.control import ALGORITHMS
from gpbe.analysis.labels import look_of
from gpbe.experiments.control import BAKEOFF, BASES, FORMS, UPDATES
from gpbe.figures import panels, style
from gpbe.figures.looks import FREE, looks_of


def test_any_two_algorithms_have_a_color_each():
    for pair in combinations((*ALGORITHMS, "my-own", "another"), 2):
        first, second = looks_of(pair).values()
        assert first.color != second.color, pair


def test_as_many_as_there_are_colors_have_one_each_and_more_have_dashes():
    several = looks_of([*ALGORITHMS][: len(FREE)])
    assert len({look.color for look in several.values()}) == len(FREE)
    everyone = looks_of([*ALGORITHMS, "my-own", "another"]).values()
    assert len({(look.color, look.dashes) for look in everyone}) == len(everyone)


@pytest.mark.parametrize("names", [BAKEOFF, BASES, FORMS, UPDATES])
def test_algorithms_of_the_paper_look_as_they_are_declared(names):
    assert looks_of(names) == {name: look_of(name) for name in names}


def test_curves_of_algorithms_that_share_a_declared_color_differ():
    names = ("qrc", "qrc-huber", "my-own")
    rows = [{"domain": "CartPole-v1", "algorithm": a, "step": s, "mean": 1.0, "standard_error": 0.1}
            for a in names for s in (0, 500)]  # fmt: skip
    with style.figure() as fig:
        panels.curve_panels(fig, pl.DataFrame(rows), names)
    assert len({to_rgba(line.get_color()) for line in fig.axes[0].lines}) == len(names)
