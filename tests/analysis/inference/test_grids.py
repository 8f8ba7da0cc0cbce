"""Fixed grids and random parts of them: no bias, and limits that hold as often as they say."""

import numpy as np
import pytest
from scipy import stats

from gpbe.analysis.inference import (
    combined,
    grid_mean,
    grid_near_best,
    grid_spread,
    grid_statistic,
    grid_variance,
    share,
    stratified_mean,
    stratified_quantile,
    stratified_share,
    stratified_spread,
    welch,
)
from gpbe.analysis.inference.simulation import rate

RNG = np.random.default_rng(4)
SETTINGS, RUNS = 36, 2
TRUTH = RNG.choice([0.0, 0.2], SETTINGS, p=[0.7, 0.3]) + RNG.normal(0, 0.05, SETTINGS)
NOISE = RNG.uniform(0.03, 0.17, SETTINGS)


def grid():
    return TRUTH[:, None] + RNG.normal(size=(SETTINGS, RUNS)) * NOISE[:, None]


def test_the_mean_over_a_grid_is_a_contrast_of_its_cells():
    runs = grid()
    ours, theirs = grid_mean(runs), welch(list(runs), np.full(SETTINGS, 1 / SETTINGS))
    np.testing.assert_allclose(ours.limits(0.01), theirs.limits(0.01))


def test_the_variance_over_settings_has_no_bias_and_the_naive_one_has():
    found = np.array([(grid_variance(runs), runs.mean(1).var(ddof=1)) for runs in (grid() for _ in range(400))])
    error = found.std(0) / np.sqrt(len(found))
    truth = TRUTH.var(ddof=1)
    unbiased, naive = (found.mean(0) - truth) / error
    assert abs(unbiased) < 4
    assert naive > 10
    np.testing.assert_allclose(found[:, 1].mean() - truth, (NOISE**2).mean() / RUNS, atol=4 * error[1])


def test_limits_of_spread_hold_the_spread_of_true_means():
    intervals = [grid_spread(grid(), seed, 299).interval(0.9) for seed in range(150)]
    truth = TRUTH.std(ddof=1)
    assert rate([i.low > truth for i in intervals]).low <= 0.05
    assert rate([i.high < truth for i in intervals]).low <= 0.05


def test_the_difference_of_two_spreads_is_seen():
    quiet = TRUTH[:, None] + RNG.normal(0, 0.05, (SETTINGS, RUNS))
    wide, narrow = grid_spread(3 * quiet, 1, 999), grid_spread(quiet, 2, 999)
    assert combined([wide, narrow], [1.0, -1.0]).above(0.0) < 0.01


def test_settings_that_do_not_differ_have_no_spread():
    runs = RNG.normal(size=(SETTINGS, RUNS))
    assert grid_spread(runs, 0, 999).interval().low == 0


def test_the_third_moment_over_settings_holds_the_truth_about_as_often_as_it_says():
    def third(means):
        return ((means - means.mean(-1, keepdims=True)) ** 3).mean(-1)

    quiet = [TRUTH[:, None] + RNG.normal(0, 0.05, (SETTINGS, RUNS)) for _ in range(200)]
    intervals = [grid_statistic(runs, third, seed, 299).interval(0.9) for seed, runs in enumerate(quiet)]
    truth = third(TRUTH)
    # Up to twice the nominal rate, as the documentation says.
    assert rate([not i.low <= truth <= i.high for i in intervals]).low <= 0.2


STRATA = [RNG.normal(5 * k, 1 + k, size) for k, size in enumerate((144, 288, 432))]
SIZES, DRAWN = [144, 288, 432], [12, 24, 36]
NUMBERS = np.concatenate(STRATA)


def part():
    return [RNG.choice(values, n, replace=False) for values, n in zip(STRATA, DRAWN, strict=True)]


def test_a_stratified_part_of_a_grid_tells_its_mean():
    noisy = [[x[:, None] + RNG.normal(size=(len(x), 2)) * 2 for x in part()] for _ in range(250)]
    evidence = [stratified_mean(strata, SIZES) for strata in noisy]
    limits = np.array([e.limits(0.025) for e in evidence])
    wrong = rate((limits[:, 0] > NUMBERS.mean()) | (limits[:, 1] < NUMBERS.mean()))
    assert wrong.low <= 0.05 <= wrong.high


