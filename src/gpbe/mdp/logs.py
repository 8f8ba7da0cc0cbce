"""Recorded transitions: what a user has who has no simulator."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.files.atomic import write_table
from gpbe.mdp.log_checks import NUMBERS, breaks, checked
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.simulate import simulate
from gpbe.shapes import Array, Numbers
from gpbe.wording import counted

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
        """Make a log of fields that have been checked."""
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
        return breaks(self.discount, self.continues)

    @property
    def ratios(self) -> Array:
        """The importance sampling ratio of each row."""
        return self.target / self.behavior

    def __len__(self) -> int:
        return len(self.reward)

    def __repr__(self) -> str:
        return f"<Log: {counted(len(self), 'transition')}, {counted(self.features.shape[-1], 'feature')}>"

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

    def count(self) -> int:
        """How many transitions there are."""
        return len(self)

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
        """Write a Parquet file that `read` understands."""
        columns = {c: getattr(self, c) for c in (*NUMBERS, "action")}
        columns |= {"features": self.features, "next_features": self.next_features}
        if self.next_policy is not None and np.isfinite(self.next_policy).all():
            columns |= {"target": self.policy, "next_target": self.next_policy}
        series = [
            pl.Series(c, a, pl.List(pl.Float64) if a.ndim > 1 else None) for c, a in columns.items() if a is not None
        ]
        write_table(Path(path), pl.DataFrame(series))
