"""Bounds known before the paper: the rows of its appendix table, each in the form that holds.

Most were published for one constant discount. Here gamma is the largest discount of a transition that the target
policy can make, with which they hold for any transition-based discount, endings included.
"""

from typing import Literal

import numpy as np

from gpbe.checks import as_floats, check_shape
from gpbe.errors import InputError
from gpbe.exact.bounds.bound import BELOW_ONE, Bound, Truth, as_scalar, as_truth, times
from gpbe.exact.bounds.constants import (
    largest_discount,
    operator_constant,
    solution_errors,
    transition_constant,
    worst_approximation_error,
)
from gpbe.exact.fixed_points import solution
from gpbe.exact.identities import expected_td_error
from gpbe.exact.objectives import bellman_error
from gpbe.exact.projections import norm, operator_norm
from gpbe.exact.weightings import Name, as_lambda, as_weighting, mismatch, weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, Numbers, Scalar


def williams_baird_bound(problem: PredictionProblem, v: Numbers) -> Bound:
    """The bound of any v: max_s |v - v_pi| <= max_s |T v - v| / (1 - gamma).

    >>> from gpbe import mdp
    >>> print(williams_baird_bound(mdp.kolter(), np.zeros(2)))
    Williams and Baird 1993: 1.05 <= 3.525
    """
    v, gamma = as_floats(v, "v"), largest_discount(problem)
    check_shape(v, (problem.mdp.n_states,), "v", "states")
    worst = as_scalar(np.abs(expected_td_error(problem, v)).max(-1))
    return Bound(
        "Williams and Baird 1993",
        "Proposition 3.1",
        left=as_scalar(np.abs(v - problem.values).max(-1)),
        right=times(_inverse(1 - np.asarray(gamma)), worst),
        constants={"gamma": gamma, "max |Tv - v|": worst},
        assumptions={"gamma < 1": _below_one(gamma)},
        scale=as_scalar(np.abs(problem.values).max(-1)),
    )


def tsitsiklis_van_roy_bound(problem: PredictionProblem, lam: float = 0.0) -> Bound:
    """On-policy TD(lam): || v - v_pi || <= (1 - lam gamma) / (1 - gamma) || Pi v_pi - v_pi || in the norm of d_pi.

    For lam = 1 the two sides are equal. The constant is 1 / (1 - c) with the modulus of the lambda-operator,
    c = gamma (1 - lam) / (1 - lam gamma). `C sharper`, the root of 1 / (1 - c^2), holds too, because the error splits
    into two orthogonal parts.

    >>> from gpbe import mdp
    >>> print(tsitsiklis_van_roy_bound(mdp.kolter(p=0.6)))
    Tsitsiklis and Van Roy 1997: 0.01378 <= 0.4852
    """
    trace, d, gamma = as_lambda(problem, lam), problem.target_distribution, largest_discount(problem)
    error = solution_errors(problem, "pbe", d, lam=lam)
    g = np.asarray(gamma)
    modulus = np.divide(g * (1 - trace), 1 - trace * g, out=np.zeros(g.shape), where=trace < 1)
    constant = _inverse(1 - modulus)
    return Bound(
        "Tsitsiklis and Van Roy 1997",
        "Lemma 6",
        left=error.value,
        right=times(constant, error.approximation),
        constants={
            "gamma": gamma,
            "C": as_scalar(constant),
            "C sharper": as_scalar(np.sqrt(_inverse(1 - modulus**2))),
            "approximation error": error.approximation,
        },
        assumptions={"gamma < 1 or lam = 1": _below_one(as_scalar(modulus))},
        scale=error.size,
    )


def antos_bound(problem: PredictionProblem, d: Name | Numbers, radius: Numbers | None = None) -> Bound:
    """|| T v - v ||_d <= min_{u in F} || T u - u ||_d + max_{u in F} min_{u' in F} || T u - u' ||_d for v = argmin PBE.

    The maximum is over || u ||_d <= `radius`, which must admit v; without a radius it is infinite, unless T maps F
    to a shifted F. Where PBE(v) = 0 the second term alone is enough.

    >>> from gpbe import mdp
    >>> print(antos_bound(mdp.kolter(p=0.6), "behavior", radius=10.0))
    Antos, Szepesvari and Munos 2008: 0.009528 <= 0.3116
    """
    d = as_weighting(problem, d)
    v = solution(problem, "pbe", d).values
    inherent = as_scalar(np.sqrt(solution(problem, "be", d).error))
    one_step = worst_approximation_error(problem, d, radius=radius)
    within = True if radius is None else norm(v, d) <= np.asarray(radius) * (1 + 1e-12)
    return Bound(
        "Antos, Szepesvari and Munos 2008",
        "Lemma 10",
        left=as_scalar(np.sqrt(bellman_error(problem, v, d))),
        right=as_scalar(np.add(inherent, one_step)),
        constants={"inherent Bellman error": inherent, "inherent one-step Bellman error": one_step},
        assumptions={"||v||_d <= radius": as_truth(within)},
        scale=as_scalar(norm(problem.values, d)),
    )


