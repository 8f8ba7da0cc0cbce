"""Sensitivity to one hyperparameter, the others chosen as well as possible for each of its values (section 9.3)."""

import polars as pl

from gpbe.analysis.intervals import LEVEL, RESAMPLES, Method, bootstrap_interval
from gpbe.analysis.settings import setting_means
from gpbe.analysis.tables import SETTING, check_known, check_performances, hyperparameters, stream
from gpbe.errors import InputError


def sensitivity(
    performances: pl.DataFrame,
    hyperparameter: str = "step_size",
    seed: int = 0,
    method: Method = "percentile",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> pl.DataFrame:
    """The best setting, by mean performance, for each value of a hyperparameter.

    Equal means: the lowest setting. The mean of a winner flatters it, as it was chosen for that mean, and more so the
    more `candidates` there were; the interval, a bootstrap over its runs, knows nothing of the choice. Given as
    `choices` to `run_histograms` or `run_densities`, this table yields the distributions over runs behind each value.

    Columns: domain, algorithm, setting, the hyperparameters, candidates (settings with this value), runs, mean,
    standard_error, low, high, best (is this the best value in that domain?). Algorithms without it have no rows.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 1, 2], "step_size": [0.1, 0.1, 0.2],
    ...     "tau": [0.0, 1.0, 0.0], "run": 0, "performance": [-4.0, -2.0, -3.0], "points": 50, "unfinished": 0,
    ...     "diverged": False,
    ... })
    >>> sensitivity(performances).select("step_size", "tau", "candidates", "mean", "best").rows()
    [(0.1, 1.0, 2, -2.0, True), (0.2, 0.0, 1, -3.0, False)]
    """
    hypers = hyperparameters(performances)
    check_known(hyperparameter, hypers, "hyperparameter")
    over = ["domain", "algorithm", hyperparameter]
    means = setting_means(performances).drop_nulls(hyperparameter)
    if means.is_empty():
        raise InputError(f"no algorithm in the table has a value of {hyperparameter!r}")
    best = (
        # A stable sort on the mean keeps the lowest setting first among equals.
        means.with_columns(candidates=pl.len().over(over).cast(pl.Int64))
        .sort("mean", descending=True, maintain_order=True)
        .unique(over, keep="first", maintain_order=True)
        .with_columns(best=pl.int_range(pl.len()).over("domain", "algorithm") == 0)
        .sort(over)
    )
    samples = check_performances(performances).group_by(SETTING).agg("performance")
    ends = {"low": [], "high": []}
    for *key, values in (
        best.join(samples, on=SETTING, how="left", maintain_order="left").select(*SETTING, "performance").iter_rows()
    ):
        interval = bootstrap_interval(values, stream(seed, *key), "mean", method, level, resamples)
        ends["low"].append(interval.low)
        ends["high"].append(interval.high)
    columns = (*SETTING, *hypers, "candidates", "runs", "mean", "standard_error", "low", "high", "best")
    added = [pl.Series(name, values, dtype=pl.Float64).fill_nan(None) for name, values in ends.items()]
    return best.with_columns(added).select(columns)
