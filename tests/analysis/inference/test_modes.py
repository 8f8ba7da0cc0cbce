"""The dip against its definition, solved as a linear program, and how often second modes are seen."""

import numpy as np
import pytest
from scipy.optimize import linprog

from gpbe.analysis.inference import bimodality, dip, valley
from gpbe.analysis.inference.simulation import LAWS, rate

RNG = np.random.default_rng(3)


def dip_by_definition(sample):
    """The least largest difference to a function that is convex up to a mode, concave after it, and may jump there."""
    x, counts = np.unique(sample, return_counts=True)
    after = counts.cumsum() / counts.sum()
    before = after - counts / counts.sum()
    return max(1 / (2 * len(sample)), min(_distance(x, before, after, mode) for mode in range(len(x))))


def _distance(x, before, after, mode):
    # Unknowns: values up to the mode (its left limit last), values from the mode on, and the distance.
    left, size = mode + 1, len(x) + 2
    rows, limits = [], []

    def require(terms, limit):
        row = np.zeros(size)
        for k, factor in terms:
            row[k] += factor
        rows.append(row)
        limits.append(limit)

    def near(k, low, high):
        require([(k, 1), (-1, -1)], low)
        require([(k, -1), (-1, -1)], -high)

    for i in range(len(x)):
        if i != mode:
            near(i if i < mode else left + i - mode, before[i], after[i])
    near(mode, before[mode], before[mode])
    near(left, after[mode], after[mode])
    for k in range(size - 2):
        require([(k, 1), (k + 1, -1)], 0)
    for sign, start, points in ((1, 0, x[: mode + 1]), (-1, left, x[mode:])):
        for i in range(len(points) - 2):
            a, b = sign / (points[i + 1] - points[i]), sign / (points[i + 2] - points[i + 1])
            k = start + i
            require([(k + 1, a), (k, -a), (k + 2, -b), (k + 1, b)], 0)
    return linprog(np.eye(size)[-1], np.array(rows), limits, bounds=[(0, 1)] * (size - 1) + [(0, None)]).fun


@pytest.mark.parametrize("ties", [False, True])
def test_the_dip_is_that_of_the_definition(ties):
    for _ in range(8):
        n = int(RNG.integers(3, 11))
        sample = RNG.integers(0, 6, n).astype(float) if ties else RNG.random(n) ** RNG.choice([0.3, 1, 3])
        assert dip(sample) == pytest.approx(dip_by_definition(sample), abs=1e-5)


def test_the_dip_does_not_depend_on_units_and_is_small_for_even_spacing():
    sample = RNG.normal(size=25)
    assert dip(-1000 + 40 * sample) == pytest.approx(dip(sample))
    assert dip(-sample) == pytest.approx(dip(sample))
    assert dip(np.arange(9.0)) == pytest.approx(1 / 18)
    assert dip([0.0] * 50 + [1.0] * 50) == pytest.approx(0.25, abs=0.01)


def test_a_uniform_law_is_called_bimodal_as_often_as_alpha_says():
    found = rate([bimodality(RNG.random(20), simulations=400).dip_p <= 0.1 for _ in range(150)])
    assert found.low <= 0.1 <= found.high


def test_a_third_of_failures_is_a_second_mode_and_two_in_a_hundred_or_a_tail_are_not():
    third = np.concatenate([RNG.normal(-200, 30, 40), np.full(20, -1000.0)])
    found = bimodality(third, simulations=400)
    assert found.p < 0.01
    assert found.weight == pytest.approx(1 / 3)
    assert -1000 < found.split < -200
    few = np.concatenate([RNG.normal(-200, 30, 58), np.full(2, -1000.0)])
    assert bimodality(few, simulations=400).p > 0.3
    assert bimodality(-RNG.exponential(size=60), simulations=400).p > 0.1


def test_a_valley_between_fixed_cuts_is_found_and_no_unimodal_law_has_one():
    alpha = 0.025
    for draw in (lambda: RNG.random(60), lambda: LAWS["skewed"].draw(RNG, (60,)), lambda: RNG.beta(5, 2, 60)):
        assert rate([valley(draw(), (0.0, 1.0)) <= alpha for _ in range(150)]).low <= alpha
    mixed = [np.where(RNG.random(60) < 0.3, 0.05, RNG.normal(0.8, 0.04, 60)) for _ in range(100)]
    assert rate([valley(x, (0.0, 1.0)) <= alpha for x in mixed]).rate > 0.9
