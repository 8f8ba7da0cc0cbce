"""Recorded transitions: what a user has who has no simulator."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gpbe.checks import as_floats, check_interval, check_magnitude, check_probabilities
from gpbe.errors import InputError
from gpbe.files.atomic import write_table
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.simulate import simulate
from gpbe.shapes import Array, Numbers

NUMBERS = ("reward", "discount", "target", "behavior")
"""The columns that have a number for each row."""
PIECE = 2**18
"""Numbers in the features of one piece of a log."""


@dataclass(frozen=True, eq=False)
class Log:
    """Recorded transitions, in the order in which they happened.

    Args:
        features: feature vectors of the states, (T, K).
        reward: rewards, (T,).
        discount: discount of each transition, (T,); 0 where an episode ended.
        target, behavior: probability of the action that was taken, under each policy, (T,).
        next_features: feature vectors of the next states, (T, K). If left out, row t + 1 follows row t, and the last
            row (of each episode, if these are given) only tells where the one before it led, unless it ended there.
        episode: which episode each row belongs to, (T,): any labels. If left out, an episode ends where the discount
            is 0 or a row's next features are not those of the row after it.
        action: which action was taken, (T,); with `policy`, for methods that learn action values.
        policy, next_policy: probabilities of all actions under the target policy, in the state and in the next, (T, A).
            If `next_policy` is left out, it is that of the row which follows.

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
    continues: Array
    """Does each row lead to where the next begins? Not at the end of an episode, and not where a log breaks off.

    Where a time limit cut an episode short, the row has a discount but the next row begins elsewhere: a return that
    comes there bootstraps from where the row led. Without given episodes, features are compared as learning sees them,
    in 32 bits."""
    action: Array | None
    policy: Array | None
    next_policy: Array | None
    """NaN where it is not known: where a log breaks off without telling."""

    def __init__(
        self,
        features: Numbers,
        reward: Numbers,
        discount: Numbers,
        target: Numbers,
        behavior: Numbers,
        next_features: Numbers | None = None,
        *,
        episode: Any = None,
        action: Numbers | None = None,
        policy: Numbers | None = None,
        next_policy: Numbers | None = None,
    ):
        numbers = dict(zip(NUMBERS, (reward, discount, target, behavior), strict=True))
        given = {"next_features": next_features, "episode": episode, "action": action}
        given |= {"policy": policy, "next_policy": next_policy}
        x = as_floats(features, "features")
        if x.ndim != 2 or len(x) < 1 + (next_features is None):
            raise InputError(
                f"features have shape {x.shape}; they should be (transitions, features), with 2 rows at least, "
                "or 1 and its next_features"
            )
        self._fill(checked({"features": x, **numbers, **given}))

    def _fill(self, fields: Mapping[str, Array | None]) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _of(cls, fields: Mapping[str, Array | None]) -> "Log":
        """From fields that have been checked."""
        log = object.__new__(cls)
        log._fill(fields)
        return log

    @property
    def _arrays(self) -> dict[str, Array | None]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def simulate(cls, problem: PredictionProblem, steps: int, seed: int = 0) -> "Log":
        """Record one run of a problem's behavior."""
        t = simulate(problem.mdp, problem.behavior, steps, 1, seed)
        s, a, after = t.state[0], t.action[0], t.next_state[0]
        x, pi = problem.features, problem.target
        return cls(
            x[s],
            t.reward[0],
            t.discount[0],
            pi[s, a],
            problem.behavior[s, a],
            x[after],
            action=a,
            policy=pi[s],
            next_policy=pi[after],
        )

    @cached_property
    def breaks(self) -> Array:
        """Does the log break off after a row, in the middle of an episode? (That it ends does not count.)"""
        broken = (self.discount > 0) & ~self.continues
        broken[-1:] = False
        return broken

    @property
    def ratios(self) -> Array:
        """The importance sampling ratio of each row."""
        return self.target / self.behavior

    def __len__(self) -> int:
        return len(self.reward)

    def first(self, steps: int) -> "Log":
        """The log's first transitions."""
        if not 1 <= steps <= len(self):
            raise InputError(f"steps is {steps}; the log has {len(self)} transitions")
        log = self.rows(0, steps)
        return Log._of(log._arrays | {"continues": np.append(log.continues[:-1], False)})

    def rows(self, start: int, stop: int) -> "Log":
        """A piece of the log; it knows whether its last row leads to the first one after it."""
        return Log._of({name: None if a is None else a[start:stop] for name, a in self._arrays.items()})

    def pieces(self, part: int = 0, numbers: int = PIECE) -> Iterator["Log"]:
        """The log in pieces of so many numbers in their features, one after the other. It has one part, itself."""
        size = max(1024, numbers // max(1, self.features.shape[1]))
        for start in range(0, len(self), size):
            yield self.rows(start, start + size)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what can be read apart: a log that is here is one."""
        return ("log",)

    @classmethod
    def read(cls, source: Any, **layout: Any) -> "Log":
        """A log from files or a table; `mdp.scan_log` says what can be read, and how columns are named."""
        from gpbe.mdp.log_files import scan_log

        return scan_log(source, **layout).read()

    @classmethod
    def joined(cls, pieces: list["Log"]) -> "Log":
        """Pieces that follow each other as one log."""
        if len(pieces) == 1:
            return pieces[0]
        first = pieces[0]._arrays
        return cls._of(
            {
                name: None if first[name] is None else np.concatenate([getattr(piece, name) for piece in pieces])
                for name in first
            }
        )

    def write(self, path: str | Path) -> None:
        """As a Parquet file that `read` understands."""
        columns = {c: getattr(self, c) for c in (*NUMBERS, "action")}
        columns |= {"features": self.features, "next_features": self.next_features}
        if self.next_policy is not None and np.isfinite(self.next_policy).all():
            columns |= {"target": self.policy, "next_target": self.next_policy}
        series = [
            pl.Series(c, a, pl.List(pl.Float64) if a.ndim > 1 else None) for c, a in columns.items() if a is not None
        ]
        write_table(Path(path), pl.DataFrame(series))


def checked(given: Mapping[str, Any], stop: int | None = None) -> dict[str, Array | None]:
    """The fields of a log from what is given for them, of rows before `stop`; those after it tell what follows."""
    x = as_floats(given["features"], "features")
    if not x.shape[1]:
        raise InputError(f"features have shape {x.shape}; there should be one at least")
    columns = {name: _column(given[name], name, len(x)) for name in NUMBERS}
    check_magnitude(x, "features")
    check_magnitude(columns["reward"], "reward")
    for name in NUMBERS[1:]:
        check_interval(columns[name], name, ("row",))
    check_possible(columns["behavior"])
    label = None if given["episode"] is None else _labels(given["episode"], len(x))
    taken, chances = read_policy(given["action"], given["policy"], len(x), columns["target"])
    following = given["next_features"] is None
    if following:
        led = x[1:]
    else:
        led = as_floats(given["next_features"], "next_features")
        if led.shape != x.shape:
            raise InputError(f"next_features have shape {led.shape}; they should have that of features, {x.shape}")
        check_magnitude(led, "next_features")
    same = label[1:] == label[:-1] if label is not None else True if following else same_place(x, led)
    continues = np.append((columns["discount"][:-1] > 0) & same, False)
    after = _after(chances, given["next_policy"], continues)
    known, continues = _known(columns["discount"], continues, following, label)
    known[len(x) if stop is None else stop :] = False
    count = int(known.sum())
    keep: Any = slice(0, count) if known[:count].all() else known  # of a slice there is no copy
    if count and following and (known[-1] or keep is known):
        led = np.concatenate([led, x[-1:]])
    fields = {"features": x, "next_features": led, **columns, "continues": continues}
    fields |= {"action": taken, "policy": chances, "next_policy": after}
    return {name: None if a is None else a[keep] for name, a in fields.items()}


def check_possible(behavior: Array) -> None:
    """A taken action cannot have had probability 0."""
    if not (behavior > 0).all():
        row = int((behavior <= 0).argmax())
        raise InputError(
            f"behavior[row {row}] is 0, so its ratio is infinite; a taken action cannot have probability 0"
        )


def read_policy(
    action: Numbers | None, policy: Numbers | None, rows: int, target: Array
) -> tuple[Array | None, Array | None]:
    """Actions, and the target policy's probabilities of all of them, checked against those of the actions taken."""
    taken = None if action is None else _column(action, "action", rows)
    if taken is not None and ((taken % 1 != 0) | (taken < 0)).any():
        row = int(((taken % 1 != 0) | (taken < 0)).argmax())
        raise InputError(f"action[row {row}] is {taken[row]:g}; actions should be numbered 0, 1, ...")
    taken = None if taken is None else taken.astype(np.intp)
    if policy is None:
        return taken, None
    if taken is None:
        raise InputError("policy has probabilities of all actions, but no action tells which was taken; give both")
    chances = as_floats(policy, "policy")
    if chances.ndim != 2 or len(chances) != rows:
        raise InputError(f"policy has shape {chances.shape}; it should be ({rows}, actions)")
    if (taken >= chances.shape[1]).any():
        row = int((taken >= chances.shape[1]).argmax())
        raise InputError(f"action[row {row}] is {taken[row]}; policy has probabilities of {chances.shape[1]} actions")
    check_probabilities(chances, "policy", ("row",))
    said = chances[np.arange(rows), taken]
    if (np.abs(said - target) > 1e-6).any():
        row = int((np.abs(said - target) > 1e-6).argmax())
        raise InputError(
            f"target[row {row}] is {target[row]:g}, but policy gives action {taken[row]} there {said[row]:g}"
        )
    return taken, chances


def _column(values: Numbers, name: str, rows: int) -> Array:
    column = as_floats(values, name)
    if column.shape != (rows,):
        raise InputError(f"{name} has shape {column.shape}; it should have one number for each of {rows} rows")
    return column


def _labels(episode: Any, rows: int) -> Array:
    label = np.asarray(episode)
    if label.shape != (rows,):
        raise InputError(f"episode has shape {label.shape}; it should have one label for each of {rows} rows")
    return label


def same_place(x: Array, follows: Array) -> Array:
    """Does each row but the last lead to where the next one begins? In blocks, which stay small."""
    same, block = np.empty(len(x) - 1, dtype=bool), max(1, 2**18 // max(1, x.shape[1]))
    for start in range(0, len(same), block):
        rows = slice(start, start + block)
        led, begins = follows[:-1][rows].astype(np.float32), x[1:][rows].astype(np.float32)
        same[rows] = (led == begins).all(1)
    return same


def _after(policy: Array | None, given: Numbers | None, continues: Array) -> Array | None:
    """The target policy in the next states: as given, or that of the row which follows."""
    if policy is None:
        return None
    if given is not None:
        after = as_floats(given, "next_policy")
        if after.shape != policy.shape:
            raise InputError(f"next_policy has shape {after.shape}; it should have that of policy, {policy.shape}")
        return after
    after = np.full(policy.shape, np.nan)
    after[:-1][continues[:-1]] = policy[1:][continues[:-1]]
    return after


def _known(discount: Array, continues: Array, following: bool, label: Array | None) -> tuple[Array, Array]:
    """Which rows tell where they led, and which of them lead to a row that does.

    Where rows follow one another, the last row does not tell; nor does the last of each episode that it did not end.
    """
    if not following:
        return np.ones(len(discount), dtype=bool), continues
    known = np.append(np.ones(len(discount) - 1, dtype=bool), False)
    if label is not None:
        known = continues | (discount == 0)
    return known, continues & np.append(known[1:], False)
