"""How good each hyperparameter setting is, and how performance is spread over the settings of an algorithm."""

import polars as pl

from gpbe.analysis.distributions import density
from gpbe.analysis.tables import SETTING, check_performances, hyperparameters


def setting_means(performances: pl.DataFrame) -> pl.DataFrame:
    """One row a setting: its mean performance over runs.

    Columns: domain, algorithm, setting, the hyperparameters, runs, mean, standard_error (null for a single run),
    median, worst, best (over runs), unfinished (runs with a point that had no finite return), diverged (runs).

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 0, 1], "tau": [0.0, 0.0, 1.0], "run": [0, 1, 0],
    ...     "performance": [-4.0, -2.0, -5.0], "points": 50, "unfinished": [0, 0, 7], "diverged": False,
    ... })
    >>> setting_means(performances).select("setting", "tau", "runs", "mean", "standard_error", "unfinished").rows()
    [(0, 0.0, 2, -3.0, 1.0, 0), (1, 1.0, 1, -5.0, None, 1)]
    """
    value = pl.col("performance")
    return (
        check_performances(performances)
        .group_by(SETTING, maintain_order=True)
        .agg(
            pl.col(hyperparameters(performances)).first(),
            runs=pl.len().cast(pl.Int64),
            mean=value.mean(),
            standard_error=value.std(ddof=1) / pl.len().sqrt(),
            median=value.median(),
            worst=value.min(),
            best=value.max(),
            unfinished=(pl.col("unfinished") > 0).sum().cast(pl.Int64),
            diverged=pl.col("diverged").sum().cast(pl.Int64),
        )
    )


def hyperparameter_summary(performances: pl.DataFrame) -> pl.DataFrame:
    """One row for each domain and algorithm: the bars of the violins (paper, section 9.2).

    A setting counts once, by its mean over runs. Columns: domain, algorithm, settings (how many), max, mean, median,
    min.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 0, 1, 2], "run": [0, 1, 0, 0],
    ...     "performance": [-4.0, -2.0, -5.0, -10.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> hyperparameter_summary(performances).rows()
    [('hill', 'qrc', 3, -3.0, -6.0, -5.0, -10.0)]
    """
    return summary_of(setting_means(performances))


def summary_of(means: pl.DataFrame) -> pl.DataFrame:
    """The same from a table of `setting_means`."""
    mean = pl.col("mean")
    return means.group_by("domain", "algorithm", maintain_order=True).agg(
        settings=pl.len().cast(pl.Int64), max=mean.max(), mean=mean.mean(), median=mean.median(), min=mean.min()
    )


def hyperparameter_densities(performances: pl.DataFrame, points: int = 200, cut: float | int = 0.0) -> pl.DataFrame:
    """The outline of each violin: a kernel density of the settings' means.

    As a violin ends where its settings do, `cut` is 0 here (see `density`). Columns: domain, algorithm, performance,
    density.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 1, 2], "run": 0,
    ...     "performance": [-4.0, -5.0, -10.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> outline = hyperparameter_densities(performances, points=7)
    >>> outline["performance"].to_list()
    [-10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0]
    """
    return outlines_of(setting_means(performances), points, cut)


def outlines_of(means: pl.DataFrame, points: int = 200, cut: float | int = 0.0) -> pl.DataFrame:
    """The same from a table of `setting_means`."""
    frames = []
    for (domain, algorithm), group in means.sort(SETTING).group_by("domain", "algorithm", maintain_order=True):
        outline = density(group["mean"].to_numpy(), points, cut)
        columns = {"performance": outline.x, "density": outline.y}
        frames.append(pl.DataFrame({"domain": domain, "algorithm": algorithm, **columns}))
    return pl.concat(frames)
