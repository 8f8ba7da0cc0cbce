"""Learning curves: the mean over runs at each recorded point, with its standard error and a bootstrap interval."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from jaxtyping import Bool, Float

from gpbe.analysis.intervals import LEVEL, Method, bootstrap_interval, standard_error
from gpbe.analysis.performance import worst_in, worst_returns
from gpbe.analysis.tables import RUN, SETTING, Table, check_runs, describe, hyperparameters, restrict, stream
from gpbe.errors import InputError
from gpbe.shapes import Array


def curves(
    runs: Table,
    choices: pl.DataFrame | None = None,
    seed: int = 0,
    method: Method = "percentile",
    level: float = LEVEL,
    resamples: int = 1000,
    worst: Mapping[str, float | int] | None = None,
) -> pl.DataFrame:
    """One row for each setting and recorded point.

    `choices` picks settings: a table with columns algorithm, setting and perhaps domain, such as those of the functions
    that choose. Give the whole table of runs and choose here, because a point without a finite return counts as the
    lowest return of the whole table in that domain, or as `worst` states. The bootstrap draws whole curves, and each
    setting has random numbers of its own, whatever else is in the table. One algorithm in one domain is held in memory
    at a time.

    Columns: domain, algorithm, setting, the hyperparameters, step, runs, mean, standard_error, low, high (all three
    null for a single run), unfinished (runs without a finite return at that point).

    >>> runs = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": 0, "step_size": 0.1, "run": [0, 1], "every": 500,
    ...     "returns": [[-9.0, -4.0], [-7.0, float("nan")]], "diverged_at": -1,
    ... })
    >>> curves(runs).select("step", "mean", "standard_error", "unfinished").rows()
    [(500, -8.0, 1.0, 0), (1000, -6.5, 2.5, 1)]
    """
    table, hypers = check_runs(runs), hyperparameters(runs)
    chosen = restrict(table, choices)
    pairs = chosen.select("domain", "algorithm").unique().collect(engine="streaming").sort("domain", "algorithm")
    if pairs.is_empty():
        raise InputError("the runs table is empty; give at least one run")
    frames, known = [], dict(worst or {})
    for domain, algorithm in pairs.rows():
        of_pair = chosen.filter(pl.col("domain") == domain, pl.col("algorithm") == algorithm)
        for key, group in of_pair.collect(engine="streaming").sort(RUN).group_by(SETTING, maintain_order=True):
            names = dict(zip(SETTING, key, strict=True))
            returns, missing = _matrix(group)
            if missing.any():
                if domain not in known:
                    known = {**worst_returns(table), **known}
                returns = np.where(missing, worst_in(domain, known), returns)
            interval = bootstrap_interval(returns, stream(seed, *key), "mean", method, level, resamples)
            columns = {
                "step": group["every"][0] * np.arange(1, returns.shape[1] + 1),
                "runs": np.full(returns.shape[1], len(returns)),
                "mean": interval.estimate,
                "standard_error": standard_error(returns),
                "low": interval.low,
                "high": interval.high,
                "unfinished": missing.sum(0),
            }
            parts = {**names, **{name: group[name][0] for name in hypers}, **columns}
            frames.append(pl.DataFrame(parts, schema_overrides={name: pl.Float64 for name in hypers}))
    return pl.concat(frames).with_columns(pl.col("standard_error", "low", "high").fill_nan(None))


def _matrix(group: pl.DataFrame) -> tuple[Float[Array, "runs points"], Bool[Array, "runs points"]]:
    """The returns of one setting, and where they are not finite."""
    lengths = group["returns"].list.len()
    if lengths.n_unique() != 1 or group["every"].n_unique() != 1 or not lengths[0]:
        setting = describe({name: group[name][0] for name in SETTING})
        raise InputError(f"the runs of {setting} are not recorded at the same points; a curve needs runs of one length")
    values = group["returns"].cast(pl.List(pl.Float64)).explode(empty_as_null=False, keep_nulls=False)
    returns = values.fill_null(float("nan")).to_numpy().reshape(len(group), -1)
    return returns, ~np.isfinite(returns)
