"""The conjugate form of the generalized PBE, and how objectives decompose (section 4, appendices B and C)."""

from typing import NamedTuple

from gpbe import linalg
from gpbe.checks import as_floats
from gpbe.exact.objectives import as_values, bellman_error, td_error
from gpbe.exact.projections import as_projection, projected, regression
from gpbe.exact.traces import lambda_resolvent
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Numbers, PerState, Scalar, Weights, as_scalar


def expected_td_error(problem: PredictionProblem, v: Numbers, lam: Numbers = 0.0) -> PerState:
    """E[delta | S = s] = (T v - v)(s) under the target policy; for lam > 0 of the lambda-return.

    >>> from gpbe import mdp
    >>> expected_td_error(mdp.aliased(), [0.5, 0.5, 1.0, 0.0])  # A1 leads to B, A2 to C, and these to the end
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    v = as_values(problem, v)
    one_step = problem.expected_reward - linalg.apply(problem.bellman_matrix, v)
    return linalg.apply(lambda_resolvent(problem, lam), one_step)


def conjugate(problem: PredictionProblem, v: Numbers, d: Name | Numbers, h: Numbers, lam: Numbers = 0.0) -> Scalar:
    """sum_s d(s) (2 E[delta|s] h(s) - h(s)^2): the saddlepoint objective; its maximum over h in H is the PBE.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> conjugate(problem, [0.5, 0.5, 1.0, 0.0], "uniform", h=[0.5, -0.5, 0.0, 0.0])  # of the best h
    0.125
    """
    d, h = as_weighting(problem, d), as_floats(h, "h")
    return as_scalar((d * (2 * expected_td_error(problem, v, lam) * h - h**2)).sum(-1))


class Maximizer(NamedTuple):
    """The h in H that attains the PBE: the weighted regression of the expected TD error on the features of H."""

    h: PerState
    weights: Weights


def maximizing_h(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    projection: Numbers | None = None,
    lam: Numbers = 0.0,
) -> Maximizer:
    """h* = Pi_{H,d} (T v - v), and the least-norm weights that give it (C^-1 (b - A w) for the linear PBE).

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> every_function = problem.mdp.layout.identity
    >>> maximizing_h(problem, [0.5, 0.5, 1.0, 0.0], "uniform", every_function).h.round(6) + 0.0  # E[delta|s] itself
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    d, phi = as_weighting(problem, d), as_projection(problem, projection)
    weights = regression(phi, d, expected_td_error(problem, v, lam))
    return Maximizer(linalg.apply(phi, weights), weights)


class BellmanParts(NamedTuple):
    """BE = projected + penalty."""

    total: Scalar
    projected: Scalar
    penalty: Scalar


def bellman_error_parts(
    problem: PredictionProblem, v: Numbers, d: Name | Numbers, projection: Numbers | None = None
) -> BellmanParts:
    """BE(v) = PBE(v) + projection penalty, with penalty ||(I - Pi_{H,d}) (T v - v)||_d^2.

    For v in H the penalty is the paper's || T v - Pi T v ||^2; for other v only the form here makes the sum right.

    >>> from gpbe import mdp
    >>> problem = mdp.aliased()
    >>> parts = bellman_error_parts(problem, [0.5, 0.5, 1.0, 0.0], "uniform")  # TD's fixed point
    >>> round(parts.total, 6), round(parts.projected, 6), round(parts.penalty, 6)
    (0.125, 0.0, 0.125)
    """
    d = as_weighting(problem, d)
    u = expected_td_error(problem, v)
    h = projected(as_projection(problem, projection), d, u)
    seen, penalty = (d * h**2).sum(-1), (d * (u - h) ** 2).sum(-1)
    return BellmanParts(bellman_error(problem, v, d), as_scalar(seen), as_scalar(penalty))


class TDParts(NamedTuple):
    """TDE = bellman + variance."""

    total: Scalar
    bellman: Scalar
    variance: Scalar


def td_error_parts(problem: PredictionProblem, v: Numbers, d: Name | Numbers) -> TDParts:
    """TDE(v) = BE(v) + sum_s d(s) Var[R + gamma v(S') | S = s].

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    >>> parts = td_error_parts(walk, walk.values, "uniform")
    >>> round(parts.bellman, 4), round(parts.variance, 4)
    (0.0, 0.1111)
    """
    d, v = as_weighting(problem, d), as_values(problem, v)
    t, pi = problem.mdp.layout, problem.target
    outcome = t.reward + t.discount * t.there(v)
    mean = t.mean(pi, t.probability * outcome)
    variance = t.mean(pi, t.probability * (outcome - t.here(mean)) ** 2)
    return TDParts(td_error(problem, v, d), bellman_error(problem, v, d), as_scalar((d * variance).sum(-1)))
