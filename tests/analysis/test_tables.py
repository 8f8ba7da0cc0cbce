"""Tables of runs: what analysis refuses, and the tables that its tests are made of."""

import inspect

import numpy as np
import polars as pl
import pytest

from gpbe import InputError, analysis
from helpers.analysis_tables import PERFORMANCES, SWEEP


@pytest.mark.parametrize("function", [analysis.performance, analysis.curves, analysis.worst_returns])
def test_a_missing_column_is_named(function):
    with pytest.raises(InputError, match=r"the runs table has no column 'returns'; did you mean 'return'\?"):
        function(SWEEP.rename({"returns": "return"}))
    with pytest.raises(InputError, match="no column 'diverged_at'; it should have domain, algorithm, setting, run"):
        function(SWEEP.drop("diverged_at"))


@pytest.mark.parametrize(
    "function",
    [
        analysis.setting_means,
        analysis.hyperparameter_summary,
        analysis.hyperparameter_densities,
        analysis.run_histograms,
        analysis.run_densities,
        analysis.sensitivity,
        analysis.select_per_domain,
        analysis.select_by_vote,
        analysis.leave_one_out,
        analysis.choice_frequencies,
        lambda table: analysis.election(table, "qrc"),
        lambda table: analysis.compare(table, "hill", "qrc", "sbeed"),
    ],
)
def test_tables_of_performances_are_checked(function):
    with pytest.raises(InputError, match=r"\(see gpbe.analysis.performance\) has no column 'performance'"):
        function(PERFORMANCES.drop("performance"))
    with pytest.raises(InputError, match="is empty"):
        function(PERFORMANCES.clear())
    with pytest.raises(InputError, match=r"the performance of run 0 of setting 0 of 'qrc' in 'acrobot' is not a fin"):
        function(PERFORMANCES.with_columns(performance=float("nan")))


@pytest.mark.parametrize("function", [analysis.performance, analysis.curves])
def test_an_empty_table_is_refused(function):
    with pytest.raises(InputError, match="the runs table is empty"):
        function(SWEEP.clear())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.concat([SWEEP, SWEEP[7:8]]), "run 2 of setting 1 of 'qrc' in 'acrobot' is in the table twice"),
        (SWEEP.with_columns(tau=pl.col("run").cast(float)), "setting 0 of 'qrc' has different hyperparameters"),
        (SWEEP.with_columns(every=500 + pl.col("run")), "runs in 'acrobot' have records every 500 and every 504 steps"),
        (
            SWEEP.with_columns(pl.col("returns").list.head(12 - pl.col("run"))),
            "runs in 'acrobot' have 8 and 12 recorded points",
        ),
        (SWEEP.with_columns(pl.col("returns").list.head(0)), "run 0 of .* has no recorded points"),
        (SWEEP.with_columns(returns=None).cast({"returns": pl.List(pl.Float32)}), "run 0 of .* has no recorded points"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        analysis.performance(change)


def test_curves_of_unequal_length_are_refused():
    ragged = SWEEP.with_columns(pl.col("returns").list.head(12 - pl.col("run")))
    with pytest.raises(InputError, match="the runs of setting 0 of 'qrc' in 'acrobot' are not recorded at the same"):
        analysis.curves(ragged)


@pytest.mark.parametrize(
    "function", [lambda c: analysis.curves(SWEEP, c), lambda c: analysis.run_histograms(PERFORMANCES, c)]
)
def test_choices_must_exist(function):
    choice = pl.DataFrame({"algorithm": ["qcr"], "setting": [0]})
    with pytest.raises(InputError, match=r"there is no algorithm 'qcr'; did you mean 'qrc'\?"):
        function(choice)
    with pytest.raises(InputError, match=r"there is no setting 9; it should be one of 0, 1, 2, 3, 4, 5"):
        function(choice.with_columns(algorithm=pl.lit("qrc"), setting=9))
    with pytest.raises(InputError, match="the table of choices has no column 'setting'"):
        function(choice.drop("setting"))


def test_a_choice_may_name_a_domain_or_mean_all():
    one = analysis.curves(SWEEP, pl.DataFrame({"domain": ["hill"], "algorithm": ["qrc"], "setting": [3]}))
    everywhere = analysis.curves(SWEEP, pl.DataFrame({"algorithm": ["qrc"], "setting": [3]}))
    assert one.equals(everywhere.filter(domain="hill"))
    assert everywhere["domain"].n_unique() == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: analysis.performance(SWEEP, last=0), "last is 0; it should be a fraction"),
        (
            lambda: analysis.sensitivity(PERFORMANCES, "stepsize"),
            "no hyperparameter 'stepsize'; did you mean 'step_size'",
        ),
        (
            lambda: analysis.sensitivity(PERFORMANCES.filter(algorithm="sbeed"), "tau"),
            "no algorithm in the table has a value of 'tau'",
        ),
        (lambda: analysis.curves(SWEEP, seed=-1), "the seed is -1; it should be 0 or more"),
        (lambda: analysis.run_histograms(PERFORMANCES, bins=0), "at least 1 bin, not 0"),
        (lambda: analysis.run_densities(PERFORMANCES, points=1), "at least 2 points, not 1"),
        (lambda: analysis.density([]), "a list of finite values"),
        (lambda: analysis.bootstrap_interval([], 0), "at least one value"),
        (lambda: analysis.t_interval([1.0, np.nan]), "an interval needs finite values"),
        (lambda: analysis.t_interval([1.0, 2.0], level=95.0), "level is 95.0; it should be between 0 and 1"),
        (lambda: analysis.compare(PERFORMANCES, "hill", "qrc", "sbeed", level=95.0), "level is 95.0"),
        (lambda: analysis.resample([1.0, 2.0], 0, resamples=0), "resamples is 0"),
        (lambda: analysis.choice_frequencies(PERFORMANCES, resamples=0), "resamples is 0"),
        (lambda: analysis.choice_frequencies(PERFORMANCES, algorithms=["sbed"]), "did you mean 'sbeed'"),
        (lambda: analysis.election(PERFORMANCES, "qcr"), "no algorithm 'qcr'; did you mean 'qrc'"),
        (
            lambda: analysis.select_by_vote(PERFORMANCES, leave_out=["hil"]),
            "no domain 'hil'; did you mean 'hill'",
        ),
        (
            lambda: analysis.select_by_vote(PERFORMANCES, leave_out=["hill", "pole", "acrobot"]),
            "no domain is left to vote",
        ),
        (
            lambda: analysis.compare(PERFORMANCES, "hil", "qrc", "sbeed"),
            "no domain 'hil'; did you mean 'hill'",
        ),
        (
            lambda: analysis.compare(PERFORMANCES, "hill", "qrc", "ppo"),
            "'qrc' competes with 6 settings in 'hill'; choose one",
        ),
        (lambda: analysis.comparison_table([]), "there are no comparisons"),
    ],
)
def test_mistakes_get_one_clear_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_contents_are_sorted_and_documented():
    assert sorted(analysis.__all__) == sorted(set(analysis.__all__))
    for name in analysis.__all__:
        assert inspect.getdoc(getattr(analysis, name)), name
