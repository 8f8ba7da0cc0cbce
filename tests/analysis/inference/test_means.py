"""Means and their limits against SciPy's, and how often limits are violated when the truth is known."""

import numpy as np
import pytest
from scipy import stats

from gpbe.analysis.inference import bounded, combined, contrast, difference, mean, permutation, studentized, welch
from gpbe.analysis.inference.bounds import betting, empirical_bernstein, order_statistics
from gpbe.analysis.inference.simulation import LAWS, rate

RNG = np.random.default_rng(2)
REPETITIONS = 1000
UNIT = (0.0, 1.0)


def test_welch_is_scipys_at_every_level():
    x, y = RNG.normal(size=7), RNG.normal(1, 3, size=13)
    evidence = welch([x, y], [1.0, -1.0])
    theirs = stats.ttest_ind(x, y, equal_var=False)
    for level in (0.9, 0.95, 0.9958):
        low, high = theirs.confidence_interval(level)
        ours = evidence.interval(level)
        np.testing.assert_allclose([ours.low, ours.high], [low, high])
    np.testing.assert_allclose(2 * min(evidence.above(0), evidence.below(0)), theirs.pvalue)
    one = welch([x], [1.0])
    np.testing.assert_allclose(one.above(0.2), stats.ttest_1samp(x, 0.2, alternative="greater").pvalue)


def test_a_contrast_scales_and_shifts_as_its_truth_does():
    cells = [RNG.exponential(size=n) for n in (5, 8, 11)]
    weights = np.array([0.5, 0.25, -1.0])
    evidence, doubled = studentized(cells, weights, 3, 999), studentized(cells, 2 * weights, 3, 999)
    np.testing.assert_allclose(evidence.estimate, weights @ [x.mean() for x in cells])
    np.testing.assert_allclose(doubled.limits(0.05), 2 * np.array(evidence.limits(0.05)))
    moved = studentized([x + 100 for x in cells], weights, 3, 999)
    np.testing.assert_allclose(moved.limits(0.05), np.array(evidence.limits(0.05)) + 100 * weights.sum(), rtol=1e-6)


@pytest.mark.parametrize("successes", [0, 3, 12])
def test_limits_for_zeros_and_ones_are_clopper_and_pearsons(successes):
    runs = np.arange(12) < successes
    evidence = order_statistics(runs.astype(float), *UNIT, RNG, 40_000)
    exact = stats.binomtest(successes, 12).proportion_ci(0.95)
    low, high = evidence.limits(0.025)
    assert low == pytest.approx(exact.low, abs=0.015)
    assert high == pytest.approx(exact.high, abs=0.015)


def test_differences_of_zeros_and_ones_are_fishers_exact_test():
    x, y = (np.arange(15) < 12).astype(float), (np.arange(10) < 3).astype(float)
    evidence = bounded([x, y], [1.0, -1.0], UNIT, 0, 40_000)
    exact = stats.fisher_exact([[12, 3], [3, 7]], alternative="greater").pvalue
    assert evidence.above(0.0) == pytest.approx(exact, abs=5 * np.sqrt(exact / 40_000))


def test_an_infinite_bound_gives_no_limit_on_its_side():
    evidence = mean([1.0, 2.0, 3.0], (-np.inf, 4.0))
    low, high = evidence.limits(0.05)
    assert low == -np.inf
    assert 2 < high <= 4
    assert evidence.above(-1e9) == 1


def test_runs_without_spread_decide_nothing_unless_there_are_bounds():
    same = np.full(30, 0.8)
    for evidence in (welch([same], [1.0]), studentized([same], [1.0]), difference(same, same - 0.1)):
        assert evidence.interval().low == -np.inf
        assert evidence.above(-5) == evidence.below(5) == 1
    rule_of_three = mean(same, UNIT).limits(0.05)[0]
    assert rule_of_three == pytest.approx(0.8 * 0.05 ** (1 / 30), abs=0.01)


def test_p_values_and_limits_are_two_views_of_one_thing():
    x, y = RNG.exponential(size=12), RNG.normal(size=9)
    for evidence in (welch([x, y], [1.0, -1.0]), studentized([x, y], [1.0, -1.0], 1, 1999)):
        low, high = evidence.limits(0.025)
        assert evidence.above(low - 1e-9) <= 0.025 + 1e-6 < evidence.above(low + 0.02)
        assert evidence.below(high + 1e-9) <= 0.025 + 1e-6 < evidence.below(high - 0.02)


LAW_NAMES = ("normal", "skewed", "bimodal", "degenerate")


@pytest.mark.parametrize("name", LAW_NAMES)
@pytest.mark.parametrize("n", [4, 10, 30, 100])
def test_bounded_limits_are_violated_no_more_often_than_they_say(name, n):
    law = LAWS[name]
    evidence = bounded([law.draw(RNG, (n, REPETITIONS))], [1.0], UNIT, int(RNG.integers(1000)), 1999)
    for alpha in (0.025, 0.0025):
        low, high = evidence.limits(alpha)
        assert rate(low > law.mean).low <= alpha
        assert rate(high < law.mean).low <= alpha


