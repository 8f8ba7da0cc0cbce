"""The tables that analysis reads: their columns, and the refusals when something is missing or misspelled."""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from gpbe.checks import alike, unknown
from gpbe.errors import InputError

Table = pl.DataFrame | pl.LazyFrame

SETTING = ("domain", "algorithm", "setting")
"""What identifies one hyperparameter setting of one algorithm in one domain."""
RUN = (*SETTING, "run")
RUNS = (*RUN, "every", "returns", "diverged_at")
"""Columns of a runs table, one row a run; every other column of floats is a hyperparameter."""
_Kind = tuple[str, Callable[[pl.DataType], bool]]
_TEXT: _Kind = "text", lambda kind: kind in (pl.String, pl.Categorical, pl.Enum)
_WHOLE: _Kind = "whole numbers", lambda kind: kind.is_integer()
_CURVES: _Kind = "lists of numbers", lambda kind: isinstance(kind, pl.List | pl.Array) and kind.inner.is_numeric()
_KINDS = {"domain": _TEXT, "algorithm": _TEXT, "returns": _CURVES}
SUMMARY = ("performance", "points", "unfinished", "diverged")
PERFORMANCES = (*RUN, *SUMMARY)
"""Columns of the table that `gpbe.analysis.performance` makes, beside the hyperparameters."""


def check_runs(runs: Table) -> pl.LazyFrame:
    """A runs table as a lazy frame, with its columns checked by name and kind.

    >>> check_runs(pl.DataFrame(dict.fromkeys(RUNS, ["x"])))
    Traceback (most recent call last):
    gpbe.errors.InputError: column 'setting' of the runs table is String; it should be whole numbers
    """
    schema = runs.collect_schema()
    _check_columns(schema.names(), RUNS, "the runs table")
    for name in RUNS:
        said, fits = _KINDS.get(name, _WHOLE)
        if not fits(schema[name]):
            raise InputError(f"column {name!r} of the runs table is {schema[name]}; it should be {said}")
    return runs.lazy()


def check_performances(performances: pl.DataFrame) -> pl.DataFrame:
    """A table with one performance a run, all of them finite, sorted so that results do not depend on row order."""
    what = "the table of performances (see gpbe.analysis.performance)"
    _check_columns(performances.columns, PERFORMANCES, what)
    if performances.is_empty():
        raise InputError(f"{what} is empty; give at least one run")
    bad = performances.filter(~pl.col("performance").is_finite().fill_null(False))
    if bad.height:
        raise InputError(f"the performance of {describe(bad.row(0, named=True))} is not a finite number")
    return performances.sort(RUN)


def hyperparameters(table: Table) -> list[str]:
    """Names of the hyperparameters: the columns of floats that are not part of every table.

    >>> hyperparameters(pl.DataFrame({"domain": ["a"], "step_size": [0.1], "run": [0], "performance": [1.0]}))
    ['step_size']
    """
    schema = table.collect_schema()
    return [name for name, kind in schema.items() if kind.is_float() and name not in (*RUNS, *SUMMARY)]


def restrict(table: pl.LazyFrame, choices: pl.DataFrame | None) -> pl.LazyFrame:
    """The rows whose setting is among `choices`, a table with `algorithm`, `setting` and perhaps `domain`.

    What the functions that choose return can be given as it is. A choice that nobody ran is refused.
    """
    if choices is None:
        return table
    _check_columns(choices.columns, ("algorithm", "setting"), "the table of choices")
    on = [name for name in SETTING if name in choices.columns]
    known = table.select(on).unique().collect(engine="streaming")
    wanted = choices.select(on).unique(maintain_order=True).cast({"setting": known.schema["setting"]})
    absent = wanted.join(known, on=on, how="anti")
    if absent.height:
        row = absent.row(0, named=True)
        for name in on:
            check_known(row[name], known[name], name)
        raise InputError(f"nobody ran {describe(row)}, which was chosen")
    return table.join(wanted.lazy(), on=on, how="semi")


def check_known(name: object, known: Iterable[object], what: str) -> None:
    """`name` is one of the values in the table."""
    known = sorted(set(known), key=lambda value: (str(type(value)), value))
    if name not in known:
        raise unknown(what, name, map(str, known))


def describe(row: Mapping[str, object]) -> str:
    """A run or a setting in words.

    >>> describe({"domain": "acrobot", "algorithm": "qrc", "setting": 3})
    "setting 3 of 'qrc' in 'acrobot'"
    """
    words = f"setting {row['setting']} of {row['algorithm']!r}"
    words = f"run {row['run']} of {words}" if "run" in row else words
    return f"{words} in {row['domain']!r}" if "domain" in row else words


def stream(seed: int, *names: object) -> np.random.Generator:
    """Random numbers of their own for each group of rows: they do not depend on what else the table holds.

    >>> one, same, other = (stream(0, "acrobot", k).random() for k in (3, 3, 4))
    >>> one == same, one == other
    (True, False)
    """
    if seed < 0:
        raise InputError(f"the seed is {seed}; it should be 0 or more")
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def _check_columns(given: Sequence[str], needed: Sequence[str], what: str) -> None:
    missing = [name for name in needed if name not in given]
    if missing:
        close = alike(missing[0], (name for name in given if name not in needed))
        right = f"did you mean {close[0]!r}?" if close else f"it should have {', '.join(needed)}"
        raise InputError(f"{what} has no column {missing[0]!r}; {right}")
