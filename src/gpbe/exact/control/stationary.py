"""Where an objective of control, or an algorithm, comes to rest: found by SciPy's optimizers from several starts."""

import numpy as np
from scipy import optimize

from gpbe.checks import check_known
from gpbe.errors import InputError
from gpbe.exact.control.kinks import kink_points, least, shortest_gradient
from gpbe.exact.control.objectives import (
    ControlProblem,
    projected_bellman_error,
    projected_bellman_gradient,
    tangent,
)
from gpbe.exact.control.operators import optimal_action_values
from gpbe.exact.control.updates import UPDATES, best_theta
from gpbe.exact.resting import Point, Starts, as_starts, distinct, relative, zero_gradients, zero_updates
from gpbe.exact.tangent import rule_of
from gpbe.shapes import Array, Numbers


def stationary_points(
    problem: ControlProblem,
    objective: str = "pbe",
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Zeros of the gradient, best first: minima by Levenberg and Marquardt's method, others by Powell's hybrid one.

    Without `starts`, it starts from 0 and from 2 K points around it at the size of the weights that fit q* best. With
    the hard max a minimum may lie where actions tie: there a mean of the gradients around is 0 (see `kinks`). Action
    values that are not linear need starts, and are not looked for at ties.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> stationary_points(coin)[0].weights.round(6)  # q*
    array([2., 1.])
    """
    check_known(objective, ("pbe", "be"), "objective of control")
    chosen = problem if objective == "pbe" else problem.change(projection="all")
    begin = first_points(problem, starts)
    if problem.function.features is None:
        return zero_gradients(lambda w: tangent(chosen, w), begin, tolerance)

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
    rule = rule_of(algorithm, UPDATES, beta)
    return zero_updates(lambda w: tangent(problem, w), first_points(problem, starts), rule, beta, tolerance)


def first_points(problem: ControlProblem, starts: Numbers | None) -> Starts:
    """The given starts; or 0, the weights that fit q* best, and 2 K points around 0 at their size."""
    k = len(problem.function.start)
    if starts is not None:
        return as_starts(starts, k)
    if problem.function.features is None:
        raise InputError("action values that are not linear need starts, a row of weights for each")
    q = optimal_action_values(problem.mdp, problem.tau).ravel()
    fit = np.linalg.lstsq(problem.x, q, rcond=None)[0]
    around = max(1.0, float(np.abs(fit).max())) * np.eye(k)
    return np.concatenate([np.zeros((1, k)), fit[None], around, -around])
