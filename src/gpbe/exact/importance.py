"""Bias and variance of importance sampling in closed form, from second moments of weighted returns.

With the actions of b and rho = pi / b, one more step multiplies a squared weighted return by rho^2: its mean solves a
linear system with pi^2 / b in place of pi. It is infinite where that system has no solution that is not negative: where
ratios grow faster than discounts and ends shrink them (Jiang and Li 2016 for doubly robust; Precup et al. 2000).
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import eye_array

from gpbe import linalg
from gpbe.checks import as_floats, check_at_least, check_shape
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Computed, Numbers, PerState, Scalar, Sparse, StateMatrix, as_scalar


class Moments(NamedTuple):
    """What an estimate of the value where episodes begin is off by, on average and in spread."""

    bias: Scalar
    variance: Scalar


def importance_sampling(
    problem: PredictionProblem, episodes: int = 1, action_values: Numbers | None = None
) -> dict[str, Moments]:
    """Bias and variance of "is", "pdis", "dr" and "wis" from so many whole episodes of the behavior.

    The first three have no bias. Those of weighted importance sampling are the leading terms in 1 / episodes. `dr` is
    around `action_values` (S, A), or around 0 if left out, where it is `pdis`.

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5), target=[0.4, 0.6], behavior=[0.5, 0.5])
    >>> found = importance_sampling(walk, episodes=100)
    >>> found["pdis"].variance <= found["is"].variance
    True
    """
    check_at_least(1, episodes=episodes)
    m = problem.mdp
    start, value = m.start, as_scalar((m.start * problem.values).sum(-1))
    q = np.zeros((m.n_states, m.n_actions)) if action_values is None else as_floats(action_values, "action_values")
    check_shape(q, (m.n_states, m.n_actions), "action_values", "states, actions")

    def spread(second: PerState) -> Scalar:
        return as_scalar(((start * second).sum(-1) - np.square(value)) / episodes)

    ratio, first, second = (np.asarray((start * each).sum(-1)) for each in trajectory_moments(problem))
    bounded = np.isfinite(ratio) & np.isfinite(second)
    ratio, first, second = (np.where(bounded, each, 0.0) for each in (ratio, first, second))

    def whole(moment: Computed) -> Scalar:
        return as_scalar(np.where(bounded, np.asarray(moment) / episodes, np.inf))

    return {
        "is": Moments(0.0, whole(second - np.square(value))),
        "pdis": Moments(0.0, spread(decision_moment(problem, 0 * q))),
        "dr": Moments(0.0, spread(decision_moment(problem, q))),
        "wis": Moments(whole(value * ratio - first), whole(second - 2 * value * first + np.square(value) * ratio)),
    }


def decision_moment(problem: PredictionProblem, q: Array) -> PerState:
    """The mean of X^2 in each state, X = v(s) + rho (R + gamma X' - q(s, a)) with v the target's mean of q."""
    m, v = problem.mdp.layout, problem.values
    base = (problem.target * q).sum(-1)
    excess = m.reward - m.taken(q)
    squares, crossed = excess**2, 2 * excess * m.discount * m.there(v)
    constant = base**2 + 2 * base * (v - base) + _mean(problem, squares + crossed)
    return _solve(_operator(problem, m.discount**2), constant)


def trajectory_moments(problem: PredictionProblem) -> tuple[PerState, PerState, PerState]:
    """The means of W^2, W^2 G and W^2 G^2 in each state: W the product of an episode's ratios, G its return."""
    m = problem.mdp.layout
    goes_on = (m.discount > 0).astype(float)
    alive = _operator(problem, goes_on)
    ratio = _solve(alive, _mean(problem, 1 - goes_on))
    following = np.where(goes_on > 0, m.there(ratio), 1.0)
    first = _solve(_operator(problem, m.discount), _mean(problem, m.reward * following))
    crossed = 2 * m.reward * m.discount * m.there(first)
    second = _solve(_operator(problem, m.discount**2), _mean(problem, m.reward**2 * following + crossed))
    infinite = ~np.isfinite(ratio)
    return ratio, np.where(infinite, np.inf, first), np.where(infinite, np.inf, second)


def _mean(problem: PredictionProblem, values: Array) -> PerState:
    """The mean of rho^2 times `values`, one for each transition, over the behavior's actions and where they lead."""
    with np.errstate(invalid="ignore"):
        return problem.mdp.layout.mean(problem.target * problem.ratios, problem.mdp.layout.probability * values)


def _operator(problem: PredictionProblem, values: Array) -> StateMatrix:
    """The same, kept apart by where it leads: (S, S)."""
    return problem.mdp.layout.matrix(problem.target * problem.ratios, problem.mdp.layout.probability * values)


def _solve(operator: StateMatrix, constant: PerState) -> PerState:
    """The sum of operator^t constant; infinite if it grows."""
    if not linalg.is_dense(operator):
        if not (np.isfinite(constant).all() and linalg.sums_up(operator)):
            return np.full_like(constant, np.inf)
        return linalg.inverse_of(Sparse(eye_array(len(constant), format="csr")) - operator).of(constant)
    radius = np.abs(np.linalg.eigvals(operator)).max(-1)[..., None]
    grows = (radius >= 1 - 1e-12) | ~np.isfinite(constant).all(-1, keepdims=True)
    matrix = np.eye(operator.shape[-1]) - np.where(grows[..., None], 0.0, operator)
    return np.where(grows, np.inf, linalg.solve(matrix, np.where(grows, 0.0, constant)))
