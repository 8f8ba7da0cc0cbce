"""Logs in files and tables, read in pieces: memory does not grow with the number of rows."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from gpbe.checks import check_known
from gpbe.errors import InputError, one_line
from gpbe.files.reading import check_file
from gpbe.files.tables import MOST, first_unreadable
from gpbe.mdp.log_checks import checked
from gpbe.mdp.log_csv import misfit
from gpbe.mdp.log_layout import Layout, Place, Resolved
from gpbe.mdp.log_rows import Order, frozen, rows_of
from gpbe.mdp.log_source import check_width
from gpbe.mdp.logs import PIECE, Log
from gpbe.shapes import Array

T = TypeVar("T")
_PARQUET = partial(pl.scan_parquet, glob=False, hive_partitioning=False)
READERS = {".parquet": _PARQUET, ".pq": _PARQUET, ".csv": partial(pl.scan_csv, glob=False)}
AHEAD = ("POLARS_ROW_GROUP_PREFETCH_SIZE", "POLARS_CSV_CHUNK_PREFETCH_LIMIT")
"""Where Polars is told how many groups of rows to read ahead: as it comes, that is most of the memory."""
BATCH = 2**21
"""Numbers read at once where all are kept: larger batches are cut up less, which takes less memory."""
HELD = 2
"""Rows that wait for those after them: a row tells where the one before it led, and whether it is known itself."""


@dataclass(frozen=True, eq=False)
class LogFiles:
    """Recorded transitions in files or tables, of which pieces are read as they are needed.

    Every file is a part of its own: no episode goes on from one to the next, so that they can be read in any order.
    """

    tables: tuple[str | pl.DataFrame, ...]
    """Paths of files, or tables that are here."""
    layout: Layout

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what can be read apart."""
        return tuple(each if isinstance(each, str) else "table" for each in self.tables)

    def __repr__(self) -> str:
        first, *others = self.parts
        return f"<LogFiles: {first}{f' and {len(others)} more' if others else ''}>"

    def count(self) -> int:
        """How many rows there are; the last of an episode is no transition if it does not tell where it led."""
        return sum(int(_collect(_scan(t).select(pl.len()), n).item()) for t, n in self._named())

    def pieces(self, part: int = 0, numbers: int = PIECE) -> Iterator[Log]:
        """One part in pieces of so many numbers in their features, one after the other."""
        columns, rows, some = self._columns(part), 0, False
        for given, stop in _overlapping(self._raw(part, columns, numbers)):
            rows += stop
            fields = checked(self._ended(given, columns), stop)
            if len(np.asarray(fields["reward"])):
                some = True
                yield Log._of(fields)
        if not some:
            raise _too_short(self.parts[part], rows)

    def read(self) -> Log:
        """All of it as one log."""
        parts = [self._read(part) for part in range(len(self.tables))]
        widths = [part.features.shape[1] for part in parts]
        for name, width in zip(self.parts, widths, strict=True):
            check_width(name, width, self.parts[0], widths[0])
        return Log.joined(parts)

    def _read(self, part: int) -> Log:
        """One part, in arrays that are made once: there is never a second copy of the features."""
        rows = int(_collect(_scan(self.tables[part]).select(pl.len()), self.parts[part]).item())
        columns, whole, at = self._columns(part), {}, 0
        for given in self._raw(part, columns, BATCH):
            for name, values in given.items():
                if name not in whole:
                    whole[name] = None if values is None else np.empty((rows, *values.shape[1:]), values.dtype)
                if values is not None:
                    whole[name][at : at + len(values)] = values
            at += len(given["reward"])
        fields = checked(frozen(self._ended(whole, columns))) if at else {}
        if not at or not len(np.asarray(fields["reward"])):
            raise _too_short(self.parts[part], at)
        return Log._of(fields)

    @staticmethod
    def _ended(given: dict[str, Any], columns: Resolved) -> dict[str, Any]:
        """The last row of an episode ends it, unless a column tells what does."""
        label = given["episode"]
        if isinstance(columns.discount, str) or columns.terminal is not None or label is None:
            return given
        last = np.append(label[1:] != label[:-1], True)
        return given | {"discount": np.where(last, 0.0, given["discount"])}

    def _named(self) -> Iterable[tuple[str | pl.DataFrame, str]]:
        return zip(self.tables, self.parts, strict=True)

    def _columns(self, part: int) -> Resolved:
        return _resolve(self.layout, self.tables[part], self.parts[part])

    def _raw(self, part: int, columns: Resolved, numbers: int) -> Iterator[dict[str, Any]]:
        """What each batch of rows of a part says, checked row by row."""
        file, offset, order = self.parts[part], 0, Order()
        rows = max(1024, numbers // len(columns.state))
        for frame in _batches(self.tables[part], columns.columns, rows, file):
            yield rows_of(frame, columns, self.layout, Place(file, offset), order)
            offset += len(frame)


def scan_log(source: Any, **layout: Any) -> LogFiles:
    """Recorded transitions, to be read in pieces.

    Args:
        source: a .parquet or .csv file, a pattern such as "logs/*.parquet", several of these; a table of polars, pandas
            or Arrow; or a mapping from names to arrays.
        **layout: what is called otherwise than here, or made by functions:
            `state`, `next_state`: columns of the state; a column `features` of lists or x_0, x_1, ... if left out (and
            `next_features`, or next_x_0, ...; if there are none, the next row has the next state).
            `features`: a function from states (n, d) to features (n, K); the states themselves if left out.
            `reward`: a column.
            `discount`: a column, 0 where an episode ended; or one number for all, where an episode ends with a row that
            is `terminal`, or if no column says so with its last row.
            `target`, `behavior`: a column with the probability of the action taken; or columns with those of all
            actions (target_0, ...), or a function from states to these (n, A), with a column `action`.
            `next_target`: columns with the probabilities of all actions in the next state; those of the next row if
            left out, or what a function makes of the next state.
            `episode`, `step`: columns that tell which rows belong together, and in which order they are.

    >>> rows = {"position": [0.0, 1.0, 2.0, 0.0, 1.0], "episode": [1, 1, 1, 2, 2], "reward": [0, 0, 1, 0, 1],
    ...         "action": [1, 1, 1, 0, 1], "behavior": [0.5, 0.5, 0.5, 0.5, 0.5]}
    >>> log = scan_log(rows, state="position", discount=0.9, target=lambda s: np.full((len(s), 2), [0.1, 0.9])).read()
    >>> log.discount, log.target
    (array([0.9, 0.9, 0. , 0.9, 0. ]), array([0.9, 0.9, 0.9, 0.1, 0.9]))
    """
    for name in layout:
        check_known(name, Layout.__dataclass_fields__, "part of a log's layout")
    how = Layout(**layout)
    tables = _tables(source)
    for table in tables:
        _resolve(how, table, table if isinstance(table, str) else "table")
    return LogFiles(tables, how)


def is_log(name: str | Path) -> bool:
    """Is it the name of a log's file, or a pattern of such names?

    >>> is_log("trips/*.csv"), is_log("baird")
    (True, False)
    """
    return Path(name).suffix in READERS


def _overlapping(batches: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int]]:
    """Batches of rows with the first of those that follow; and how many rows of each are its own."""
    held: dict[str, Any] | None = None
    for given in batches:
        now = given if held is None else {k: _join(held[k], given[k]) for k in given}
        rows = len(np.asarray(now["reward"]))
        if rows > HELD:
            yield now, rows - HELD
            now = {k: None if v is None else v[rows - HELD :] for k, v in now.items()}
        held = now
    if held is not None:
        yield held, len(held["reward"])


