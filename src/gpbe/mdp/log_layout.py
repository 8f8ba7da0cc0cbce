"""How the columns of a table of recorded transitions are named, and what they become."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gpbe.checks import LARGEST, MOST, as_floats, hint, is_whole
from gpbe.errors import InputError, one_line
from gpbe.shapes import Array
from gpbe.wording import counted

Names = str | Sequence[str]
Function = Callable[[Array], Any]
OPTIONAL = ("action", "episode", "step", "terminal")
"""Columns that a table may lack."""


@dataclass(frozen=True)
class Layout:
    """Which column is what; see `gpbe.mdp.scan_log`.

    >>> Layout(discount=1.5)
    Traceback (most recent call last):
    gpbe.errors.InputError: discount is 1.5; it should be a column's name, or a number in [0, 1] for all
    """

    state: Names | None = None
    next_state: Names | None = None
    features: Any = None
    reward: str = "reward"
    discount: str | float = "discount"
    target: Names | Function = "target"
    behavior: Names | Function = "behavior"
    next_target: Names | None = None
    action: str = "action"
    episode: str = "episode"
    step: str = "step"
    terminal: str = "terminal"

    def __post_init__(self) -> None:
        if not isinstance(self.discount, str) and not (_is_number(self.discount) and 0 <= self.discount <= 1):
            raise InputError(
                f"discount is {self.discount!r}; it should be a column's name, or a number in [0, 1] for all"
            )
        for name in ("reward", *OPTIONAL):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} is {getattr(self, name)!r}; it should be the name of a column")
        for name in ("state", "next_state", "next_target", "target", "behavior"):
            value = getattr(self, name)
            takes_function = name in ("target", "behavior")
            if value is not None and not _are_names(value) and not (takes_function and callable(value)):
                more = ", or a function from states to probabilities of all actions" if takes_function else ""
                raise InputError(f"{name} is {value!r}; it should be the name of a column, or several{more}")
        if self.features is not None and not callable(self.features):
            raise InputError(
                f"features is {self.features!r}; it should be a function from states to features; state names columns"
            )

    def default(self, name: str) -> Any:
        """The default of a field."""
        return next(f.default for f in fields(self) if f.name == name)

    def resolve(self, schema: Mapping[str, Any], file: str) -> "Resolved":
        """The columns that a table has for each purpose; refused before any row is read."""
        has = _Columns(schema, file)
        state = has.vector(self.state, "features", "x")
        if state is None:
            raise InputError(
                f"{file} has no features: neither a column 'features' nor columns x_0, x_1, ...; it has "
                f"{has.listed}: name those of the state, as in state=age,speed"
            )
        optional = {}
        for name in OPTIONAL:
            wanted = getattr(self, name)
            if wanted not in schema and wanted != self.default(name):
                raise has.missing(wanted)
            optional[name] = wanted if wanted in schema else None
        has.require(self.reward)
        if isinstance(self.discount, str):
            has.require(self.discount, ", or give one number for all")
        chances = {}
        for name in ("target", "behavior"):
            value = getattr(self, name)
            chances[name] = value if callable(value) else has.chances(value)
            all_of_them = callable(value) or len(chances[name]) > 1
            if all_of_them and optional["action"] is None:
                raise InputError(
                    f"{file} has no column {self.action!r}, and {name} has probabilities of all actions; name the "
                    "column that tells which was taken"
                )
        return Resolved(
            state=state,
            next_state=has.vector(self.next_state, "next_features", "next_x"),
            reward=self.reward,
            discount=self.discount,
            next_target=has.vector(self.next_target, "next_target", "next_target"),
            **chances,
            **optional,
        )


class Resolved(NamedTuple):
    """The columns of one table for each purpose; None for what it does not have."""

    state: tuple[str, ...]
    next_state: tuple[str, ...] | None
    reward: str
    discount: str | float
    target: tuple[str, ...] | Function
    behavior: tuple[str, ...] | Function
    next_target: tuple[str, ...] | None
    action: str | None
    episode: str | None
    step: str | None
    terminal: str | None

    @property
    def columns(self) -> list[str]:
        """All that have to be read."""
        groups = [self.state, self.next_state or (), self.next_target or (), (self.reward,)]
        groups += [each for each in (self.target, self.behavior) if not callable(each)]
        singles = [self.discount, self.action, self.episode, self.step, self.terminal]
        groups.append(tuple(each for each in singles if isinstance(each, str)))
        return list(dict.fromkeys(name for group in groups for name in group))


class _Columns(NamedTuple):
    """The columns that a table has."""

    schema: Mapping[str, Any]
    file: str

    def missing(self, name: str, more: str = "") -> InputError:
        return InputError(f"{self.file} has no column {name!r}; {self._has(name)}{more}")

    def _has(self, name: str) -> str:
        said = hint(name, self.schema)
        return said if said.startswith("did") else f"it has {self.listed}"

    @property
    def listed(self) -> str:
        """The names of the columns; of many the first."""
        return one_line(", ".join(list(self.schema)[:MOST]) + ", ..." * (len(self.schema) > MOST))

    def require(self, name: str, more: str = "") -> None:
        if name not in self.schema:
            raise self.missing(name, more)

    def vector(self, names: Names | None, usual: str, prefix: str) -> tuple[str, ...] | None:
        """Columns that make a vector: as named, or one of lists, or numbered ones."""
        if names is not None:
            found = (names,) if isinstance(names, str) else tuple(names)
            for name in found:
                self.require(name)
            return found
        return (usual,) if usual in self.schema else self.numbered(prefix)

    def numbered(self, prefix: str) -> tuple[str, ...] | None:
        given = [c for c in self.schema if re.fullmatch(rf"{re.escape(prefix)}_\d+", c)]
        expected = [f"{prefix}_{i}" for i in range(len(given))]
        for name in expected:
            if name not in self.schema:
                raise InputError(f"{self.file} has columns {', '.join(given)} but no {name}; number them from 0")
        return tuple(expected) or None

    def chances(self, names: Names) -> tuple[str, ...]:
        """Columns of probabilities: one of the action taken (or of lists), or one for each action."""
        if isinstance(names, str):
            found = (names,) if names in self.schema else self.numbered(names)
            if found is None:
                raise self.missing(names)
            return found
        for name in names:
            self.require(name)
        return tuple(names)


class Place(NamedTuple):
    """Where rows come from, for messages."""

    file: str
    offset: int

    def refuse(self, name: str, row: int, what: str) -> InputError:
        """The refusal of one entry."""
        return InputError(f"{self.file}: {name}[row {self.offset + row}] {what}")


def numbers(frame: pl.DataFrame, name: str, at: Place, low: float = -LARGEST, high: float = LARGEST) -> Array:
    """A column as numbers, all of them finite and in their range."""
    column = frame[name]
    if column.dtype == pl.String:
        other = column.cast(pl.Float64, strict=False).is_null() & column.is_not_null()
        if other.any():
            row = int(other.arg_max() or 0)
            raise at.refuse(name, row, f"is {one_line(repr(column[row]))}; it should be a number")
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{at.file}: {name} is not an array of numbers: it holds {column.dtype}")
    if column.null_count():
        raise at.refuse(name, int(column.is_null().arg_max() or 0), "is missing; every row should have a number")
    values = column.cast(pl.Float64).to_numpy()
    check_rows(values, name, at, low, high)
    return values


def labels(frame: pl.DataFrame, name: str, at: Place) -> Array:
    """A column of what can be compared, one an entry: numbers, texts, dates; of lists only parts could be equal."""
    column = frame[name]
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise InputError(f"{at.file}: {name} holds {column.dtype}; it should hold a number or a text for each row")
    missing = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    if missing.any():
        raise at.refuse(name, int(missing.arg_max() or 0), "is missing; every row should have one")
    return column.to_numpy()


def check_rows(values: Array, name: str, at: Place, low: float = -LARGEST, high: float = LARGEST) -> None:
    """Every number must be finite and in its range; what is larger than `LARGEST` is none that can be computed with."""
    if not values.size or (values.min() >= low and values.max() <= high):  # which is false where one is NaN
        return
    if not np.isfinite(values).all():
        place = np.argwhere(~np.isfinite(values))[0]
        raise at.refuse(name, int(place[0]), f"is {values[tuple(place)]}; every entry must be a finite number")
    place = np.argwhere((values < low) | (values > high))[0]
    raise at.refuse(name, int(place[0]), f"is {values[tuple(place)]:g}; it should lie in [{low:g}, {high:g}]")


def vectors(frame: pl.DataFrame, names: tuple[str, ...], at: Place) -> Array:
    """Columns as the rows of a matrix: of numbers, or one of lists."""
    name = next(iter(names))
    if len(names) > 1 or not isinstance(frame.schema[name], pl.List | pl.Array):
        found = np.empty((len(frame), len(names)))
        for k, each in enumerate(names):
            found[:, k] = numbers(frame, each, at)
        return found
    column = frame[name]
    lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    inner = getattr(lists.dtype, "inner", None)
    lengths = lists.list.len()
    if not (inner is not None and inner.is_numeric()):
        raise InputError(f"{at.file}: {name} holds lists of {inner}; they should be of numbers")
    if lengths.null_count():
        raise at.refuse(name, int(lengths.is_null().arg_max() or 0), "is missing; every row should have a list")
    if lengths.n_unique() > 1:
        row = int((lengths != lengths[0]).arg_max() or 0)
        raise at.refuse(name, row, f"has {counted(lengths[row], 'number')}, but row {at.offset} has {lengths[0]}")
    found = lists.explode().cast(pl.Float64).to_numpy().reshape(len(frame), -1)
    check_rows(found, name, at)
    return found


def applied(function: Function, states: Array, what: str, at: Place) -> Array:
    """What a user's function makes of states: a row for each."""
    try:
        found = as_floats(function(states), what, at.offset)
    except InputError as error:
        raise InputError(f"{at.file}: the function for {what}: {error}") from None
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        raise InputError(
            f"{at.file}: the function for {what} failed on states of shape {states.shape}: "
            f"{type(error).__name__}: {said}"
        ) from error
    if found.ndim != 2 or len(found) != len(states):
        raise InputError(
            f"{at.file}: the function for {what} made shape {found.shape} of states of shape {states.shape}; "
            "it should make a row for each"
        )
    check_rows(found, what, at)
    return found


def _is_number(value: Any) -> bool:
    return is_whole(value) or isinstance(value, float | np.floating)


def _are_names(value: Any) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, Sequence) and len(value) > 0 and all(isinstance(each, str) for each in value)
