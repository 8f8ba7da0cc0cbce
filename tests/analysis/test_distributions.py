"""Histograms and densities over runs, violins over settings, sensitivity to a hyperparameter."""

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats

from gpbe import analysis
from helpers.analysis_tables import PERFORMANCES, performances_table

RNG = np.random.default_rng(0)
SAMPLES = {
    "normal": RNG.normal(size=100),
    "two humps": np.concatenate([RNG.normal(-1000, 5, 31), RNG.normal(-120, 9, 70)]),
    "a pair": np.array([1.0, 2.0]),
    "an outlier": np.r_[np.zeros(99), 1.0],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_densities_are_scipys(name):
    sample = SAMPLES[name]
    ours, theirs = analysis.density(sample, points=77), stats.gaussian_kde(sample)
    np.testing.assert_allclose(ours.y, theirs(ours.x), rtol=1e-9, atol=1e-15)
    assert ours.bandwidth == pytest.approx(float(np.sqrt(theirs.covariance[0, 0])))


@pytest.mark.parametrize("name", SAMPLES)
def test_densities_have_area_one(name):
    curve = analysis.density(SAMPLES[name])
    assert integrate.trapezoid(curve.y, curve.x) == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize("values", [[3.0], [3.0] * 9, [0.0], [-500.0] * 100, [0.1] * 3])
@pytest.mark.parametrize("cut", [0.0, 3.0])
def test_a_single_value_is_a_narrow_bump(values, cut):
    curve = analysis.density(values, points=201, cut=cut)
    assert curve.x[curve.y.argmax()] == pytest.approx(values[0])
    assert integrate.trapezoid(curve.y, curve.x) == pytest.approx(1, abs=3e-3)
    assert curve.bandwidth == (abs(values[0]) / 100 or 1)


def test_densities_over_runs_are_one_a_setting():
    table = analysis.run_densities(PERFORMANCES, points=11)
    assert table.height == 3 * 2 * 6 * 11
    one = table.filter(domain="hill", algorithm="sbeed", setting=4)
    values = PERFORMANCES.filter(domain="hill", algorithm="sbeed", setting=4)["performance"].to_numpy()
    np.testing.assert_allclose(one["density"], stats.gaussian_kde(values)(one["performance"].to_numpy()))


def test_histograms_share_their_bins_in_a_domain_and_lose_no_run():
    table = analysis.run_histograms(PERFORMANCES)
    assert table.group_by("domain").agg(pl.col("low").n_unique())["low"].to_list() == [30] * 3
    counts = table.group_by("domain", "algorithm", "setting").agg(pl.col("count", "proportion").sum())
    assert counts["count"].unique().to_list() == [5]
    np.testing.assert_allclose(counts["proportion"], 1)
    one = table.filter(domain="pole", algorithm="qrc", setting=2)
    inside = PERFORMANCES.filter(domain="pole")["performance"]
    expected, edges = np.histogram(
        PERFORMANCES.filter(domain="pole", algorithm="qrc", setting=2)["performance"], 30, (inside.min(), inside.max())
    )
    assert one["count"].to_list() == expected.tolist()
    np.testing.assert_allclose([*one["low"], one["high"][-1]], edges)


def test_a_choice_does_not_move_the_bins():
    choice = pl.DataFrame({"domain": ["pole"], "algorithm": ["qrc"], "setting": [2]})
    whole = analysis.run_histograms(PERFORMANCES)
    assert analysis.run_histograms(PERFORMANCES, choice).equals(whole.filter(domain="pole", algorithm="qrc", setting=2))


def test_a_domain_where_nothing_varies_still_has_bins():
    table = analysis.run_histograms(performances_table({("hill", "qrc", 0): [-1000.0] * 4}), bins=4)
    assert table["count"].to_list() == [0, 0, 4, 0]
    assert (table["low"][0], table["high"][-1]) == (-1000.5, -999.5)
    bump = analysis.run_densities(performances_table({("hill", "qrc", 0): [-1000.0] * 4}))
    assert bump["performance"].min() == pytest.approx(-1000.1)


def test_violins_count_a_setting_once():
    """Three settings with unequal numbers of runs: their means are -2, -4 and -9."""
    table = performances_table(
        {("hill", "qrc", 0): [-1.0, -3.0], ("hill", "qrc", 1): [-4.0], ("hill", "qrc", 2): [-8.0, -9.0, -10.0]}
    )
    assert analysis.hyperparameter_summary(table).row(0) == ("hill", "qrc", 3, -2.0, -5.0, -4.0, -9.0)
    outline = analysis.hyperparameter_densities(table, points=50)
    assert (outline["performance"].min(), outline["performance"].max()) == (-9.0, -2.0)
    np.testing.assert_allclose(
        outline["density"], stats.gaussian_kde([-2.0, -4.0, -9.0])(outline["performance"].to_numpy())
    )


def test_violins_of_all_algorithms_and_domains():
    assert analysis.hyperparameter_summary(PERFORMANCES).select("domain", "algorithm", "settings").rows() == [
        (domain, algorithm, 6) for domain in ("acrobot", "hill", "pole") for algorithm in ("qrc", "sbeed")
    ]
    assert analysis.hyperparameter_densities(PERFORMANCES, points=9).height == 6 * 9


def sweep_of_six(means):
    """Settings 0 to 5: step sizes 1/8, 1/8, 1/4, 1/4, 1/2, 1/2 and tau 0, 1 in turn."""
    return performances_table({("hill", "qrc", k): [m - 1, m, m + 1] for k, m in enumerate(means)})


def test_sensitivity_takes_the_best_of_the_other_hyperparameters():
    table = analysis.sensitivity(sweep_of_six([-9.0, -7.0, -3.0, -5.0, -8.0, -8.0]))
    columns = table.select("step_size", "setting", "tau", "candidates", "mean", "best")
    assert columns.rows() == [
        (0.125, 1, 1.0, 2, -7.0, False),
        (0.25, 2, 0.0, 2, -3.0, True),
        (0.5, 4, 0.0, 2, -8.0, False),  # equal: the lowest setting
    ]
    np.testing.assert_allclose(table["standard_error"], 1 / np.sqrt(3))
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    by_tau = analysis.sensitivity(sweep_of_six([-9.0, -7.0, -3.0, -5.0, -8.0, -8.0]), "tau")
    assert by_tau.select("tau", "setting", "candidates").rows() == [(0.0, 2, 3), (1.0, 3, 3)]


def test_sensitivity_yields_the_distributions_behind_it():
    table = analysis.sensitivity(PERFORMANCES)
    assert table.height == 3 * 2 * 3
    assert table.group_by("domain", "algorithm").agg(pl.col("best").sum())["best"].to_list() == [1] * 6
    shown = analysis.run_histograms(PERFORMANCES, table).select("domain", "algorithm", "setting").unique()
    assert shown.sort(pl.all()).equals(table.select("domain", "algorithm", "setting").sort(pl.all()))


def test_algorithms_without_the_hyperparameter_have_no_rows():
    assert analysis.sensitivity(PERFORMANCES, "tau")["algorithm"].unique().to_list() == ["qrc"]


def test_sensitivity_does_not_depend_on_the_rest_of_the_table():
    whole = analysis.sensitivity(PERFORMANCES, seed=3)
    part = analysis.sensitivity(PERFORMANCES.filter(algorithm="sbeed"), seed=3)
    assert part.equals(whole.filter(algorithm="sbeed"))
    assert not whole["low"].equals(analysis.sensitivity(PERFORMANCES, seed=4)["low"])


def test_a_single_run_has_no_interval():
    table = analysis.sensitivity(performances_table({("hill", "qrc", 0): [-3.0]}))
    assert table.select("mean", "low", "high").row(0) == (-3.0, None, None)
