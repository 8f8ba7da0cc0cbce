"""Where an objective of control, or an algorithm, comes to rest: found by SciPy's optimizers from several starts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import optimize

from gpbe.checks import as_floats, check_known
from gpbe.errors import InputError
from gpbe.exact.control.kinks import kink_points, least, shortest_gradient
from gpbe.exact.control.objectives import ControlProblem, projected_bellman_error, projected_bellman_gradient
from gpbe.exact.control.operators import optimal_action_values
from gpbe.exact.control.updates import best_theta, expected_update, form_of
from gpbe.shapes import Array, Numbers, Weights

Starts = Float[Array, "n K"]


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


def stationary_points(
    problem: ControlProblem,
    objective: str = "pbe",
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Zeros of the gradient, best first: minima by Levenberg and Marquardt's method, others by Powell's hybrid one.

    Without `starts`, it starts from 0 and from 2 K points around it at the size of the weights that fit q* best. With
    the hard max a minimum may lie where actions tie: there a mean of the gradients around is 0 (see `kinks`).

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> stationary_points(coin)[0].weights.round(6)  # q*
    array([2., 1.])
    """
    check_known(objective, ("pbe", "be"), "objective of control")
    chosen = problem if objective == "pbe" else problem.change(projection="all")
    begin = first_points(problem, starts)

    def slope(w: Array) -> Array:
        return projected_bellman_gradient(chosen, w)

    scale = max(float(np.linalg.norm(slope(w))) for w in begin) or 1.0
    minima = [least(chosen, w) for w in begin]
    best = min(minima, key=lambda w: float(projected_bellman_error(chosen, w)))
    size = max(float(np.abs(problem.x @ best).max()), float(np.abs(problem.reward).max())) or 1.0

    def point(w: Array) -> Point:
        smooth, ties = slope(w), problem.tau == 0
        gradient = min(smooth, shortest_gradient(chosen, w, size), key=np.linalg.norm) if ties else smooth
        return Point(w, best_theta(chosen, w), float(projected_bellman_error(chosen, w)), relative(gradient, scale))

    found = [point(w) for w in minima]
    if problem.tau == 0:  # from where no smooth minimum was found
        stuck = [w for w, p in zip(begin, found, strict=True) if p.residual >= tolerance]
        found += [point(w) for start in stuck for w in kink_points(chosen, start, size)]
    found += [point(optimize.root(slope, w, tol=1e-13).x) for w in begin]
    return distinct(found, tolerance)


def fixed_points(
    problem: ControlProblem,
    algorithm: str,
    beta: float = 1.0,
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Weights (w, theta) at which an algorithm's expected update is 0 in both; without h, theta is 0.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> fixed_points(coin, "qrc")[0].weights.round(6)  # q*
    array([2., 1.])
    """
    form, beta = form_of(algorithm, beta)

    def theta(w: Array) -> Array:
        return best_theta(problem, w, beta) if form != "none" else np.zeros(problem.phi.shape[1])

    def move(w: Array) -> Array:
        return expected_update(problem, algorithm, w, theta(w), beta).w

    def error(w: Array) -> float:
        return float(projected_bellman_error(problem, w))

    return resting_points(first_points(problem, starts), move, theta, error, tolerance)


def resting_points(
    begin: Starts,
    move: Callable[[Array], Array],
    theta: Callable[[Array], Array],
    error: Callable[[Array], float],
    tolerance: float,
) -> list[Point]:
    """The weights w that do not move, with the theta that does not move there either, by Powell's hybrid method."""
    scale = max(float(np.linalg.norm(move(w))) for w in begin) or 1.0
    ends = [optimize.root(move, w, tol=1e-13).x for w in begin]
    return distinct([Point(w, theta(w), error(w), relative(move(w), scale)) for w in ends], tolerance)


def first_points(problem: ControlProblem, starts: Numbers | None) -> Starts:
    """The given starts; or 0, the weights that fit q* best, and 2 K points around 0 at their size."""
    k = problem.x.shape[1]
    if starts is not None:
        array = np.atleast_2d(as_floats(starts, "starts"))
        if array.ndim != 2 or array.shape[1] != k:
            raise InputError(f"starts has shape {array.shape}; it should be (starts, {k}), a row of weights for each")
        return array
    q = optimal_action_values(problem.mdp, problem.tau).ravel()
    fit = np.linalg.lstsq(problem.x, q, rcond=None)[0]
    around = max(1.0, float(np.abs(fit).max())) * np.eye(k)
    return np.concatenate([np.zeros((1, k)), fit[None], around, -around])


def relative(vector: Array, scale: float) -> float:
    """How long a vector is beside others."""
    return float(np.linalg.norm(vector)) / scale


def distinct(points: list[Point], tolerance: float) -> list[Point]:
    """Those that are stationary, each once."""
    kept: list[Point] = []
    for p in sorted((p for p in points if p.residual < tolerance), key=lambda p: (p.error, p.residual)):
        if all(np.abs(p.weights - o.weights).max() > 1e-5 * (1 + np.abs(o.weights).max()) for o in kept):
            kept.append(p)
    return kept
