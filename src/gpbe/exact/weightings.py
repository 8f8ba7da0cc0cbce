"""State weightings: which states an objective cares about (paper, sections 3.3 to 3.5)."""

from collections.abc import Callable
from typing import Literal, NamedTuple, cast

import numpy as np

from gpbe import linalg
from gpbe.checks import as_floats, check_interval, check_known, check_shape
from gpbe.errors import InputError
from gpbe.mdp import PredictionProblem
from gpbe.mdp.prediction import check_problem
from gpbe.shapes import Array, Numbers, PerState, Scalar, StateMatrix, as_scalar

Name = Literal["behavior", "target", "followon", "emphatic", "start", "uniform"]


class Weighting(NamedTuple):
    """A weighting of states: what it is, and how it is computed."""

    description: str
    compute: Callable[[PredictionProblem, Numbers, float | None], PerState]
    """The weights, from a problem, lam and the decay of the followon."""


def weighting(problem: PredictionProblem, name: Name, lam: Numbers = 0.0, beta: float | None = None) -> PerState:
    """A weighting d(s) by name; `WEIGHTINGS` says what each is.

    Followon and emphatic weights are left as they are defined: they do not sum to 1. With `beta` the followon
    decays by `beta` instead of the discount on every transition that does not end an episode (Hallak et al. 2016).

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5), target=[0.4, 0.6], behavior=[0.5, 0.5])
    >>> weighting(walk, "behavior") * 9
    array([1., 2., 3., 2., 1.])
    """
    check_problem(problem)
    check_known(name, WEIGHTINGS, "weighting")
    return WEIGHTINGS[name].compute(problem, lam, beta)


def as_weighting(problem: PredictionProblem, d: Name | Numbers) -> PerState:
    """A weighting from its name or as an array (..., S) of weights that are not negative and not all 0."""
    check_problem(problem)
    if isinstance(d, str):
        return weighting(problem, cast(Name, d))
    array = as_floats(d, "the weighting")
    check_shape(array, (problem.mdp.n_states,), "the weighting", "states")
    check_interval(array, "the weighting", ("state",), high=np.inf)
    if not array.any(-1).all():
        raise InputError("the weighting is 0 in every state; give at least one state a positive weight")
    return array


def mismatch(d_evaluation: PerState, d: PerState) -> Scalar:
    """The mismatch kappa(d_eval, d) = max_s d_eval(s) / d(s), infinite where d misses a state that d_eval weights.

    >>> mismatch(np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    2.0
    """
    numerator, denominator = np.broadcast_arrays(d_evaluation, d)
    missed = (denominator == 0) & (numerator > 0)
    ratio = np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)
    return as_scalar(np.where(missed, np.inf, ratio).max(-1))


def as_lambda(problem: PredictionProblem, lam: Numbers) -> Array:
    """The trace parameter in [0, 1]: a number, one for each state (on arrival), or lam(s, a, s') in full.

    Of a sparse problem the last is lam(s, a), as (S, A, 1).
    """
    array, s = as_floats(lam, "lam"), problem.mdp.n_states
    if array.ndim == 1:
        check_shape(array, (s,), "lam", "states")
    elif array.ndim > 1:
        last, axes = (1, "states, actions, 1") if problem.mdp.is_sparse else (s, "states, actions, states")
        check_shape(array, (s, problem.mdp.n_actions, last), "lam", axes)
    check_interval(array, "lam", ("state",) if array.ndim == 1 else ("state", "action", "next state")[: array.ndim])
    return array


def _followon(problem: PredictionProblem, beta: float | None) -> PerState:
    """The followon f, with `beta` for the discount if it is given."""
    if beta is None:
        inverse = problem.bellman_inverse
    else:
        check_interval(as_floats(beta, "beta"), "beta", ())
        inverse = linalg.inverse_of(problem.mdp.layout.identity - _decay_matrix(problem, beta, np.asarray(1.0)))
    return inverse.T.of(problem.behavior_distribution)


def _decay_matrix(problem: PredictionProblem, beta: float | None, lam: Array) -> StateMatrix:
    """The matrix sum_a pi P gamma lam, with beta for every discount that is not 0."""
    t = problem.mdp.layout
    decay = t.discount if beta is None else beta * (t.discount > 0)
    return t.matrix(problem.target, t.probability * decay * t.trace(lam))


def _emphatic(problem: PredictionProblem, lam: Numbers, beta: float | None) -> PerState:
    """What ETD(lam) weights states by; for lam(s, a, s') that is f - (P Lam)' f."""
    lam, followon = as_lambda(problem, lam), _followon(problem, beta)
    if lam.ndim <= 1:
        return lam * problem.behavior_distribution + (1 - lam) * followon
    kept = _decay_matrix(problem, beta, lam)
    return followon - linalg.apply(linalg.transpose(kept), followon)


WEIGHTINGS: dict[Name, Weighting] = {
    "behavior": Weighting(
        "d_b, the stationary distribution of the behavior", lambda problem, lam, beta: problem.behavior_distribution
    ),
    "target": Weighting(
        "d_pi, the stationary distribution of the target policy", lambda problem, lam, beta: problem.target_distribution
    ),
    "followon": Weighting(
        "f = (I - P')^-1 d_b, discounted visits of the target on excursions from the behavior",
        lambda problem, lam, beta: _followon(problem, beta),
    ),
    "emphatic": Weighting("m = lam d_b + (1 - lam) f, the weighting of ETD(lam)", _emphatic),
    "start": Weighting("the start distribution", lambda problem, lam, beta: problem.mdp.start),
    "uniform": Weighting(
        "the same weight for every state",
        lambda problem, lam, beta: np.full(problem.mdp.n_states, 1 / problem.mdp.n_states),
    ),
}
"""All weightings that have a name."""
