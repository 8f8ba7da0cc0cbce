"""Stationary points of the hard max on a kink, where actions tie.

While each state's best action stays the same the PBE is a quadratic function of w, and the objective is made of such
pieces. Often its minimum lies where pieces meet. No gradient is 0 there, but a mean of the gradients of the pieces
is, which is what stationary means for such functions (Clarke 1983); on such a point an algorithm goes back and forth.

Which actions tie is read off mellowmax, whose minima are followed as tau falls: the soft-greedy probabilities of those
that will tie stay away from 0. What is left is a least-squares problem on the w that make them tie.
"""

import numpy as np
from jaxtyping import Bool
from scipy import linalg, optimize

from gpbe.exact.control.objectives import ControlProblem, expected_td_error, tangent
from gpbe.exact.control.operators import greedy
from gpbe.exact.projections import weighted_basis
from gpbe.shapes import Array, Weights

TAUS = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
"""Times the size of the values."""
SHARE = 1e-3
"""An action may tie if mellowmax chooses it with this probability; whether it does is checked in the end."""

Ties = Bool[Array, "S A"]


def kink_points(problem: ControlProblem, start: Weights, size: float) -> list[Weights]:
    """Where following mellowmax from `start` may lead, if there actions tie."""
    w, found = start, {}
    for tau in TAUS:
        soft = problem.change(tau=tau * size)
        w = _descend(soft, w, size)
        ties = greedy(problem.values(w), soft.tau).weights > SHARE
        if (ties.sum(1) > 1).any() and ties.tobytes() not in found:
            found[ties.tobytes()] = on_kink(problem, ties)
    return list(found.values())


def _descend(problem: ControlProblem, w: Weights, size: float) -> Weights:
    """A quasi-Newton method, which learns the curvature of a soft kink; in units of the values' size."""
    onto = weighted_basis(problem.phi, problem.d).T * np.sqrt(problem.d) / size

    def error(z: Array) -> tuple[float, Array]:
        residual = onto @ expected_td_error(problem, size * z)
        return float(residual @ residual), 2 * size * (residual @ onto) @ (problem.bootstrapped(size * z) - problem.x)

    return size * optimize.minimize(error, w / size, jac=True, method="BFGS", options={"gtol": 1e-12}).x


def least(problem: ControlProblem, w: Weights) -> Weights:
    """A minimum of the PBE near w, by Levenberg and Marquardt's method in SciPy's trust-region form."""
    onto = weighted_basis(problem.phi, problem.d).T * np.sqrt(problem.d)
    return optimize.least_squares(
        lambda w: onto @ expected_td_error(problem, w),
        w,
        lambda w: onto @ (problem.bootstrapped(w) - problem.x),  # pyright: ignore
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    ).x


def on_kink(problem: ControlProblem, ties: Ties) -> Weights:
    """The least PBE among the w whose actions tie as told, if a tied action is the best."""
    rows = problem.x.reshape(*ties.shape, -1)
    first = ties.argmax(1)
    chosen = rows[np.arange(len(ties)), first]
    free = linalg.null_space((rows - chosen[:, None])[ties], rcond=1e-10)
    onto = weighted_basis(problem.phi, problem.d).T * np.sqrt(problem.d)
    slope = onto @ (problem.carry @ chosen - problem.x)
    return free @ np.linalg.lstsq(slope @ free, -onto @ problem.reward, rcond=1e-12)[0]


def shortest_gradient(problem: ControlProblem, w: Weights, size: float) -> Weights:
    """The shortest mean of the gradients of the pieces that meet at w; off a kink, the gradient itself.

    The gradient is 2 p'(carry V - X), with p the projected error weighted by d and V the features of each state's best
    action; where actions tie V is any mean of theirs.
    """
    q = problem.values(w)
    ties = q >= q.max(1, keepdims=True) - 1e-9 * size
    p = weighted_basis(problem.phi, problem.d) @ tangent(problem, w).residual() * np.sqrt(problem.d)
    toward = (p @ problem.carry)[:, None, None] * problem.x.reshape(*q.shape, -1)
    states = np.nonzero(ties)[0]
    columns, rest = toward[ties].T, p @ problem.x
    # Probabilities of the tied actions, not negative and adding up to 1 in each state: the latter as heavy rows.
    heavy = 1e3 * max(1.0, float(np.abs(columns).max()))
    sums = heavy * (states == np.arange(len(q))[:, None])
    share, _ = optimize.nnls(np.concatenate([columns, sums]), np.concatenate([rest, np.full(len(q), heavy)]))
    share /= np.bincount(states, share)[states]
    return 2 * (columns @ share - rest)
