"""Eligibility traces in expectation: A, b and C of every linear algorithm, and the mean trace in each state."""

from typing import NamedTuple

from jaxtyping import Float

from gpbe import linalg
from gpbe.exact.weightings import Name, as_lambda, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Features, Numbers, Operator, PerState, PerStateAction, StateMatrix


class LinearSystem(NamedTuple):
    """A, b and C of the linear PBE, ||b - A w||^2 in the norm of C^-1 (paper, section 3.3)."""

    A: Float[Array, "... K K"]
    b: Float[Array, "... K"]
    C: Float[Array, "... K K"]


def linear_system(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> LinearSystem:
    """A = X'D (I - P Lam)^-1 (I - P) X, b = X'D (I - P Lam)^-1 r, C = X'DX, with P = P_{pi,gamma}.

    `lam` is a number, a number for each state (on arrival there), or lam(s, a, s') in full, as for algorithms whose
    trace depends on the action. The TD(lam) fixed point solves A w = b.

    >>> from gpbe import mdp
    >>> import numpy as np
    >>> problem = mdp.problem("random-walk-5")
    >>> A, b, C = linear_system(problem, "behavior")
    >>> from gpbe.exact import fixed_point
    >>> bool(np.allclose(np.linalg.solve(A, b), fixed_point(problem, "pbe", "behavior")))
    True
    """
    # Refuses target policies that never terminate.
    _ = problem.bellman_matrix
    return trace_system(problem, as_weighting(problem, d), problem.target, carried(problem, lam))


def trace_system(
    problem: PredictionProblem, emphasis: PerState, weight: PerStateAction, carry: StateMatrix
) -> LinearSystem:
    """The system of the update rho delta e with e = gamma (lam rho)_- e_- + M x, in expectation.

    Args:
        problem: gives rewards, discounts and features.
        emphasis: m(s) = E[M; S = s], the weight on x in the trace.
        weight: b(a|s) times the ratio on delta; the target policy unless the ratio is clipped.
        carry: what the trace keeps on the way from s to s', in expectation (see `carried`).

    >>> from gpbe import mdp
    >>> import numpy as np
    >>> problem = mdp.problem("random-walk-5")
    >>> d = np.full(5, 0.2)
    >>> system = trace_system(problem, d, problem.target, carried(problem, lam=0.5))
    >>> bool(np.allclose(system.A, linear_system(problem, d, lam=0.5).A))
    True
    """
    x, m = problem.features, problem.mdp
    traces = mean_trace(problem, emphasis, carry)
    residual = linalg.scaled(weight.sum(-1), m.layout.identity) - m.discounted_transition_under(weight)
    return LinearSystem(
        A=linalg.gram(traces, linalg.times(residual, x)),
        b=linalg.apply(linalg.transpose(traces), m.expected_reward_under(weight)),
        C=linalg.gram(linalg.scaled(emphasis, x), x),
    )


def mean_trace(problem: PredictionProblem, emphasis: PerState, carry: StateMatrix) -> Features:
    """E[e_t; S_t = s] for each s, the stationary mean of the trace: (I - carry')^-1 diag(emphasis) X.

    >>> from gpbe import mdp
    >>> import numpy as np
    >>> problem = mdp.problem("random-walk-5")
    >>> mean_trace(problem, np.full(5, 0.2), carried(problem, lam=0.5)).shape  # a row a state
    (5, 3)
    """
    scaled = linalg.scaled(emphasis, problem.features)
    if not linalg.frobenius(carry).any():
        return scaled
    return linalg.inverse_of(problem.mdp.layout.identity - carry).T.of_columns(scaled)


def carried(problem: PredictionProblem, lam: Numbers) -> StateMatrix:
    """P Lam(s, s') = sum_a pi(a|s) P(s'|s,a) gamma(s,a,s') lam(s,a,s')."""
    t, lam = problem.mdp.layout, as_lambda(problem, lam)
    if lam.ndim <= 1:
        return problem.discounted_transition * lam
    return t.matrix(problem.target, t.probability * t.discount * t.trace(lam))


def lambda_resolvent(problem: PredictionProblem, lam: Numbers) -> StateMatrix | Operator:
    """(I - P Lam)^-1: turns one-step residuals into residuals of the lambda-return; of a sparse problem an operator.

    >>> from gpbe import mdp
    >>> import numpy as np
    >>> problem = mdp.problem("random-walk-5")
    >>> everything = lambda_resolvent(problem, lam=1.0)
    >>> bool(np.allclose(everything @ problem.expected_reward, problem.values))  # the whole return
    True
    """
    carry = carried(problem, lam)
    eye = problem.mdp.layout.identity
    if not linalg.frobenius(carry).any():
        return eye
    _ = problem.bellman_matrix
    return linalg.inverse_of(eye - carry).as_operator()