def maillard_bound(problem: PredictionProblem, d: Name | Numbers) -> Bound:
    """|| v - v_pi ||_d <= || (I - P)^-1 ||_d || T v - v ||_d for v = argmin BE; nothing is assumed.

    >>> from gpbe import mdp
    >>> print(maillard_bound(mdp.kolter(p=0.6), "behavior"))
    Maillard et al. 2010: 0.1584 <= 0.1682
    """
    d = as_weighting(problem, d)
    error = solution_errors(problem, "be", d)
    inverse = as_scalar(operator_norm(problem.bellman_inverse.as_operator(), d))
    residual = as_scalar(np.sqrt(bellman_error(problem, error.values, d)))
    return Bound(
        "Maillard et al. 2010",
        "Equation 8",
        left=error.value,
        right=times(inverse, residual),
        constants={"||(I - P)^-1||_d": inverse, "||Tv - v||_d": residual},
        scale=error.size,
    )


def scherrer_bound(problem: PredictionProblem, d: Name | Numbers, test: Literal["td", "be"] | Numbers = "td") -> Bound:
    """|| v_M - v_pi ||_d <= sqrt(spectral radius(A B C B')) || Pi v_pi - v_pi ||_d for v_M = X (M'LX)^-1 M'L v_pi.

    A = X'DX, B = (M'LX)^-1, C = M'L D^-1 L'M and L = I - P; the root is the norm of the oblique projection. `test`
    is the matrix M (S, K), or "td" for M = DX (v_M is the TD solution), or "be" for M = DLX (that of the BE).

    >>> from gpbe import mdp
    >>> print(scherrer_bound(mdp.kolter(p=0.6), "behavior"))
    Scherrer 2010: 0.1654 <= 0.1654
    """
    problem.mdp.dense("Scherrer's bound")
    d, x, l = as_weighting(problem, d), problem.features, problem.bellman_matrix
    weight, positive = d[..., None], as_truth((d > 0).all(-1))
    if isinstance(test, str):
        if test not in ("td", "be"):
            raise InputError(f"test is {test!r}; it should be 'td', 'be' or an array (states, features)")
        m = weight * x if test == "td" else weight * (l @ x)
    else:
        m = as_floats(test, "test")
        check_shape(m, x.shape[-2:], "test", "states, features")
    system = _transpose(m) @ l
    inner = system @ x
    regular = np.asarray(np.linalg.matrix_rank(inner, rtol=1e-12) == x.shape[-1])
    a, b = _transpose(x) @ (weight * x), np.linalg.pinv(inner, rcond=1e-12)
    c = (system * np.divide(1.0, d, out=np.zeros(d.shape), where=d > 0)[..., None, :]) @ _transpose(system)
    radius = np.abs(np.linalg.eigvals(a @ b @ c @ _transpose(b))).max(-1)
    constant = as_scalar(np.where(np.logical_and(regular, positive), np.sqrt(radius), np.inf))
    v = (x @ b @ system @ problem.values[..., None])[..., 0]
    approximation = solution_errors(problem, "ve", d).approximation
    return Bound(
        "Scherrer 2010",
        "Proposition 3",
        left=as_scalar(norm(v - problem.values, d)),
        right=times(constant, approximation),
        constants={"sqrt(spectral radius)": constant, "approximation error": approximation},
        assumptions={"M'LX is invertible": as_truth(regular), "d > 0 in every state": positive},
        scale=as_scalar(norm(problem.values, d)),
    )


def kolter_bound(problem: PredictionProblem, d: Name | Numbers) -> Bound:
    """Off-policy LSTD: || v - v_pi ||_d <= (1 + gamma cond) / (1 - gamma) || Pi v_pi - v_pi ||_d.

    cond is the condition number of D^-1/2 D_pi^1/2, which is sqrt(kappa(d, d_pi) kappa(d_pi, d)). It assumes that
    transitions followed by the projection do not expand F in the norm of d: c_F <= gamma.

    >>> from gpbe import mdp
    >>> print(kolter_bound(mdp.kolter(p=0.6), "behavior"))
    Kolter 2011: 0.1654 <= 1.058 (not assured: it does not hold that c_F <= gamma)
    """
    d, target, gamma = as_weighting(problem, d), problem.target_distribution, largest_discount(problem)
    error = solution_errors(problem, "pbe", d)
    cond = np.sqrt(mismatch(d, target) * mismatch(target, d))
    c_f = operator_constant(problem, d)
    constant = (1 + np.asarray(gamma) * cond) * _inverse(1 - np.asarray(gamma))
    return Bound(
        "Kolter 2011",
        "Theorem 2",
        left=error.value,
        right=times(constant, error.approximation),
        constants={
            "gamma": gamma,
            "cond": as_scalar(cond),
            "c_F": c_f,
            "C": as_scalar(constant),
            "approximation error": error.approximation,
        },
        assumptions={
            "gamma < 1": _below_one(gamma),
            "c_F <= gamma": as_truth(np.asarray(c_f) <= np.asarray(gamma) * (1 + 1e-12)),
            "d is 0 exactly where d_pi is": as_truth(np.isfinite(cond)),
        },
        scale=error.size,
    )