def test_a_grid_that_was_drawn_whole_has_the_noise_of_runs_only():
    runs = grid()
    ours, theirs = stratified_mean([runs], [SETTINGS]), grid_mean(runs)
    np.testing.assert_allclose(ours.estimate, theirs.estimate)
    np.testing.assert_allclose(ours.error, theirs.error)


@pytest.mark.parametrize("bound", [-4.0, 5.0, 18.0])
def test_a_stratified_part_tells_shares(bound):
    truth = (bound >= NUMBERS).mean()
    found = [stratified_share([(x <= bound).astype(float) for x in part()], SIZES).interval(0.9) for _ in range(120)]
    assert rate([i.low > truth for i in found]).low <= 0.05
    assert rate([i.high < truth for i in found]).low <= 0.05


@pytest.mark.parametrize("q", [0.1, 0.5])
def test_a_stratified_part_tells_quantiles(q):
    truth = np.quantile(NUMBERS, q, method="inverted_cdf")
    found = [stratified_quantile(part(), SIZES, q, 0.9) for _ in range(25)]
    assert rate([not i.low <= truth <= i.high for i in found]).low <= 0.1
    assert all(i.low <= i.estimate <= i.high for i in found)


def test_a_stratified_part_tells_the_spread_of_the_whole_grid():
    noisy = [[x[:, None] + RNG.normal(size=(len(x), 2)) for x in part()] for _ in range(150)]
    intervals = [
        stratified_spread(strata, SIZES, seed=k, resamples=499).interval(0.9) for k, strata in enumerate(noisy)
    ]
    truth = NUMBERS.std(ddof=1)
    assert rate([i.low > truth for i in intervals]).low <= 0.05
    assert rate([i.high < truth for i in intervals]).low <= 0.05
    assert np.median([i.high - i.low for i in intervals]) < 0.6 * truth


def test_one_setting_may_count_for_a_whole_stratum():
    """SBEED without a temperature: 1 setting of 144 equal ones, whose error is that of its runs alone."""
    still, others = np.array([[1.0, 2.0]]), np.array([[5.0, 5.5], [6.0, 6.5]])
    evidence = stratified_mean([still, others], [1, 4], [144.0, 48.0])
    assert evidence.estimate == pytest.approx(0.75 * 1.5 + 0.25 * 5.75)
    noise = 0.75**2 * 0.5 / 2
    between = 0.25**2 * (0.5 * 0.5 / 2 + 0.5 * 0.125 / 4)
    assert float(evidence.error) ** 2 == pytest.approx(noise + between)


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_settings_near_the_best_are_counted_with_the_noise_in_it(noise):
    means = np.concatenate([np.full(24, 0.9), np.linspace(0, 0.6, 12)]) + RNG.normal(0, 0.02, SETTINGS)
    truth = (means >= means.max() - 0.2).mean()
    found = [
        grid_near_best(means[:, None] + RNG.normal(0, noise, (SETTINGS, RUNS)), 0.2, k, 199).interval(0.9)
        for k in range(60)
    ]
    assert rate([i.low > truth for i in found]).low <= 0.05
    assert rate([i.high < truth for i in found]).low <= 0.05
    assert np.mean([i.low > 0.4 for i in found]) > 0.9 or noise > 0.05  # something is learned where noise is small


def test_a_share_has_clopper_and_pearsons_limits():
    evidence = share([True] * 27 + [False] * 3)
    ends = stats.binomtest(27, 30).proportion_ci(0.95)
    np.testing.assert_allclose(evidence.limits(0.025), (ends.low, ends.high))
    assert evidence.above(0.7) == pytest.approx(stats.binomtest(27, 30, 0.7, "greater").pvalue)
    assert evidence.below(0.95) == pytest.approx(stats.binomtest(27, 30, 0.95, "less").pvalue)


def test_wrong_input_is_refused(refuses):
    refuses(lambda: grid_mean([1.0, 2.0]), r"it should be \(settings, runs\)")
    refuses(lambda: stratified_mean([[[1.0]]], [5]), "2 settings or more unless drawn whole")
    refuses(lambda: stratified_mean([[[1.0], [2.0]]], [5, 6]), "2 sizes for 1 strata")
