"""The control objective with lambda-returns on finite MDPs, and what the algorithms with traces do on average.

Traces that an action cuts off if it is not greedy make delta^lam_t = delta_t + gamma lam c_{t+1} delta^lam_{t+1}, with
c = 1 for a greedy action and 0 for another. Actions come from a behavior b, so with u = E[delta | s, a]

    u^lam = E[delta^lam | s, a] = (I - lam M)^-1 u,    M(s, a; s', a') = P(s' | s, a) gamma b(a' | s') c(s', a'),

and PBE(lam) = || Pi_{H,d} u^lam ||_d^2. M depends on w only through which actions are greedy: away from ties the slope
of u^lam is U = (I - lam M)^-1 du/dw. In the long run, with d the behavior's visits, traces move the weights by

    correction     w: X'D (u^lam - h) - U'D h     theta: Phi'D (u^lam - h) - beta theta
    saddlepoint    w: -U'D h                      theta: the same
    none           w: X'D u^lam
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import optimize

from gpbe.checks import as_floats, check_interval, check_shape
from gpbe.exact.control.objectives import ControlProblem, expected_td_error, visits
from gpbe.exact.control.stationary import Point, distinct, first_points, relative, resting_points
from gpbe.exact.control.updates import Update, best_theta, form_of
from gpbe.exact.projections import weighted_basis
from gpbe.shapes import Array, Numbers, Scalar, Weights, as_scalar


class LambdaErrors(NamedTuple):
    """u^lam over state-action pairs, and its slope in w."""

    value: Float[Array, " N"]
    slope: Float[Array, "N K"]


def lambda_errors(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> LambdaErrors:
    """E[delta^lam | s, a], and its derivative where no two actions are equally good.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_errors(coin, [0.0, -1.0], [[0.5, 0.5]], lam=1.0).value       # 1 + half of the times 1/2 of the same
    array([1.33333333, 1.33333333])
    """
    check_interval(np.asarray(lam, dtype=float), "lam", ())
    policy = problem.mdp.policy(behavior, "behavior")
    q = problem.values(w)
    followed = policy * np.eye(q.shape[1])[q.argmax(axis=1)]
    chain = (problem.carry[:, :, None] * followed[None]).reshape(len(problem.d), -1)
    both = np.column_stack([expected_td_error(problem, w), problem.bootstrapped(w) - problem.x])
    solved = np.linalg.solve(np.eye(len(chain)) - lam * chain, both)
    return LambdaErrors(solved[:, 0], solved[:, 1:])


def lambda_projected_error(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> Scalar:
    """PBE(lam) of w: the squared length of u^lam, projected on H.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_projected_error(coin, [2.0, 1.0], [[0.5, 0.5]], lam=0.8)  # q* is a solution for every lambda
    0.0
    """
    value, _ = lambda_errors(problem, w, behavior, lam)
    return as_scalar(((weighted_basis(problem.phi, problem.d).T @ (np.sqrt(problem.d) * value)) ** 2).sum())


def lambda_projected_gradient(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> Weights:
    """The gradient of PBE(lam), 2 U'D Pi u^lam, away from ties.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_projected_gradient(coin, [2.0, 1.0], [[0.5, 0.5]], lam=0.8)
    array([0., 0.])
    """
    value, slope = lambda_errors(problem, w, behavior, lam)
    basis, root = weighted_basis(problem.phi, problem.d), np.sqrt(problem.d)
    return 2 * (root * (basis @ (basis.T @ (root * value)))) @ slope


def expected_traced_update(
    problem: ControlProblem,
    algorithm: str,
    w: Numbers,
    theta: Numbers,
    behavior: Numbers,
    lam: float,
    beta: float = 1.0,
) -> Update:
    """The mean of an update with traces in the long run; d is that of the behavior's visits, whatever the problem's.

    `algorithm` is "qrc", "qc", "gq" or "q-learning": with lam = 0 this is `expected_update`.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> expected_traced_update(coin, "qrc", [2.0, 1.0], [0.0, 0.0], [[0.5, 0.5]], lam=0.8)  # it rests at q*
    Update(w=array([0., 0.]), theta=array([0., 0.]))
    """
    form, beta = form_of(algorithm, beta)
    problem = problem.change(weighting=visits(problem.mdp, behavior))
    w, theta = problem.weights(w), as_floats(theta, "theta")
    check_shape(theta, (problem.phi.shape[1],), "theta", "features of H")
    d, x, phi = problem.d, problem.x, problem.phi
    value, slope = lambda_errors(problem, w, behavior, lam)
    if form == "none":
        return Update((d * value) @ x, 0 * theta)
    h = phi @ theta
    d_theta = (d * (value - h)) @ phi - beta * theta
    first = (d * (value - h)) @ x if form == "correction" else 0.0
    return Update(first - (d * h) @ slope, d_theta)


def lambda_stationary_points(
    problem: ControlProblem, behavior: Numbers, lam: float, starts: Numbers | None = None, tolerance: float = 1e-8
) -> list[Point]:
    """Zeros of the gradient of PBE(lam), best first, from the starts of `stationary_points`.

    Where actions tie PBE(lam) jumps, for another action cuts traces off: only points around which it is smooth are
    found. Theta is that of the h which attains the maximum.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> point = lambda_stationary_points(coin, [[0.5, 0.5]], lam=0.8, starts=[[1.0, 0.0]])[0]
    >>> point.weights.round(6), point.error < 1e-20
    (array([2., 1.]), True)
    """
    begin = first_points(problem, starts)

    def slope(w: Array) -> Array:
        return lambda_projected_gradient(problem, w, behavior, lam)

    scale = max(float(np.linalg.norm(slope(w))) for w in begin) or 1.0

    def point(w: Array) -> Point:
        theta = best_theta(problem, w, errors=lambda_errors(problem, w, behavior, lam).value)
        error = float(lambda_projected_error(problem, w, behavior, lam))
        return Point(w, theta, error, relative(slope(w), scale))

    basis, root = weighted_basis(problem.phi, problem.d), np.sqrt(problem.d)

    def errors(w: Array) -> Array:
        return basis.T @ (root * lambda_errors(problem, w, behavior, lam).value)

    def slopes(w: Array) -> Array:
        return basis.T @ (root[:, None] * lambda_errors(problem, w, behavior, lam).slope)

    minima = [
        optimize.least_squares(errors, w, slopes, xtol=1e-15, ftol=1e-15, gtol=1e-15).x  # pyright: ignore
        for w in begin
    ]
    saddles = [optimize.root(slope, w, tol=1e-13).x for w in begin]
    return distinct([point(w) for w in (*minima, *saddles)], tolerance)


def lambda_fixed_points(
    problem: ControlProblem,
    algorithm: str,
    behavior: Numbers,
    lam: float,
    beta: float = 1.0,
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Weights (w, theta) at which an algorithm with traces moves neither in the long run: `fixed_points` with lambda.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_fixed_points(coin, "qrc", [[0.5, 0.5]], lam=0.8, starts=[[1.0, 0.0]])[0].weights.round(6)
    array([2., 1.])
    """
    form, beta = form_of(algorithm, beta)
    problem = problem.change(weighting=visits(problem.mdp, behavior))

    def theta(w: Array) -> Array:
        if form == "none":
            return np.zeros(problem.phi.shape[1])
        return best_theta(problem, w, beta, lambda_errors(problem, w, behavior, lam).value)

    def move(w: Array) -> Array:
        return expected_traced_update(problem, algorithm, w, theta(w), behavior, lam, beta).w

    def error(w: Array) -> float:
        return float(lambda_projected_error(problem, w, behavior, lam))

    return resting_points(first_points(problem, starts), move, theta, error, tolerance)
