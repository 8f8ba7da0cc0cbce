"""The performance of a run, and learning curves: windows, points without a return, large tables."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gpbe import InputError, analysis
from helpers.analysis_tables import performances_table, random_sweep, runs_table

NAN = float("nan")


@pytest.mark.parametrize(("last", "kept"), [(0.25, 3), (0.5, 6), (1.0, 12), (0.01, 1), (0.3, 4)])
def test_the_window_is_the_last_fraction_of_the_points(last, kept):
    curves = np.random.default_rng(0).normal(size=(5, 12)).astype(np.float32)
    table = analysis.performance(runs_table({("hill", "qrc", 0): curves}), last)
    np.testing.assert_allclose(table["performance"], curves[:, -kept:].mean(1, dtype=float), rtol=1e-12)
    assert table["points"].unique().to_list() == [kept]


def test_sums_do_not_lose_digits():
    """In 32 bits, a thousand returns near a million would be off by several units."""
    curve = np.full(1000, 999_999.0)
    curve[::2] += 1
    table = analysis.performance(runs_table({("hill", "qrc", 0): curve[None]}), last=1)
    assert table["performance"][0] == 999_999.5


def test_the_paper_records_fifty_points_in_the_last_quarter():
    table = analysis.performance(runs_table({("hill", "qrc", 0): np.arange(200.0)[None]}))
    assert table["points"][0] == 50
    assert table["performance"][0] == np.arange(150, 200).mean()


def test_a_run_that_never_finished_counts_as_the_worst_return_of_its_domain():
    table = analysis.performance(
        runs_table(
            {
                ("hill", "qrc", 0): [[-50.0, -40.0], [NAN, NAN]],
                ("hill", "sbeed", 0): [[-1000.0, -900.0]],  # the lowest, though outside the window
                ("pole", "qrc", 0): [[10.0, -2000.0]],  # another domain
            }
        )
    )
    assert table.filter(domain="hill", algorithm="qrc")["performance"].to_list() == [-40.0, -1000.0]
    assert table["unfinished"].to_list() == [0, 1, 0, 0]


@pytest.mark.parametrize("bad", [NAN, np.inf, -np.inf])
def test_any_number_that_is_not_finite_is_a_missing_one(bad):
    table = analysis.performance(runs_table({("hill", "qrc", 0): [[-7.0, -5.0, bad, -1.0]]}), last=1)
    assert table["performance"][0] == pytest.approx((-7 - 5 - 7 - 1) / 4)
    assert table["unfinished"][0] == 1


def test_the_worst_return_can_be_stated():
    runs = runs_table({("hill", "qrc", 0): [[-50.0], [NAN]], ("pole", "qrc", 0): [[NAN], [NAN]]})
    with pytest.raises(InputError, match=r"no run in 'pole' has a finite return.*give .* worst=\{'pole': ...\}"):
        analysis.performance(runs)
    with pytest.raises(InputError, match="no run in 'pole'"):
        analysis.curves(runs)
    worst = {"hill": -1000.0, "pole": 0.0}
    assert analysis.performance(runs, worst=worst)["performance"].to_list() == [-50, -1000, 0, 0]
    assert analysis.curves(runs, worst=worst)["mean"].to_list() == [-525, 0]
    assert analysis.worst_returns(runs) == {"hill": -50.0}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_losing_runs_never_helps_a_setting(seed, lost):
    """The mean of a setting whose runs break falls or stays, whichever runs they are."""
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(7, 4))
    broken = whole.copy()
    broken[rng.permutation(7)[:lost], rng.integers(4) :] = NAN
    both = {("hill", "qrc", 0): whole, ("hill", "qrc", 1): broken}
    means = analysis.setting_means(analysis.performance(runs_table(both), last=1))
    assert means["mean"][1] <= means["mean"][0]
    assert means["runs"].to_list() == [7, 7]
    assert means["unfinished"].to_list() == [0, lost]


def test_a_diverged_run_keeps_its_returns_and_is_counted():
    runs = runs_table({("hill", "qrc", 0): [[-4.0], [-2.0]]}).with_columns(diverged_at=pl.Series([-1, 77]))
    means = analysis.setting_means(analysis.performance(runs))
    assert means.select("mean", "runs", "diverged", "unfinished").row(0) == (-3.0, 2, 1, 0)


def test_a_scan_of_files_gives_what_a_frame_gives(tmp_path):
    runs = random_sweep()
    for k, part in enumerate(runs.sample(fraction=1, shuffle=True, seed=1).iter_slices(50)):
        part.write_parquet(tmp_path / f"{k}.parquet")
    scan = pl.scan_parquet(tmp_path / "*.parquet")
    assert analysis.performance(scan).equals(analysis.performance(runs))
    assert analysis.curves(scan).equals(analysis.curves(runs))
    assert analysis.worst_returns(scan) == analysis.worst_returns(runs)


def test_hyperparameters_are_the_other_columns_of_floats():
    table = analysis.performance(random_sweep().with_columns(host=pl.lit("node7"), seed=pl.lit(3)))
    assert analysis.hyperparameters(table) == ["step_size", "tau"]
    assert table.columns == [
        *("domain", "algorithm", "setting", "step_size", "tau", "run"),
        *("performance", "points", "unfinished", "diverged"),
    ]
    assert table.filter(algorithm="sbeed")["tau"].null_count() == table.filter(algorithm="sbeed").height


def test_setting_means_agree_with_scipy():
    values = np.random.default_rng(0).normal(size=9)
    row = analysis.setting_means(performances_table({("hill", "qrc", 0): values.tolist()})).row(0, named=True)
    values = values.astype(np.float32).astype(float)
    assert row["mean"] == pytest.approx(values.mean())
    assert row["standard_error"] == pytest.approx(stats.sem(values))
    assert (row["median"], row["worst"], row["best"]) == (np.median(values), values.min(), values.max())


def test_curves_are_means_with_standard_errors_and_intervals():
    values = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32).astype(float)
    table = analysis.curves(runs_table({("hill", "qrc", 3): values}, every=250), resamples=500)
    assert table["step"].to_list() == [250, 500, 750, 1000, 1250]
    np.testing.assert_allclose(table["mean"], values.mean(0))
    np.testing.assert_allclose(table["standard_error"], stats.sem(values))
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    assert table["runs"].unique().to_list() == [7]
    assert table.select("step_size", "tau").row(0) == (0.25, 1.0)
    # Near the normal interval; the bootstrap's spread is that of the sample, without n / (n - 1).
    width = (table["high"] - table["low"]).to_numpy() / (2 * 1.96 * stats.sem(values, ddof=0))
    np.testing.assert_allclose(width, 1, atol=0.15)


def test_curves_of_a_single_run_have_no_interval():
    table = analysis.curves(runs_table({("hill", "qrc", 0): [[1.0, 2.0]]}))
    assert table["mean"].to_list() == [1.0, 2.0]
    assert table.select("standard_error", "low", "high").null_count().row(0) == (2, 2, 2)


def test_curves_fill_with_the_worst_of_the_whole_table():
    runs = runs_table({("hill", "qrc", 0): [[-5.0, -3.0], [-1.0, NAN]], ("hill", "sbeed", 0): [[-99.0, -98.0]]})
    chosen = analysis.curves(runs, pl.DataFrame({"algorithm": ["qrc"], "setting": [0]}))
    assert chosen["mean"].to_list() == [-3.0, (-3 - 99) / 2]
    assert chosen["unfinished"].to_list() == [0, 1]


def test_curves_depend_on_the_seed_and_on_nothing_else():
    runs = random_sweep()
    first = analysis.curves(runs, seed=4)
    shuffled = runs.sample(fraction=1, shuffle=True, seed=0)
    assert analysis.curves(shuffled, seed=4).equals(first)
    assert analysis.curves(runs.filter(algorithm="qrc"), seed=4).equals(first.filter(algorithm="qrc"))
    assert not analysis.curves(runs, seed=5)["low"].equals(first["low"])


def test_the_last_quarter_of_a_curve_is_the_mean_performance():
    runs = random_sweep()
    means = analysis.setting_means(analysis.performance(runs))
    tail = analysis.curves(runs, resamples=2).filter(pl.col("step") > 9 * 500)
    by_setting = tail.group_by("domain", "algorithm", "setting", maintain_order=True).agg(pl.col("mean").mean())
    np.testing.assert_allclose(by_setting["mean"], means["mean"], rtol=1e-12)