def hallak_bound(
    problem: PredictionProblem,
    beta: float | None = None,
    d_evaluation: Literal["behavior", "followon"] = "behavior",
) -> Bound:
    """ETD(0, beta): errors in the norm of d_b, or of f itself, are at most C || Pi v_pi - v_pi ||_f.

    f is the followon weighting with decay beta (the discount if left out), and C^-2 = 1 - gamma^2 / beta (1 - kappa)
    for kappa = min_s d_b(s) / f(s): the Bellman operator's modulus in the norm of f is the root of what is
    subtracted. f is not normalized, and kappa is a minimum; with the paper's maximum the bounds fail. For the
    norm of f the table has another factor gamma^-1/2, which is not needed.

    `C sharper`: in the norm of d_b, C = 1 is enough as soon as beta >= gamma^2.

    >>> from gpbe import mdp
    >>> print(hallak_bound(mdp.kolter(p=0.6)))
    Hallak et al. 2016, behavior: 0.01383 <= 0.3623
    """
    gamma = largest_discount(problem)
    if beta is not None and beta <= 0:
        raise InputError(f"beta is {beta:g}; it must be positive, for with 0 the weighting is d_b and nothing is known")
    f, behavior = weighting(problem, "followon", beta=beta), problem.behavior_distribution
    error = solution_errors(problem, "pbe", f)
    kappa = 1 / np.asarray(mismatch(f, behavior))
    ratio = np.asarray(gamma) if beta is None else np.asarray(gamma) ** 2 / beta
    rest = 1 - ratio * (1 - kappa)
    constant = np.sqrt(_inverse(rest))
    sharper = constant
    judge = f
    if d_evaluation == "behavior":
        judge = behavior
        sharper = np.where(ratio <= 1, np.minimum(constant, 1.0), np.sqrt(kappa) * constant)
    return Bound(
        f"Hallak et al. 2016, {d_evaluation}",
        "Corollary 1",
        left=as_scalar(norm(error.values - problem.values, judge)),
        right=times(constant, error.approximation),
        constants={
            "gamma": gamma,
            "beta": gamma if beta is None else beta,
            "kappa": as_scalar(kappa),
            "C": as_scalar(constant),
            "C sharper": as_scalar(sharper),
            "approximation error": error.approximation,
        },
        assumptions={"gamma^2 / beta (1 - kappa) < 1": as_truth(rest > 1 - BELOW_ONE)},
        scale=error.size,
    )


def white_bound(problem: PredictionProblem, d: Literal["target", "emphatic"] = "emphatic", lam: Numbers = 0.0) -> Bound:
    """|| v - v_pi ||_d <= || Pi v_pi - v_pi ||_d / (1 - s_d) for d_pi and m; s_d is the norm of P^lam.

    >>> from gpbe import mdp
    >>> print(white_bound(mdp.kolter(p=0.6)))
    White 2017, emphatic: 0.1302 <= 4.854
    """
    if d not in ("target", "emphatic"):
        raise InputError(f"the weighting is {d!r}; this bound is about 'target' and 'emphatic'")
    weights = weighting(problem, d, lam)
    error = solution_errors(problem, "pbe", weights, lam=lam)
    s_d = transition_constant(problem, weights, lam)
    return Bound(
        f"White 2017, {d}",
        "Theorem 1",
        left=error.value,
        right=times(_inverse(1 - np.asarray(s_d)), error.approximation),
        constants={"s_d": s_d, "approximation error": error.approximation},
        assumptions={"s_d < 1": _below_one(s_d)},
        scale=error.size,
    )


def _inverse(x: Array | np.generic) -> Array:
    """1 / x, infinite where x is not positive."""
    x = np.asarray(x)
    return np.divide(1.0, x, out=np.full(x.shape, np.inf), where=x > 1 - BELOW_ONE)


def _below_one(constant: Scalar) -> Truth:
    return as_truth(np.asarray(constant) < BELOW_ONE)


def _transpose(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)
