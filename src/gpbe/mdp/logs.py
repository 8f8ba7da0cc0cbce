"""Recorded transitions: what a user has who has no simulator."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from gpbe.checks import as_floats, check_interval, check_magnitude
from gpbe.errors import InputError
from gpbe.files.atomic import write_table
from gpbe.files.tables import read_table
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.simulate import simulate
from gpbe.shapes import Array, Numbers


@dataclass(frozen=True, eq=False)
class Log:
    """Recorded transitions, in the order in which they happened.

    Args:
        features: feature vectors of the states, (T, K).
        reward: rewards, (T,).
        discount: discount of each transition, (T,); 0 where an episode ended.
        target, behavior: probability of the action that was taken, under each policy, (T,).
        next_features: feature vectors of the next states, (T, K). If left out, row t + 1 follows row t, and the last
            row only tells where the one before it led.

    >>> log = Log(features=np.eye(2)[[0, 1, 0]], reward=[0, 1, 0], discount=[1, 0, 1], target=[1, 1, 1],
    ...           behavior=[0.5, 0.5, 0.5])
    >>> len(log)
    2
    """

    features: Array
    next_features: Array
    reward: Array
    discount: Array
    target: Array
    behavior: Array

    def __init__(
        self,
        features: Numbers,
        reward: Numbers,
        discount: Numbers,
        target: Numbers,
        behavior: Numbers,
        next_features: Numbers | None = None,
    ):
        x = as_floats(features, "features")
        if x.ndim != 2 or len(x) < 1 + (next_features is None) or not x.shape[1]:
            raise InputError(
                f"features have shape {x.shape}; they should be (transitions, features), with 2 rows at least, "
                "or 1 and its next_features"
            )
        follows = x[1:] if next_features is None else as_floats(next_features, "next_features")
        rows = len(x) - 1 if next_features is None else len(x)
        if follows.shape != (rows, x.shape[1]):
            raise InputError(f"next_features have shape {follows.shape}; they should have that of features, {x.shape}")
        set_ = object.__setattr__
        set_(self, "features", x[:rows])
        set_(self, "next_features", follows)
        columns = {"reward": reward, "discount": discount, "target": target, "behavior": behavior}
        for name, values in columns.items():
            column = as_floats(values, name)
            if column.shape != (len(x),):
                raise InputError(
                    f"{name} has shape {column.shape}; it should have one number for each of {len(x)} rows"
                )
            set_(self, name, column[:rows])
        for name in ("features", "next_features", "reward"):
            check_magnitude(getattr(self, name), name)
        for name in ("discount", "target", "behavior"):
            check_interval(getattr(self, name), name, ("row",))
        if not (self.behavior > 0).all():
            row = int((self.behavior <= 0).argmax())
            raise InputError(
                f"behavior[row {row}] is 0, so its ratio is infinite; a taken action cannot have probability 0"
            )

    @classmethod
    def simulate(cls, problem: PredictionProblem, steps: int, seed: int = 0) -> "Log":
        """Record one run of a problem's behavior."""
        t = simulate(problem.mdp, problem.behavior, steps, 1, seed)
        s, a = t.state[0], t.action[0]
        x = problem.features
        return cls(x[s], t.reward[0], t.discount[0], problem.target[s, a], problem.behavior[s, a], x[t.next_state[0]])

    @cached_property
    def continues(self) -> Array:
        """Does each row lead to where the next begins? Not at the end of an episode, and not where a log breaks off.

        Where a time limit cut an episode short, the row has a discount but the next row begins elsewhere: a return that
        comes there bootstraps from where the row led. Features are compared as learning sees them, in 32 bits.
        """
        led, begins = (np.asarray(x, np.float32) for x in (self.next_features[:-1], self.features[1:]))
        return np.append((self.discount[:-1] > 0) & (led == begins).all(1), False)

    @property
    def breaks(self) -> Array:
        """Does the log break off after a row, in the middle of an episode? (That it ends does not count.)"""
        broken = (self.discount > 0) & ~self.continues
        return np.append(broken[:-1], False)

    def __len__(self) -> int:
        return len(self.reward)

    def first(self, steps: int) -> "Log":
        """The log's first transitions."""
        if not 1 <= steps <= len(self):
            raise InputError(f"steps is {steps}; the log has {len(self)} transitions")
        names = ("features", "reward", "discount", "target", "behavior", "next_features")
        return Log(*(getattr(self, name)[:steps] for name in names))

    @classmethod
    def read(cls, path: str | Path) -> "Log":
        """From a Parquet file with columns reward, discount, target, behavior, and features: either one column
        `features` of lists, or numbered columns x_0, x_1, ... (and next_features, or next_x_0, ..., if recorded).
        """
        if not os.path.exists(path):
            raise InputError(f"there is no file {path}")
        try:
            frame = read_table(path)
        except InputError as error:
            raise InputError(f"{path} {error}") from None
        missing = [c for c in ("reward", "discount", "target", "behavior") if c not in frame.columns]
        if missing:
            raise InputError(f"{path} has no column {missing[0]!r}; it has {', '.join(frame.columns)}")
        features = _vectors(frame, "features", "x", path)
        if features is None:
            raise InputError(f"{path} has no features: neither a column 'features' nor columns x_0, x_1, ...")
        columns = {c: _numbers(frame[c], path) for c in ("reward", "discount", "target", "behavior")}
        try:
            return cls(features, **columns, next_features=_vectors(frame, "next_features", "next_x", path))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def write(self, path: str | Path) -> None:
        """As a Parquet file that `read` understands."""
        frame = {c: getattr(self, c) for c in ("reward", "discount", "target", "behavior")}
        lists = {c: getattr(self, c).tolist() for c in ("features", "next_features")}
        write_table(Path(path), pl.DataFrame({**frame, **lists}))


def _numbers(column: pl.Series, path: str | Path) -> Array:
    """A column as numbers; text and dates are none, though they could be turned into some."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{path}: column {column.name!r} holds {column.dtype}; it should hold numbers")
    return column.cast(pl.Float64).to_numpy()


def _vectors(frame: pl.DataFrame, name: str, prefix: str, path: str | Path) -> Array | None:
    if name in frame.columns:
        inner = getattr(frame[name].dtype, "inner", pl.String())
        if not (inner.is_numeric() or inner == pl.Boolean):
            raise InputError(f"{path}: column {name!r} holds {frame[name].dtype}; it should hold lists of numbers")
        try:
            return np.array(frame[name].to_list(), dtype=float)
        except (ValueError, TypeError):
            raise InputError(f"{path}: column {name!r} should hold lists of numbers, all of one length") from None
    given = [c for c in frame.columns if re.fullmatch(rf"{prefix}_\d+", c)]
    numbered = []
    while f"{prefix}_{len(numbered)}" in frame.columns:
        numbered.append(_numbers(frame[f"{prefix}_{len(numbered)}"], path))
    if len(numbered) < len(given):
        raise InputError(f"{path} has columns {', '.join(given)} but no {prefix}_{len(numbered)}; number them from 0")
    return np.stack(numbered, axis=-1) if numbered else None
