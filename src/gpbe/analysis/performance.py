"""The performance of a run: the mean of its returns over the last quarter of the recorded points (paper, section 9).

**Points without a return.** A recorded point has no finite return where no episode of the run ever finished, or where
the numbers themselves broke. Leaving such points out would reward a setting for its worst runs, so each of them counts
as the lowest finite return that anybody recorded in that domain, and `unfinished` says how many did. The lowest is
taken over the whole table: reduce all of a sweep at once, or state the lowest return of a domain with `worst`.

**Diverged runs** stay in: what they were paid after their weights became infinite is as real as before.
"""

from collections.abc import Mapping

import polars as pl

from gpbe.analysis.tables import PERFORMANCES, RUN, SETTING, Table, check_runs, describe, hyperparameters
from gpbe.errors import InputError
from gpbe.summary import QUARTER


def performance(
    runs: Table, last: float | int = QUARTER, worst: Mapping[str, float | int] | None = None
) -> pl.DataFrame:
    """One row a run: the mean return over the `last` fraction of its points.

    `last=1` averages the whole curve: the area under it, divided by its length.

    The runs are reduced as they stream by, so `runs` may be a scan of files larger than memory. `worst` states by
    domain what a point without a finite return counts as; for domains that it does not name, see this module.

    Columns: domain, algorithm, setting, the hyperparameters, run, performance, points (how many were averaged),
    unfinished (how many of them had no finite return), diverged.

    >>> runs = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": 0, "step_size": 0.1, "run": [0, 1], "every": 500,
    ...     "returns": [[-9.0, -8.0, -4.0, -2.0], [-7.0, -6.0, -5.0, float("nan")]], "diverged_at": -1,
    ... })
    >>> performance(runs, last=0.5).select("run", "performance", "unfinished").rows()
    [(0, -3.0, 0), (1, -7.0, 1)]
    """
    if not 0 < last <= 1:
        raise InputError(f"last is {last}; it should be a fraction of the points, above 0 and at most 1")
    window = _finite(pl.col("returns").list.tail(_window(float(last))))
    hypers = hyperparameters(runs)
    reduced = (
        check_runs(runs)
        .select(
            *RUN,
            *hypers,
            "every",
            recorded=pl.col("returns").list.len(),
            points=_window(float(last)),
            total=window.list.sum(),
            finite=window.list.drop_nulls().list.len(),
            lowest=_finite(pl.col("returns")).list.min(),
            diverged=pl.col("diverged_at") >= 0,
        )
        .collect(engine="streaming")
        .sort(RUN)
    )
    _check(reduced, hypers)
    reduced = reduced.with_columns(unfinished=pl.col("points") - pl.col("finite"))
    filled = _fill(reduced, worst or {})
    mean = (pl.col("total").fill_null(0.0) + pl.col("unfinished") * filled) / pl.col("points")
    names = (*SETTING, *hypers, "run", *PERFORMANCES[len(RUN) :])
    return reduced.with_columns(performance=mean).select(names)


def worst_returns(runs: Table) -> dict[str, float]:
    """The lowest finite return of each domain: what a point without one counts as.

    >>> runs = pl.DataFrame({
    ...     "domain": ["hill", "hill"], "algorithm": "qrc", "setting": 0, "run": [0, 1], "every": 500,
    ...     "returns": [[-9.0, -2.0], [-7.0, float("nan")]], "diverged_at": -1,
    ... })
    >>> worst_returns(runs)
    {'hill': -9.0}
    """
    lowest = check_runs(runs).select("domain", lowest=_finite(pl.col("returns")).list.min())
    table = lowest.group_by("domain").agg(pl.col("lowest").min()).collect(engine="streaming").sort("domain")
    return {domain: value for domain, value in table.rows() if value is not None}


def worst_in(domain: str, worst: Mapping[str, float | int]) -> float:
    """The return that a point without a finite one counts as in a domain; refused where nothing says."""
    if domain not in worst:
        raise InputError(
            f"no run in {domain!r} has a finite return, so nothing says how bad that is; "
            f"give the lowest possible return as worst={{{domain!r}: ...}}"
        )
    return float(worst[domain])


def _window(last: float) -> pl.Expr:
    """How many points are averaged, as `gpbe.summary.points_in_last` has it."""
    return (pl.col("returns").list.len() * last).round(mode="half_to_even").clip(1).cast(pl.Int64)


def _finite(returns: pl.Expr) -> pl.Expr:
    """Nulls, which sums skip, instead of whatever is not finite; in 64 bits, which a sum of returns needs."""
    value = pl.element()
    return returns.cast(pl.List(pl.Float64)).list.eval(pl.when(value.is_finite()).then(value))


def _fill(reduced: pl.DataFrame, worst: Mapping[str, float | int]) -> pl.Expr:
    """What a point without a return counts as, by domain."""
    seen = reduced.group_by("domain").agg(pl.col("lowest").min()).drop_nulls()
    known = {**dict(seen.rows()), **worst}
    needed = reduced.filter(pl.col("unfinished") > 0)["domain"].unique().sort()
    values = [worst_in(domain, known) for domain in needed]
    # Domains without such points need no value: 0 times anything.
    return pl.col("domain").replace_strict(
        needed, pl.Series(values, dtype=pl.Float64), default=0.0, return_dtype=pl.Float64
    )


def _check(reduced: pl.DataFrame, hypers: list[str]) -> None:
    """Refuse tables whose means would compare what is not comparable."""
    if reduced.is_empty():
        raise InputError("the runs table is empty; give at least one run")
    empty = reduced.filter(pl.col("recorded").fill_null(0) == 0)
    if empty.height:
        raise InputError(f"{describe(empty.row(0, named=True))} has no recorded points; it should have at least one")
    twice = reduced.filter(pl.struct(RUN).is_duplicated())
    if twice.height:
        raise InputError(f"{describe(twice.row(0, named=True))} is in the table twice; it should be there once")
    for column, words in (("recorded", "{} and {} recorded points"), ("every", "records every {} and every {} steps")):
        spread = reduced.group_by("domain", maintain_order=True).agg(
            low=pl.col(column).min(), high=pl.col(column).max()
        )
        for domain, low, high in spread.filter(pl.col("low") != pl.col("high")).rows():
            raise InputError(
                f"runs in {domain!r} have {words.format(low, high)}; runs that are compared should be equally long"
            )
    settings = reduced.select("algorithm", "setting", *hypers).unique(maintain_order=True)
    mixed = settings.filter(pl.struct("algorithm", "setting").is_duplicated())
    if mixed.height:
        row = mixed.row(0, named=True)
        raise InputError(f"{describe(row)} has different hyperparameters in different rows; it should have one set")
