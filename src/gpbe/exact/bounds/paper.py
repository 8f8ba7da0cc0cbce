"""The paper's bounds on the value error (section 6), each as a `Bound` that can be checked on any finite problem.

All are about norms, not squares: ||u||_d is the root of sum_s d(s) u(s)^2. Function sets are linear: F is the span of
`problem.features`, H that of `projection`. Where the paper's statement needs a condition that it does not give, the
condition is among the assumptions; `docs/claims.md` has the counterexamples.
"""

from typing import Literal

import numpy as np

from gpbe.checks import as_floats, check_shape, unknown
from gpbe.errors import InputError
from gpbe.exact.bounds.bound import BELOW_ONE, Bound, Computed, Truth, as_scalar, as_truth, times
from gpbe.exact.bounds.constants import (
    Errors,
    approximation_error,
    every_link_discounted,
    largest_discount,
    operator_constant,
    smallest_discount,
    solution_errors,
    transition_constant,
    weighting_for,
    worst_approximation_error,
)
from gpbe.exact.fixed_points import solution
from gpbe.exact.objectives import bellman_error, projected_bellman_error
from gpbe.exact.projections import norm, oblique_projection, operator_norm, projection_matrix
from gpbe.exact.weightings import Name, as_lambda, as_weighting, mismatch, weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Numbers, PerState, Scalar

SECTION = "Patterson, White and White (2022), section 6"