def _join(first: Array | None, second: Array | None) -> Array | None:
    if first is None or second is None:
        return None
    joined = np.concatenate([first, second])
    joined.flags.writeable = False
    return joined


def _too_short(file: str, rows: int) -> InputError:
    return InputError(f"{file} has {rows} row{'s' * (rows != 1)}; there should be 2 at least, or 1 and its next state")


def _tables(source: Any) -> tuple[str | pl.DataFrame, ...]:
    """Files, or one table that is here."""
    if isinstance(source, str | Path):
        return tuple(_files(str(source)))
    if isinstance(source, list | tuple):
        other = next((type(each).__name__ for each in source if not isinstance(each, str | Path)), None)
        if not source or other is not None:
            said = "an empty list is none of these" if other is None else f"join what is of type {other} to one table"
            raise InputError(f"a log is a file, a table or several files; {said}")
        found = tuple(file for each in source for file in _files(str(each)))
        places = [os.path.abspath(file) for file in found]
        if len(set(places)) < len(places):
            twice = next(file for k, file in enumerate(found) if places[k] in places[:k])
            raise InputError(f"{twice} is given twice; its episodes would count as if there were more of them")
        return found
    return (_frame(source),)


def _files(pattern: str) -> list[str]:
    found = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))
    if not found:
        some = any(c in pattern for c in "*?[")
        raise InputError(f"no file matches {pattern}" if some else f"there is no file {pattern}")
    for file in found:
        if Path(file).is_dir():
            raise InputError(f"{file} is a folder; name its files, as in {Path(file) / '*.parquet'}")
        if Path(file).suffix not in READERS:
            raise InputError(f"{file} should end in .parquet or .csv; a log is one of these")
    _check_files(found)
    return found


