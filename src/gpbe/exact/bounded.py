"""A small convex solver: the maximum of a concave quadratic or linear function over |G y| <= 1.

Mehrotra's predictor and corrector (Nocedal and Wright 2006, section 16.6) on the two-sided constraint. A step costs
one Cholesky factorization of the size of y, and some twenty steps reach rounding errors.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from gpbe.shapes import Array

STEPS = 100
PRECISE = 1e-13
"""The mean product of slack and multiplier at which the solver stops, the largest entry of a being 1."""
BACK = 0.999
"""How much of the way to the boundary a step may go."""


class Bounded(NamedTuple):
    """A maximizer within the constraints, and the multipliers that say which of them hold it back."""

    y: Float[Array, " M"]
    multipliers: Float[Array, " N"]
    """Positive at the bound 1, negative at the bound -1: a - curvature y = G' multipliers."""


class _Point(NamedTuple):
    y: Float[Array, " M"]
    multipliers: Float[Array, "2 N"]
    """The multipliers of G y <= 1 and of -G y <= 1, both positive."""


def bounded_maximum(G: Float[Array, "N M"], a: Float[Array, " M"], curvature: float = 0.0) -> Bounded:
    """Maximize a.y - curvature/2 y.y over |G y| <= 1, where the columns of G are independent.

    >>> bounded_maximum(np.eye(2), np.array([3.0, 0.5]), curvature=1.0).y.round(6)
    array([1. , 0.5])
    """
    size = np.abs(a).max(initial=0.0)
    if size == 0 or np.abs(G @ a).max() <= curvature:  # nothing holds it back
        return Bounded(a / curvature if size else a, np.zeros(len(G)))
    a, curvature = a / size, curvature / size
    point = _Point(np.zeros(len(a)), np.ones((2, len(G))))
    for _ in range(STEPS):
        slack = _slack(G, point.y)
        if slack.min() <= 0 or (slack * point.multipliers).mean() < PRECISE:
            break
        try:
            point = _step(G, a, curvature, point, slack)
        except LinAlgError:  # as near to the boundary as rounding allows
            break
    above, below = point.multipliers * size
    return Bounded(point.y / max(1.0, np.abs(G @ point.y).max()), above - below)


def _slack(G: Array, y: Array) -> Float[Array, "2 N"]:
    """The distance of G y to its upper bound 1 and to its lower bound -1."""
    return np.stack([1 - G @ y, 1 + G @ y])


def _step(G: Array, a: Array, curvature: float, point: _Point, slack: Float[Array, "2 N"]) -> _Point:
    """One step of Newton's method on the optimality conditions, towards a point on the central path."""
    y, multipliers = point
    left = a - curvature * y - G.T @ (multipliers[0] - multipliers[1])
    ratio = multipliers / slack
    factor = cho_factor(curvature * np.eye(len(a)) + G.T @ (ratio.sum(0)[:, None] * G))

    def direction(aim: Array) -> tuple[Array, Array, Array]:
        """The change of slacks, multipliers and y to where slack times multiplier is `aim`, to first order."""
        shift = (aim - slack * multipliers) / slack
        d_y = cho_solve(factor, left - G.T @ (shift[0] - shift[1]))
        away = G @ d_y
        return np.stack([-away, away]), shift + ratio * np.stack([away, -away]), d_y

    d_slack, d_multipliers, _ = direction(np.zeros_like(slack))
    gap = (slack * multipliers).mean()
    length = min(1.0, _reach(slack, d_slack), _reach(multipliers, d_multipliers))
    ahead = ((slack + length * d_slack) * (multipliers + length * d_multipliers)).mean()
    d_slack, d_multipliers, d_y = direction((ahead / gap) ** 3 * gap - d_slack * d_multipliers)
    # One length for both: with curvature they are coupled.
    length = min(1.0, BACK * _reach(slack, d_slack), BACK * _reach(multipliers, d_multipliers))
    return _Point(y + length * d_y, multipliers + length * d_multipliers)


def _reach(positive: Array, change: Array) -> float:
    """The largest step along `change` that keeps every entry of `positive` from falling below 0."""
    falls = change < 0
    return float((-positive[falls] / change[falls]).min(initial=np.inf))
