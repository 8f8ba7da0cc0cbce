"""The constants in the bounds: how much a Bellman operator shrinks, and how far it leads out of a function set."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.sparse.csgraph import connected_components

from gpbe import linalg
from gpbe.exact.bounds.bound import Truth, as_scalar, as_truth
from gpbe.exact.bounds.farthest import farthest
from gpbe.exact.fixed_points import solution
from gpbe.exact.identities import expected_td_error
from gpbe.exact.projections import as_projection, norm, operator_norm, projected, projection_matrix, weighted_basis
from gpbe.exact.traces import carried
from gpbe.exact.weightings import Name, as_weighting, weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Features, Numbers, Operator, PerState, Scalar, Sparse, StateMatrix


class Errors(NamedTuple):
    """How far the solution of an objective, and the best function in F, are from v_pi."""

    values: PerState
    best: PerState
    """Pi_{F,d} v_pi."""
    value: Scalar
    """|| v - v_pi ||_d."""
    approximation: Scalar
    """|| Pi_{F,d} v_pi - v_pi ||_d."""
    size: Scalar
    """|| v_pi ||_d."""


def solution_errors(problem: PredictionProblem, objective: str, d: PerState, **options) -> Errors:
    """The errors of the `solution` of an objective."""
    v = solution(problem, objective, d, **options).values
    best = projected(problem.features, d, problem.values)
    return Errors(
        v,
        best,
        as_scalar(norm(v - problem.values, d)),
        as_scalar(norm(best - problem.values, d)),
        as_scalar(norm(problem.values, d)),
    )


def lambda_transition(problem: PredictionProblem, lam: Numbers = 0.0) -> StateMatrix | Operator:
    """P^lam = (I - P Lam)^-1 (P - P Lam), the linear part of the lambda-return's Bellman operator: P for lam 0."""
    p, carry = problem.discounted_transition, carried(problem, lam)
    if not linalg.frobenius(carry).any():
        return p
    return linalg.compose(linalg.inverse_of(problem.mdp.layout.identity - carry).as_operator(), p - carry)