def _check_files(files: list[str]) -> None:
    """Can they be read without harm? Damaged Parquet files are found by their checksums, or by another process."""
    for file in files:
        try:
            check_file(file, MOST)
        except InputError as error:
            raise InputError(f"{file} {error}") from None
    if (found := first_unreadable(file for file in files if READERS[Path(file).suffix] is _PARQUET)) is not None:
        raise InputError(f"{found[0]} {found[1]}")


def _frame(source: Any) -> pl.DataFrame:
    """A table of polars, pandas or Arrow, or a mapping from names to arrays, as one of polars."""
    if isinstance(source, pl.LazyFrame):
        return _attempted("the table", source.collect)
    if isinstance(source, pl.DataFrame):
        return source
    if type(source).__module__.partition(".")[0] == "pandas":
        if not hasattr(source, "columns"):  # a Series has no names of columns
            raise _no_log(source)
        source = {str(name): source[name].to_numpy() for name in source.columns}
    if isinstance(source, Mapping):
        columns = [_column(name, values) for name, values in source.items()]
        return _attempted("the table", lambda: pl.DataFrame(columns))
    if hasattr(source, "__arrow_c_stream__"):
        return _attempted("the table", lambda: pl.DataFrame(source))
    raise _no_log(source)


def _column(name: Any, values: Any) -> pl.Series:
    return _attempted(f"column {name!r}", lambda: pl.Series(name, _plain(np.asarray(values))))


def _attempted(what: str, read: Callable[[], T]) -> T:
    """What can be read; whatever a foreign object raises is told in a line."""
    try:
        return read()
    except (Exception, pl.exceptions.PanicException) as error:
        raise InputError(f"{what} cannot be read: {one_line(str(error) or type(error).__name__)}") from None


def _no_log(source: Any) -> InputError:
    return InputError(
        f"a log is of type {type(source).__name__}; give a file, several, a table of polars, pandas or Arrow, or arrays"
    )


def _plain(values: Array) -> Any:
    return values.tolist() if values.dtype == object else values


def _scan(table: str | pl.DataFrame) -> pl.LazyFrame:
    for name in AHEAD:  # what the user has set stays
        os.environ.setdefault(name, "1")
    return table.lazy() if isinstance(table, pl.DataFrame) else READERS[Path(table).suffix](table)


def _resolve(layout: Layout, table: str | pl.DataFrame, file: str) -> Resolved:
    with _worded(file):
        schema = _scan(table).collect_schema()
    return layout.resolve(schema, file)


def _collect(frame: pl.LazyFrame, file: str) -> pl.DataFrame:
    with _worded(file):
        return frame.collect()


def _batches(table: str | pl.DataFrame, columns: list[str], rows: int, file: str) -> Iterator[pl.DataFrame]:
    """The rows of a table, some at a time."""
    if isinstance(table, pl.DataFrame):
        yield from table.select(columns).iter_slices(rows)
        return
    with _worded(file):
        for frame in _scan(table).select(columns).collect_batches(chunk_size=rows):
            if len(frame):
                yield frame


@contextmanager
def _worded(file: str) -> Iterator[None]:
    """What the reader of a file complains of, in one line."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"there is no file {file}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        kind = "CSV" if Path(file).suffix == ".csv" else "Parquet"
        said = (str(error).splitlines() or [type(error).__name__])[0]
        if kind == "CSV" and (found := misfit(file, str(error))) is not None:
            raise InputError(f"{file}: {found}") from None
        raise InputError(f"{file} is not a {kind} file that can be read: {one_line(said)}") from None
