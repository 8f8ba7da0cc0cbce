"""Skewness, spread and distance against closed forms and SciPy, and how often their limits hold."""

import numpy as np
import pytest
from scipy import stats

from gpbe.analysis.inference import distance, l_skewness, spread_ratio, wasserstein
from gpbe.analysis.inference.simulation import LAWS, rate

RNG = np.random.default_rng(6)
REPETITIONS = 400


def test_l_skewness_has_its_known_values():
    many = 20_001
    grid = (np.arange(many) + 0.5) / many
    # Hosking (1990): 0 for symmetric laws, 1/3 for the exponential one, and 0.1699 for Gumbel's.
    from gpbe.analysis.inference.distributions import _l_ratio

    assert _l_ratio(stats.norm.ppf(grid)) == pytest.approx(0, abs=1e-6)
    assert _l_ratio(np.sort(-stats.expon.ppf(grid))) == pytest.approx(-1 / 3, abs=1e-3)
    assert _l_ratio(stats.gumbel_r.ppf(grid)) == pytest.approx(0.1699, abs=1e-3)


@pytest.mark.parametrize(("law", "truth"), [("normal", 0.0), ("skewed", -1 / 3)])
def test_limits_of_l_skewness_hold(law, truth):
    low, high = l_skewness(LAWS[law].draw(RNG, (60, REPETITIONS))).limits(0.025)
    # The law is cut at 0, which changes the truth by less than 0.005.
    assert rate((low > truth + 0.005) | (high < truth - 0.005)).low <= 0.06


def test_equal_laws_differ_in_spread_about_as_rarely_as_they_should():
    for law, most in (("normal", 0.03), ("skewed", 0.05), ("bimodal", 0.03)):
        x, y = LAWS[law].draw(RNG, (100, REPETITIONS)), 5 * LAWS[law].draw(RNG, (100, REPETITIONS))
        low, high = spread_ratio(x, y, 1, 999).limits(0.025)
        assert rate(low > -np.log(5)).low <= most
        assert rate(high < -np.log(5)).low <= most


def test_spreads_without_spread_are_unknown():
    evidence = spread_ratio(np.full(20, 3.0), RNG.normal(size=20), 0, 199)
    assert evidence.limits(0.05) == (-np.inf, np.inf)
    assert evidence.above(0.0) == 1


def test_distances_are_scipys():
    x, y = RNG.normal(size=17), RNG.exponential(size=23)
    assert wasserstein(x, y) == pytest.approx(stats.wasserstein_distance(x, y))
    assert wasserstein(x, y, unit=4.0) == pytest.approx(stats.wasserstein_distance(x, y) / 4)
    assert wasserstein(np.repeat(x, 2), np.round(y)) == pytest.approx(stats.wasserstein_distance(x, np.round(y)))


def evidence(first, second, n, repetitions=120):
    cells = ((first(n), second(n)) for _ in range(repetitions))
    return [distance(x, y, seed=k, resamples=199) for k, (x, y) in enumerate(cells)]


@pytest.mark.parametrize("law", ["normal", "bimodal"])
def test_equal_laws_are_rarely_called_different(law):
    def draw(n):
        return LAWS[law].draw(RNG, (n,))

    assert rate([e.above(0.0) <= 0.05 for e in evidence(draw, draw, 20)]).low <= 0.05


@pytest.mark.parametrize("n", [15, 60])
def test_laws_at_the_margin_are_rarely_called_similar_or_different(n):
    def draw(n):
        return LAWS["skewed"].draw(RNG, (n,))

    found = evidence(lambda n: draw(n) + 0.1, draw, n)
    assert rate([e.below(0.1) <= 0.05 for e in found]).low <= 0.05
    assert rate([e.above(0.1) <= 0.05 for e in found]).low <= 0.05


def test_equal_means_are_not_similar_distributions():
    narrow, split = RNG.normal(0, 0.05, 80), np.repeat([-1.0, 1.0], 40)
    assert distance(narrow, split, seed=1).above(0.5) < 0.01
    assert distance(narrow, RNG.normal(0, 0.05, 80), seed=1).below(0.1) < 0.01


def test_wrong_input_is_refused(refuses):
    refuses(lambda: wasserstein([[1.0]], [[2.0]]), "give one axis each")
    refuses(lambda: l_skewness([1.0, 2.0]), "there should be 5 or more")
