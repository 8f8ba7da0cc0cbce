"""Intervals against SciPy's, and how often they hold the truth when it is known."""

import numpy as np
import pytest
from scipy import stats

from gpbe import InputError, analysis
from gpbe.analysis.intervals import bootstrap_interval, resample, standard_error, statistic_of, t_interval

RUNS, POINTS = 13, 5
SKEWED = np.random.default_rng(0).exponential(size=(RUNS, POINTS))


def test_standard_errors_and_t_intervals_are_scipys():
    np.testing.assert_allclose(standard_error(SKEWED), stats.sem(SKEWED))
    ours = t_interval(SKEWED, level=0.9)
    low, high = stats.t.interval(0.9, RUNS - 1, SKEWED.mean(0), stats.sem(SKEWED))
    np.testing.assert_allclose(ours.estimate, SKEWED.mean(0))
    np.testing.assert_allclose([ours.low, ours.high], [low, high])


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_are_scipys_for_the_same_resamples(statistic, method):
    drawn = resample(SKEWED, 3, statistic, 999)
    ours = bootstrap_interval(SKEWED, 3, statistic, method, 0.9, 999)
    for k in range(POINTS):
        previous = stats._resampling.BootstrapResult(
            confidence_interval=None, bootstrap_distribution=drawn[:, k], standard_error=None
        )
        theirs = stats.bootstrap(
            (SKEWED[:, k],), getattr(np, statistic), n_resamples=0, bootstrap_result=previous, method=method,
            confidence_level=0.9,
        )  # fmt: skip
        interval = theirs.confidence_interval
        np.testing.assert_allclose([ours.low[k], ours.high[k]], [interval.low, interval.high], rtol=1e-9)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_resamples_are_distributed_like_scipys(statistic):
    theirs = stats.bootstrap((SKEWED[:, 0],), getattr(np, statistic), n_resamples=4000, rng=1)
    ours = resample(SKEWED[:, 0], 1, statistic, 4000)
    assert ours.mean() == pytest.approx(theirs.bootstrap_distribution.mean(), abs=5 * ours.std() / np.sqrt(2000))
    assert ours.std() == pytest.approx(theirs.standard_error, rel=0.06)
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    gaps = np.quantile(ours, quantiles) - np.quantile(theirs.bootstrap_distribution, quantiles)
    np.testing.assert_allclose(gaps, 0, atol=0.15 * ours.std())


def test_the_mean_of_resamples_has_the_closed_form_spread():
    drawn = resample(SKEWED, 0, "mean", 20_000)
    np.testing.assert_allclose(drawn.std(0), SKEWED.std(0) / np.sqrt(RUNS), rtol=0.03)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_blocks_of_resamples_change_nothing_but_memory(statistic, monkeypatch):
    whole = bootstrap_interval(SKEWED, 0, statistic, resamples=4000)
    monkeypatch.setattr("gpbe.analysis.intervals._BLOCK", 7 * SKEWED.size)
    parts = bootstrap_interval(SKEWED, 0, statistic, resamples=4000)
    np.testing.assert_allclose(parts.low, whole.low, atol=0.08)
    assert resample(SKEWED, 0, statistic, 17).shape == (17, POINTS)


def experiments(draw, runs, repeats=1500):
    """(runs, repeats): many experiments side by side."""
    return draw(np.random.default_rng(5), (runs, repeats))


def covered(interval, truth):
    return np.mean((interval.low <= truth) & (truth <= interval.high))


def normal(rng, shape):
    return rng.normal(3.0, 2.0, shape)


def exponential(rng, shape):
    return rng.exponential(size=shape)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_t_intervals_hold_the_truth_as_often_as_they_say(level):
    # 1500 experiments: two standard errors are 0.02 at level 0.8, 0.011 at 0.95.
    assert covered(t_interval(experiments(normal, 6), level), 3.0) == pytest.approx(level, abs=0.025)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_hold_the_truth_as_often_as_they_say(method):
    rate = covered(bootstrap_interval(experiments(normal, 100), 0, "mean", method), 3.0)
    assert rate == pytest.approx(0.945, abs=0.02)


def test_medians_are_covered_too():
    values = experiments(exponential, 61, repeats=400)
    rate = covered(bootstrap_interval(values, 0, "median", resamples=800), np.log(2))
    assert rate == pytest.approx(0.95, abs=0.035)


def test_bca_is_the_better_one_for_skewed_runs():
    """Twenty exponential runs: the percentile interval lies too low, and BCa mends part of that."""
    values = experiments(exponential, 20)
    percentile, bca = (bootstrap_interval(values, 0, "mean", method) for method in ("percentile", "bca"))
    assert covered(percentile, 1.0) < covered(bca, 1.0) < 0.95
    too_low = [np.mean(interval.high < 1.0) for interval in (percentile, bca)]
    assert too_low[1] < too_low[0] - 0.01


@pytest.mark.parametrize("value", [0.1, -1000.0, 0.0])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_runs_that_are_all_equal_leave_no_doubt(value, method):
    interval = bootstrap_interval(np.full(7, value), 0, "mean", method)
    assert (interval.low, interval.estimate, interval.high) == (value, value, value)
    assert standard_error(np.full(7, value)) == 0


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_one_run_leaves_all_doubt(statistic):
    interval = bootstrap_interval([4.0], 0, statistic)
    assert interval.estimate == 4
    assert np.isnan([interval.low, interval.high]).all()
    assert np.isnan([t_interval([4.0]).low, standard_error([4.0])]).all()
    assert np.isnan(standard_error(np.ones((1, 3)))).tolist() == [True] * 3


def test_bca_survives_an_estimate_outside_its_resamples():
    interval = bootstrap_interval([0.0, 0.0, 1.0], 1, "mean", "bca", resamples=1)
    assert 0 <= interval.low <= interval.high <= 1


def test_seeds_make_intervals_repeatable():
    ends = [bootstrap_interval(SKEWED[:, 0], seed).low for seed in (0, 0, 1)]
    assert ends[0] == ends[1] != ends[2]


def test_unknown_names_are_refused():
    """Asked below the type checks of the tests, as a user would."""
    with pytest.raises(InputError, match="no statistic 'mode'; it should be one of mean, median"):
        unchecked(statistic_of)(SKEWED, "mode")
    with pytest.raises(InputError, match="no bootstrap method 'basic'; it should be one of percentile, bca"):
        unchecked(bootstrap_interval)(SKEWED, 0, method="basic")


def unchecked(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def test_intervals_print():
    assert str(analysis.t_interval(SKEWED)) == "5 intervals at level 0.95"