def value_error_bound(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> Bound:
    """Theorem 1: || v - v_pi ||_d <= C || Pi_{F,d} v_pi - v_pi ||_d for the fixed point v = Pi_{F,d} T v.

    C is 1 / (1 - c_d) if c_d < 1, else (1 + c_d) / (1 - c_F). `C sharper` holds too: the error of v splits into
    two orthogonal parts, so sums of lengths become roots of sums of squares, and both cases apply when c_d < 1.

    >>> from gpbe import mdp
    >>> print(value_error_bound(mdp.kolter(p=0.6), "behavior"))
    Theorem 1: 0.1654 <= 1.916
    """
    d = weighting_for(problem, d, lam)
    error = solution_errors(problem, "pbe", d, lam=lam)
    return _contraction_bound("Theorem 1", error, *_constants(problem, d, lam))


def mismatch_bound(
    problem: PredictionProblem, d: Name | Numbers, d_evaluation: Name | Numbers, lam: Numbers = 0.0
) -> Bound:
    """Corollary 1: the error in another weighting is at most the root of kappa(d_evaluation, d) times Theorem 1's.

    >>> from gpbe import mdp
    >>> print(mismatch_bound(mdp.kolter(p=0.6), "emphatic", d_evaluation="behavior"))
    Corollary 1: 0.01383 <= 0.5311
    """
    d, judge = weighting_for(problem, d, lam), weighting_for(problem, d_evaluation, lam)
    error = solution_errors(problem, "pbe", d, lam=lam)
    same = _contraction_bound("Corollary 1", error, *_constants(problem, d, lam))
    kappa = mismatch(judge, d)
    return Bound(
        same.name,
        same.reference,
        left=as_scalar(norm(error.values - problem.values, judge)),
        right=times(np.sqrt(kappa), same.right),
        constants={**same.constants, "kappa": as_scalar(kappa)},
        assumptions=same.assumptions,
        scale=as_scalar(norm(problem.values, judge)),
    )


def convex_subset_bound(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> Bound:
    """Corollary 2: Theorem 1 with the operator constant of the smallest convex set that the proof needs.

    That is the segment from the PBE solution v to Pi_{F,d} v_pi. It holds even where PBE(v) > 0: for a least-squares
    solution, (I - Pi P)(v - Pi v_pi) is a projection of Pi P (Pi v_pi - v_pi), hence no longer than that.

    >>> from gpbe import mdp
    >>> print(convex_subset_bound(mdp.kolter(p=0.6), "behavior"))
    Corollary 2: 0.1654 <= 1.916
    """
    d = weighting_for(problem, d, lam)
    error = solution_errors(problem, "pbe", d, lam=lam)
    segment = error.values - error.best
    moved = np.asarray(norm(segment, d) > 1e-10 * np.asarray(error.size))
    segment = np.where(moved[..., None], segment, 0.0)[..., None]
    c_segment = operator_constant(problem, d, lam, differences=segment)
    return _contraction_bound("Corollary 2", error, transition_constant(problem, d, lam), c_segment)


def proposition_1(
    problem: PredictionProblem, d: Name | Numbers, case: Literal[1, 2, 3, 4], lam: Numbers = 0.0
) -> Bound:
    """Proposition 1: what is known about c_d = || P_{pi,gamma} ||_d.

    1. c_d < 1 for d_pi and m. With lam > 0 it holds for the lambda-operator P^lam, not for P. For d_pi and lam 0 it
       needs a discount below 1 on every link (`every_link_discounted`), and for d_pi a lam that is one number.
    2. c_{d_pi} = gamma_c for a constant discount gamma_c.
    3. c_{d_pi} <= gamma_c for discounts of at most gamma_c.
    4. c_d <= c_{d_pi} sqrt(kappa(d, d_pi) kappa(d_pi, d)) for a d that is 0 where d_pi is.

    >>> from gpbe import mdp
    >>> print(proposition_1(mdp.baird(), "emphatic", case=1))
    Proposition 1.1: 0.9943 < 1
    >>> print(proposition_1(mdp.aliased(), "target", case=1))
    Proposition 1.1: 1 < 1 (not assured: it does not hold that every link is discounted)
    """
    if case not in (1, 2, 3, 4):
        raise InputError(f"case is {case}; Proposition 1 has the cases 1, 2, 3 and 4")
    if case != 1 and np.any(lam):
        raise InputError(f"case {case} of Proposition 1 is about lam = 0; leave lam out")
    d = weighting_for(problem, d, lam)
    c_d, gamma = transition_constant(problem, d, lam), largest_discount(problem)
    constants: dict[str, Scalar] = {"c_d": c_d}
    is_target = _is(problem, d, "target")
    if case == 1:
        is_emphatic, trace = _is(problem, d, "emphatic", lam), as_lambda(problem, lam)
        linked = np.all(is_emphatic) or trace.any() or every_link_discounted(problem)
        assumptions = {
            "d is d_pi or m": as_truth(np.logical_or(is_target, is_emphatic)),
            "every link is discounted": as_truth(np.logical_or(is_emphatic, linked)),
            "lam is one number": as_truth(np.logical_or(is_emphatic, trace.min() == trace.max())),
        }
        return _proposition(1, c_d, 1.0, constants, assumptions, "<")
    if case == 2:
        same = np.asarray(gamma) == np.asarray(smallest_discount(problem))
        assumptions = {"d is d_pi": is_target, "the discount is constant": as_truth(same)}
        return _proposition(2, c_d, gamma, {**constants, "gamma_c": gamma}, assumptions, "==")
    if case == 3:
        return _proposition(3, c_d, gamma, {**constants, "gamma_c": gamma}, {"d is d_pi": is_target}, "<=")
    target = problem.target_distribution
    stretch = np.sqrt(mismatch(d, target) * mismatch(target, d))
    own = transition_constant(problem, target)
    constants |= {"c_{d_pi}": own, "sqrt(kappa kappa')": as_scalar(stretch)}
    assumptions = {"d is 0 exactly where d_pi is": as_truth(((d > 0) == (target > 0)).all(-1))}
    return _proposition(4, c_d, times(stretch, own), constants, assumptions, "<=")


def oblique_bound(problem: PredictionProblem, d: Name | Numbers, projection: Numbers | None = None) -> Bound:
    """Theorem 2: || v - v_pi ||_d <= || Pi ||_d || Pi_{F,d} v_pi - v_pi ||_d, Pi the oblique projection of the PBE.

    It needs Pi to be a projection on all of F, which is to say a unique solution, and F to contain more than 0
    (|| Pi || = || I - Pi || is false for Pi = 0). It does not need F to lie in H.

    >>> from gpbe import mdp
    >>> print(oblique_bound(mdp.kolter(p=0.6), "behavior"))
    Theorem 2: 0.1654 <= 0.1654
    """
    d = as_weighting(problem, d)
    options = {} if projection is None else {"projection": projection}
    found = solution(problem, "pbe", d, **options)
    error = solution_errors(problem, "pbe", d, **options)
    pi = oblique_projection(problem, d, projection)
    oblique = as_scalar(operator_norm(pi, d))
    complement = as_scalar(operator_norm(np.eye(problem.mdp.n_states) - pi, d))
    return Bound(
        "Theorem 2",
        SECTION,
        left=error.value,
        right=times(oblique, error.approximation),
        constants={"||Pi||_d": oblique, "||I - Pi||_d": complement, "approximation error": error.approximation},
        assumptions={
            "the solution is unique": as_truth(found.unique_values),
            "F is more than 0": as_truth(np.asarray(found.feature_rank) > 0),
        },
        scale=error.size,
    )


def approximation_error_bound(
    problem: PredictionProblem,
    v: Numbers,
    d: Name | Numbers,
    projection: Numbers | None = None,
    radius: Numbers | None = None,
    form: Literal["bellman", "squares", "norms", "worst"] = "norms",
) -> Bound:
    """Theorem 3: || v - v_pi ||_d <= || (I - P)^-1 ||_d times one of four upper bounds on || T v - v ||_d.

    - `bellman`: || T v - v ||_d itself;
    - `squares`: sqrt(PBE + ApproxError(H, v)^2), which is the same number: the two parts are orthogonal;
    - `norms`: sqrt(PBE) + ApproxError(H, v), the paper's second line (its proof adds a square and a norm);
    - `worst`: sqrt(PBE) + the largest ApproxError(H, u) of all u in F with || u ||_d <= `radius`. Without a radius
      that is infinite, unless the Bellman errors of F lie in H up to a constant.

    sqrt(PBE) is || Pi_{H,d} (T v - v) ||_d; only for v in H is it the paper's || Pi_{H,d} T v - v ||_d, which is
    larger for other v. The first three forms hold for every v, in F or not.

    >>> from gpbe import mdp
    >>> problem = mdp.kolter(p=0.6)
    >>> print(approximation_error_bound(problem, [1.0, 1.0], "behavior"))
    Theorem 3, norms: 0.03162 <= 2.925
    """
    d, v = as_weighting(problem, d), as_floats(v, "v")
    check_shape(v, (problem.mdp.n_states,), "v", "states")
    inverse = as_scalar(operator_norm(problem.bellman_inverse.as_operator(), d))
    projected = as_scalar(np.sqrt(projected_bellman_error(problem, v, d, projection=projection)))
    missed = approximation_error(problem, v, d, projection)
    constants: dict[str, Scalar] = {"||(I - P)^-1||_d": inverse, "sqrt(PBE)": projected, "ApproxError(H, v)": missed}
    assumptions: dict[str, Truth] = {}
    if form == "bellman":
        residual = np.sqrt(bellman_error(problem, v, d))
    elif form == "squares":
        residual = np.hypot(projected, missed)
    elif form == "norms":
        residual = np.add(projected, missed)
    elif form == "worst":
        worst = worst_approximation_error(problem, d, projection, radius)
        residual = np.add(projected, worst)
        constants["ApproxError(H)"] = worst
        length, onto = norm(v, d), projection_matrix(problem.features, np.ones(problem.mdp.n_states))
        inside = norm(v - (onto @ v[..., None])[..., 0], d) <= 1e-9 * length
        within = True if radius is None else length <= np.asarray(radius) * (1 + 1e-12)
        assumptions = {"v is in F": as_truth(inside), "||v||_d <= radius": as_truth(within)}
    else:
        raise unknown("form", form, ("bellman", "squares", "norms", "worst"))
    return Bound(
        f"Theorem 3, {form}",
        SECTION,
        left=as_scalar(norm(v - problem.values, d)),
        right=times(inverse, residual),
        constants=constants,
        assumptions=assumptions,
        scale=as_scalar(norm(problem.values, d)),
    )


def _constants(problem: PredictionProblem, d: PerState, lam: Numbers) -> tuple[Scalar, Scalar]:
    return transition_constant(problem, d, lam), operator_constant(problem, d, lam)


def _contraction_bound(name: str, error: Errors, c_d: Scalar, c_f: Scalar) -> Bound:
    moves, inside = np.asarray(c_d), np.minimum(c_f, c_d)
    contracts, contracts_inside = as_truth(moves < BELOW_ONE), as_truth(inside < BELOW_ONE)
    one = _over(1.0, 1 - moves, contracts)
    two = _over(1 + moves, 1 - inside, contracts_inside)
    sharp_one = np.sqrt(_over(1.0, 1 - moves**2, contracts))
    sharp_two = np.sqrt(1 + _over(moves, 1 - inside, contracts_inside) ** 2)
    constant = np.where(contracts, one, two)
    constants = {
        "c_d": c_d,
        "c_F": c_f,
        "C": as_scalar(constant),
        "C sharper": as_scalar(np.minimum(sharp_one, sharp_two)),
        "approximation error": error.approximation,
    }
    return Bound(
        name,
        SECTION,
        left=error.value,
        right=times(constant, error.approximation),
        constants=constants,
        assumptions={"c_F < 1": contracts_inside},
        scale=error.size,
    )


def _over(numerator: Computed, denominator: Computed, where: Truth) -> Array:
    """The quotient, infinite where a condition fails."""
    return np.divide(numerator, denominator, out=np.full(np.shape(denominator), np.inf), where=where)


def _is(problem: PredictionProblem, d: PerState, name: Name, lam: Numbers = 0.0) -> Truth:
    """Whether d is the named weighting up to a factor; it is not where that one does not exist."""
    try:
        other = weighting(problem, name, lam)
    except InputError:
        return False
    d, other = d / d.sum(-1, keepdims=True), other / other.sum(-1, keepdims=True)
    return as_truth((np.abs(d - other) <= 1e-10 * np.maximum(d, other)).all(-1))


def _proposition(
    case: int,
    left: Scalar,
    right: Scalar,
    constants: dict[str, Scalar],
    assumptions: dict[str, Truth],
    relation: Literal["<=", "<", "=="],
) -> Bound:
    name = f"Proposition 1.{case}"
    return Bound(name, SECTION, left, right, constants, assumptions, relation)
