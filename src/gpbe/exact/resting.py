"""Where a projected Bellman error, or an algorithm, comes to rest: found by SciPy's optimizers from several starts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import optimize

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.exact.projections import weighted_basis
from gpbe.exact.tangent import Rule, Tangent
from gpbe.shapes import Array, Numbers, Weights

Starts = Float[Array, "n K"]
At = Callable[[Weights], Tangent]
"""What an error looks like at some weights."""


class Point(NamedTuple):
    """Weights at which something is 0, and how nearly."""

    weights: Weights
    theta: Weights
    """Weights of h, at their own optimum."""
    error: float
    """The PBE there (the BE, if that was asked for)."""
    residual: float
    """Length of the gradient, or of the update, relative to what it is at the starts; where actions tie, that of the
    shortest mean of the gradients around."""


def zero_gradients(at: At, begin: Starts, tolerance: float, huber: float = np.inf) -> list[Point]:
    """Zeros of the gradient, best first: minima from each start, and what Powell's hybrid method leads to."""

    def slope(w: Array) -> Array:
        return at(w).gradient(huber)

    def point(w: Array) -> Point:
        t = at(w)
        return Point(w, t.best(huber).theta, t.error(huber), relative(t.gradient(huber), scale))

    scale = max(float(np.linalg.norm(slope(w))) for w in begin) or 1.0
    minima = [_minimum(at, w, huber) for w in begin]
    others = [optimize.root(slope, w, tol=1e-13).x for w in begin]
    return distinct([point(w) for w in (*minima, *others)], tolerance)


def _minimum(at: At, w: Weights, huber: float) -> Weights:
    """A minimum near w: Levenberg and Marquardt's method, in SciPy's trust-region form, if the PBE is a sum of squares
    in coordinates of an H that does not move; a quasi-Newton method otherwise, with Powell's for the last digits.
    """
    first = at(w)
    if np.isinf(huber) and first.bend is None:
        onto = weighted_basis(first.features, first.d).T * np.sqrt(first.d)
        return optimize.least_squares(
            lambda w: onto @ at(w).errors,
            w,
            lambda w: onto @ at(w).slope,  # pyright: ignore
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        ).x

    def both(w: Array) -> tuple[float, Array]:
        t = at(w)
        return t.error(huber), t.gradient(huber)

    near = optimize.minimize(both, w, jac=True, method="BFGS", options={"gtol": 1e-12}).x
    exact = optimize.root(lambda w: at(w).gradient(huber), near, tol=1e-13).x
    closer = np.abs(exact - near).max() < 1e-3 * (1 + np.abs(near).max())
    return exact if closer and at(exact).error(huber) <= at(near).error(huber) * (1 + 1e-9) + 1e-15 else near


def zero_updates(at: At, begin: Starts, rule: Rule, beta: float, tolerance: float) -> list[Point]:
    """Weights w that an algorithm does not move, with the theta that it does not move there either."""

    def move(w: Array) -> Array:
        t = at(w)
        return t.update(rule, t.resting_theta(rule, beta), beta).w

    scale = max(float(np.linalg.norm(move(w))) for w in begin) or 1.0
    ends = [optimize.root(move, w, tol=1e-13).x for w in begin]
    points = [Point(w, at(w).resting_theta(rule, beta), at(w).error(), relative(move(w), scale)) for w in ends]
    return distinct(points, tolerance)


def as_starts(starts: Numbers, size: int) -> Starts:
    """Weights to start from, a row for each."""
    array = np.atleast_2d(as_floats(starts, "starts"))
    if array.ndim != 2 or array.shape[1] != size:
        raise InputError(f"starts has shape {array.shape}; it should be (starts, {size}), a row of weights for each")
    return array


def relative(vector: Array, scale: float) -> float:
    """The length of a vector as a multiple of `scale`."""
    return float(np.linalg.norm(vector)) / scale


def distinct(points: list[Point], tolerance: float) -> list[Point]:
    """Those that are stationary, each once."""
    kept: list[Point] = []
    for p in sorted((p for p in points if p.residual < tolerance), key=lambda p: (p.error, p.residual)):
        if all(np.abs(p.weights - o.weights).max() > 1e-5 * (1 + np.abs(o.weights).max()) for o in kept):
            kept.append(p)
    return kept