@pytest.mark.parametrize(("first", "second"), [("bimodal", "skewed"), ("bimodal", "bimodal"), ("normal", "skewed")])
@pytest.mark.parametrize(("n", "m"), [(4, 4), (10, 30), (60, 100)])
def test_bounded_differences_are_violated_no_more_often_than_they_say(first, second, n, m):
    x, y = LAWS[first].draw(RNG, (n, REPETITIONS)), LAWS[second].draw(RNG, (m, REPETITIONS))
    evidence = bounded([x, y], [1.0, -1.0], UNIT, int(RNG.integers(1000)), 1999)
    truth = LAWS[first].mean - LAWS[second].mean
    low, high = evidence.limits(0.025)
    assert rate(low > truth).low <= 0.025
    assert rate(high < truth).low <= 0.025


@pytest.mark.parametrize("n", [10, 100])
def test_normal_runs_are_within_welchs_and_bootstrap_t_limits_as_often_as_they_say(n):
    x, y = RNG.normal(size=(n, REPETITIONS)), RNG.normal(0, 3, size=(n, REPETITIONS))
    for evidence in (welch([x, y], [1.0, -1.0]), studentized([x, y], [1.0, -1.0], int(RNG.integers(99)), 1999)):
        low, high = evidence.limits(0.025)
        for wrong in (rate(low > 0), rate(high < 0)):
            # A third more or less than nominal is as near as these approximations are.
            assert wrong.low <= 0.033
            assert wrong.high >= 0.017


def test_the_bootstrap_t_is_right_where_the_percentile_bootstrap_is_not():
    law, n = LAWS["skewed"], 30
    x = law.draw(RNG, (n, 4 * REPETITIONS))
    low, _ = studentized([x], [1.0], 0, 999).limits(0.025)
    drawn = RNG.multinomial(n, np.full(n, 1 / n), 999) @ x / n
    narrow = np.quantile(drawn, 0.025, axis=0)
    assert rate(low > law.mean).high < rate(narrow > law.mean).low


@pytest.mark.slow
@pytest.mark.parametrize("first", LAW_NAMES[:3])
@pytest.mark.parametrize("second", LAW_NAMES[:3])
def test_bootstrap_t_limits_of_differences_are_right_from_a_hundred_runs_on(first, second):
    n = 100
    x, y = LAWS[first].draw(RNG, (n, 8000)), LAWS[second].draw(RNG, (n, 8000))
    evidence = studentized([x, y], [1.0, -1.0], int(RNG.integers(99)), 1999)
    truth = LAWS[first].mean - LAWS[second].mean
    for alpha, most in ((0.025, 0.035), (0.0025, 0.0075)):
        low, high = evidence.limits(alpha)
        assert rate(low > truth).low <= most
        assert rate(high < truth).low <= most


def test_permutation_tests_of_equal_laws_are_exact_with_four_runs():
    law = LAWS["bimodal"]
    p = np.array([permutation(law.draw(RNG, (4,)), law.draw(RNG, (6,)), seed=k, resamples=99) for k in range(400)])
    for alpha in (0.05, 0.2):
        assert rate(p[:, 0] <= alpha).low <= alpha
        assert rate(p[:, 1] <= alpha).low <= alpha


def test_a_full_permutation_test_counts_splits():
    # Of the 20 splits of six runs in halves, one is as extreme as this.
    found = permutation([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], resamples=20_000)
    assert found.above == pytest.approx(1 / 20, abs=0.01)
    assert found.below == pytest.approx(1.0)


def test_other_limits_for_bounded_runs_hold_and_are_wider():
    law = LAWS["skewed"]
    x = law.draw(RNG, (30, 200))
    ours = np.subtract(*reversed(order_statistics(x, *UNIT, 0, 999).limits(0.025)))
    for limits in (betting, empirical_bernstein):
        low, high = limits(x, *UNIT, 0.025)
        assert rate((low > law.mean) | (high < law.mean)).low <= 0.05
        assert np.median(high - low) > np.median(ours)


def test_wrong_input_is_refused(refuses):
    refuses(lambda: contrast([[1.0, 2.0]], [1.0, 2.0]), "2 weights for 1 cells")
    refuses(lambda: welch([[1.0]], [1.0]), "there should be 2 or more")
    refuses(lambda: mean([0.5, 2.0], UNIT), r"a run is 2; every run should lie in the bounds \[0, 1\]")
    refuses(lambda: mean([0.5, 2.0], (3.0, 1.0)), "the first should be less than the second")
    refuses(lambda: mean([0.5, np.nan]), "finite")
    refuses(lambda: welch([[1.0, 2.0]], [1.0]).interval(95.0), "level is 95")
    refuses(lambda: bounded([[1.0]] * 3, [1.0] * 3, [UNIT] * 2), "2 pairs of bounds for 3 cells")
    refuses(lambda: combined([], [1.0]), "1 weights for 0 parts")
