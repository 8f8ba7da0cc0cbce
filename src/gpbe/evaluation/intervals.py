"""How sure an estimate is: by its influence function, or by resampling groups of episodes."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy import stats

from gpbe.evaluation.sums import Sums, total
from gpbe.evaluation.walk import Walk
from gpbe.shapes import Array

Method = Literal["asymptotic", "bootstrap"]
BATCH = 64
"""Resamples that are solved at once."""


@runtime_checkable
class Estimator(Protocol):
    """A function of sums over groups of episodes, which does not change if all sums are scaled."""

    @property
    def name(self) -> str: ...

    bootstraps: ClassVar[bool]
    """Can groups be resampled? Not where what was learned in an earlier pass would have to be learned again."""

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums: ...

    def value(self, total: Sums) -> Any: ...

    def influence(self, sums: Sums, total: Sums) -> Array: ...


class Spread(NamedTuple):
    """The uncertainty of an estimate."""

    error: float
    low: float
    high: float
    freedom: float = np.inf
    """Degrees of freedom of the error, about twice as many as the groups that make up most of it; infinite if it is
    not known."""


def asymptotic(estimator: Estimator, sums: Sums, value: float, level: float) -> Spread:
    """Student's interval with the error of the delta method (for least squares: the sandwich).

    The error is the root of the sum of squares of what each group adds; it has `freedom` degrees of freedom.
    """
    moved = estimator.influence(sums, total(sums))
    moved = moved[_used(sums)]
    count = len(moved)
    if count < 2:
        return Spread(np.nan, np.nan, np.nan)
    error = float(np.sqrt(count / (count - 1) * (moved**2).sum()))
    known = freedom(moved)
    reach = float(stats.t.ppf((1 + level) / 2, known)) * error
    return Spread(error, value - reach, value + reach, known)


def freedom(moved: Float[Array, " G"]) -> float:
    """How many degrees of freedom a sum of squares has: twice its squared mean over its variance (Satterthwaite 1946).

    From g normal numbers that is g - 1, and there are never more; where few groups make up most of the error, it is
    about twice as many as these.

    >>> round(freedom(np.array([1.0, -1.0] * 50 + [30.0, -30.0])), 1)
    4.6
    """
    count, squares = len(moved), (moved**2).sum()
    variance = (moved**4).sum() - squares**2 / count
    if not variance > 0:
        return count - 1.0
    return float(np.clip(2 * squares**2 / variance, 1.0, count - 1.0))


def bootstrap(estimator: Estimator, sums: Sums, level: float, resamples: int, seed: int) -> Spread:
    """The interval between quantiles of the estimates from resampled groups (percentile bootstrap)."""
    used = np.flatnonzero(_used(sums))
    if len(used) < 2:
        return Spread(np.nan, np.nan, np.nan)
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, resamples, BATCH):
        size = min(BATCH, resamples - start)
        counts = rng.multinomial(len(used), np.full(len(used), 1 / len(used)), size).astype(float)
        batch = {name: np.tensordot(counts, values[used], axes=(1, 0)) for name, values in sums.items()}
        found.append(np.atleast_1d(estimator.value(batch)))
    return percentiles(np.concatenate(found), level)


def percentiles(resampled: Array, level: float) -> Spread:
    """The interval between quantiles of many estimates; none if one of them is not a number."""
    if not np.isfinite(resampled).all():
        return Spread(np.nan, np.nan, np.nan)
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Spread(float(resampled.std(ddof=1)), float(low), float(high))


def around(value: float, resampled: Sequence[float] | Array, level: float) -> Spread:
    """Student's interval around an estimate, from the spread of a few that were made of resampled groups."""
    error = float(np.std(resampled, ddof=1))
    reach = float(stats.t.ppf((1 + level) / 2, len(resampled) - 1)) * error
    return Spread(error, value - reach, value + reach)


def _used(sums: Sums) -> Array:
    """Which groups have anything in them."""
    return np.any([np.reshape(v != 0, (len(v), -1)).any(1) for v in sums.values()], axis=0)