def weighting_for(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> PerState:
    """A weighting as ETD(lam) means it: "emphatic" depends on lam."""
    if isinstance(d, str) and d == "emphatic":
        return weighting(problem, "emphatic", lam)
    return as_weighting(problem, d)


def transition_constant(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> Scalar:
    """c_d = || P_{pi,gamma} ||_d, the discounted transition constant (paper, section 6.1); of P^lam for lam > 0.

    >>> from gpbe import mdp
    >>> round(transition_constant(mdp.baird(), "behavior"), 4)  # 0.99 times the root of 7
    2.6193
    """
    return as_scalar(operator_norm(lambda_transition(problem, lam), weighting_for(problem, d, lam)))


def operator_constant(
    problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0, differences: Numbers | None = None
) -> Scalar:
    """c_{F,d} = max || Pi_{F,d} P v ||_d / || v ||_d over v in F, the operator constant (paper, section 6.1).

    For a subset of F give what its `differences` v1 - v2 span, (S, anything). Infinite if some v that d does not
    see leads to something that it does.

    >>> from gpbe import mdp
    >>> round(operator_constant(mdp.kolter(p=0.6), "behavior"), 4)
    0.995
    """
    d = weighting_for(problem, d, lam)
    onto = linalg.transpose(linalg.scaled(np.sqrt(d), weighted_basis(problem.features, d)))
    directions = as_projection(problem, differences)
    applied, bounded = _per_unit(linalg.compose(onto, lambda_transition(problem, lam)), directions, d)
    return as_scalar(np.where(bounded, np.linalg.norm(applied, 2, (-2, -1)), np.inf))


def largest_discount(problem: PredictionProblem) -> Scalar:
    """The largest gamma(s, a, s') of a transition that the target policy can make."""
    return as_scalar(_discounts(problem)[1])


def smallest_discount(problem: PredictionProblem) -> Scalar:
    """The smallest gamma(s, a, s') of a transition that the target policy can make."""
    return as_scalar(_discounts(problem)[0])


def _discounts(problem: PredictionProblem) -> tuple[Array, Array]:
    t = problem.mdp.layout
    return t.span(t.discount, t.taken(problem.target) * t.probability > 0)


def every_link_discounted(problem: PredictionProblem) -> Truth:
    """Whether c_{d_pi} < 1, read off the graph alone.

    Link two states that d_pi weights if they can have the same successor. c_{d_pi} is below 1 if and only if every
    class of linked states has a transition with a discount below 1: D^1/2 P D^-1/2 falls into one block a class; a
    block without such a discount has the singular value 1, and one with it a smaller one (Perron and Frobenius).

    >>> from gpbe import mdp
    >>> every_link_discounted(mdp.aliased())  # A1 leads to B only, with discount 1, and no other state does
    False
    """
    problem.mdp.dense("the graph of links")
    d = problem.target_distribution
    moves = problem.mdp.transition_under(problem.target)
    moves, discounted = np.broadcast_arrays(moves, problem.discounted_transition)
    out = np.empty(moves.shape[:-2], dtype=bool)
    for i in np.ndindex(out.shape):
        seen = np.flatnonzero(np.broadcast_to(d, moves.shape[:-1])[i] > 0)
        p, q = moves[i][np.ix_(seen, seen)], discounted[i][np.ix_(seen, seen)]
        pairs = Sparse((p > 0).astype(float) @ (p > 0).astype(float).T)
        count, label = connected_components(pairs, directed=False)
        out[i] = len(set(label[(q < p * (1 - 1e-12)).any(1)])) == count
    return as_truth(out)


def approximation_error(
    problem: PredictionProblem, v: Numbers, d: Name | Numbers, projection: Numbers | None = None
) -> Scalar:
    """ApproxError(H, v) = min_{h in H} || T v - v - h ||_d (paper, section 6.2).

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> round(approximation_error(problem, [0.5, 0.5, 1.0, 0.0], "uniform") ** 2, 6)  # all of the BE; the PBE is 0
    0.125
    """
    d = as_weighting(problem, d)
    u = expected_td_error(problem, v)
    outside = u - projected(as_projection(problem, projection), d, u)
    return as_scalar(np.sqrt((d * outside**2).sum(-1)))


def worst_approximation_error(
    problem: PredictionProblem,
    d: Name | Numbers,
    projection: Numbers | None = None,
    radius: Numbers | None = None,
) -> Scalar:
    """ApproxError(H) = max of `approximation_error` over v in F with || v ||_d <= radius, exactly.

    Without a radius, F being a linear space, this is infinite unless (I - Pi_{H,d}) (I - P) maps all of F to 0.

    >>> from gpbe import mdp
    >>> worst_approximation_error(mdp.kolter(p=0.6), "behavior")  # over all of F
    inf
    >>> round(worst_approximation_error(mdp.kolter(p=0.6), "behavior", radius=1.0), 4)
    0.0529
    """
    problem.mdp.dense("the worst approximation error")
    d = as_weighting(problem, d)
    pi = projection_matrix(as_projection(problem, projection), d)
    outside = np.sqrt(d)[..., None] * (np.eye(problem.mdp.n_states) - pi)
    center = (outside @ problem.expected_reward[..., None])[..., 0]
    operator, bounded = _per_unit(-outside @ problem.bellman_matrix, problem.features, d)
    return as_scalar(np.where(bounded, farthest(center, operator, radius), np.inf))


def _per_unit(
    operator: Float[Array, "... M S"], directions: Features, d: PerState
) -> tuple[Float[Array, "... M R"], Truth]:
    """The operator on span(directions), in coordinates in which || v ||_d is the Euclidean length of v.

    And whether it is bounded there: not if it keeps something of a v of length 0.
    """
    scaled = linalg.triangle(linalg.scaled(np.sqrt(d), directions))
    inverse = np.linalg.pinv(scaled, rcond=1e-12)
    applied = linalg.times(operator, directions)
    unseen = np.abs(applied - applied @ inverse @ scaled).max((-1, -2))
    return applied @ inverse, as_truth(unseen <= 1e-9 * np.abs(applied).max((-1, -2)))
