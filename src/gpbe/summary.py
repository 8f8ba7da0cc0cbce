"""Runs in a few numbers: means with standard errors, and how many points the last quarter of a curve has."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gpbe.shapes import Array, Numbers
from gpbe.wording import counted

QUARTER = 0.25
"""The paper sums a run up by the mean over the last quarter of its steps."""


def points_in_last(points: int, fraction: float = QUARTER) -> int:
    """How many of a curve's points are in its last part: to the nearest number (a half to the even one), never none.

    >>> [points_in_last(n) for n in (1, 4, 6, 7, 200)]
    [1, 1, 2, 2, 50]
    """
    return max(1, round(points * fraction))


def mean_of_last(curves: Array, fraction: float = QUARTER, points: Array | None = None) -> Array:
    """Means over the last part of curves, along the last axis; of curves that are shorter, `points` tells how long.

    >>> mean_of_last(np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 5.0, np.nan, np.nan]]), 0.5, np.array([4, 2]))
    array([3.5, 5. ])
    """
    if points is None:
        return curves[..., -points_in_last(curves.shape[-1], fraction) :].mean(-1)
    rows = zip(curves.reshape(-1, curves.shape[-1]), points.ravel().tolist(), strict=True)
    return np.stack([mean_of_last(curve[None, :n], fraction) for curve, n in rows]).reshape(points.shape)


def standard_error(values: Numbers, axis: int = 0) -> Array:
    """The standard error of the mean along an axis, s / sqrt(n); NaN for a single value.

    >>> float(standard_error([1.0, 3.0]))
    1.0
    """
    sample = np.moveaxis(np.asarray(values, dtype=float), axis, 0)
    if len(sample) == 1:
        return np.full(sample.shape[1:], np.nan)
    with np.errstate(invalid="ignore"):
        # Shifted by a value, so that samples of one and the same number have a spread of exactly 0.
        return np.asarray((sample - sample[0]).std(0, ddof=1) / np.sqrt(len(sample)))


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Mean over the last axis and its standard error (NaN for one run, or where a run is infinite)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.asarray(scores, dtype=float).mean(-1)), standard_error(scores, -1)


def sizes(diverged_at: Array, steps: Array, unit: str) -> str:
    """How much was learned, in words: settings, runs and steps, and how many runs diverged.

    >>> sizes(np.array([[-1, 7, -1], [-1, -1, -1]]), np.array([500, 1000]), "step")
    '2 settings of 3 runs, 1,000 steps, 1 diverged'
    """
    runs = counted(diverged_at.shape[-1], "run")
    swept = f"{counted(diverged_at.shape[0], 'setting')} of " if diverged_at.ndim > 1 else ""
    lost = int((diverged_at >= 0).sum())
    return f"{swept}{runs}, {counted(int(steps[-1]), unit)}{f', {lost:,} diverged' if lost else ''}"


def best_of(scores: Array, choose: Callable[[Any], Any]) -> str:
    """The mean over runs, of the best setting: `choose` is `min` or `max`. NaN counts as no result.

    >>> best_of(np.array([[0.25, 0.75], [2.0, np.inf]]), min), best_of(np.array([2.0, 4.0]), max)
    ('0.5 at best', '3')
    """
    with np.errstate(over="ignore"):
        means = np.atleast_1d(np.asarray(scores, dtype=float).mean(-1))
    known = means[~np.isnan(means)]
    said = f"{choose(known):.4g}" if len(known) else "unknown"
    return f"{said} at best" if np.ndim(scores) > 1 else said
