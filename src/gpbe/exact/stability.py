"""Whether semi-gradient TD(lam) converges: the eigenvalues of A decide (paper, sections 3.3 and 3.4)."""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.exact.traces import linear_system
from gpbe.exact.weightings import Name
from gpbe.mdp import PredictionProblem
from gpbe.mdp.prediction import check_problem
from gpbe.shapes import Array, Numbers

Verdict = Literal["converges", "diverges", "undecided"]


class Stability(NamedTuple):
    """What the expected update w <- w + alpha (b - A w) does from almost every start."""

    verdict: Verdict
    eigenvalues: Complex[Array, " R"]
    """The eigenvalues of A on the span of the feature vectors, smallest real part first."""
    largest_step_size: float
    """The expected update contracts for every alpha below this; 0 if for none."""
    direction: Float[Array, " S"]
    """The values along which the error shrinks slowest or grows fastest: X times an eigenvector, largest entry 1."""


def gradient_stability(
    problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0, *, beta: float = 0.0, ratio: float = 1.0
) -> Verdict:
    """Does TDRC(beta) converge, which for beta = 0 is TDC, with h learning `ratio` times as fast as w?

    The expected update of (w, h) is linear; it converges, for small steps, if every eigenvalue of

        [[A, (C - A)'], [ratio A, ratio (C + beta I)]]

    has a positive real part. For beta = 0 a large enough ratio makes it so; a beta above 0 can undo it where A has
    negative eigenvalues.

    >>> from gpbe import mdp
    >>> star = mdp.tsitsiklis_van_roy()
    >>> gradient_stability(star, "behavior", beta=0.0), gradient_stability(star, "behavior", beta=1.0)
    ('converges', 'diverges')
    """
    for name, value, low in (("beta", beta, "0 or more"), ("ratio", ratio, "above 0")):
        number = as_floats(value, name)
        if number.ndim or number < 0 or (number == 0 and name == "ratio"):
            raise InputError(f"{name} is {value!r}; it should be one number, {low}")
    span = _span(problem)
    system = linear_system(problem, d, lam)
    a, c = span @ system.A @ span.T, span @ system.C @ span.T
    joint = np.block([[a, (c - a).T], [ratio * a, ratio * (c + beta * np.eye(len(c)))]])
    return _verdict(np.linalg.eigvals(joint), np.linalg.norm(system.C, ord=2))


def _span(problem: PredictionProblem) -> Float[Array, "R K"]:
    """An orthonormal basis of the directions of w that some feature vector has."""
    check_problem(problem)
    if problem.batch_shape:
        raise InputError(f"one problem at a time; this is a batch with axes {problem.batch_shape}: pick problem[i]")
    if not problem.feature_triangle.any():
        raise InputError("every feature is 0, so that there are no weights to move; give features that are not")
    _, s, vt = np.linalg.svd(problem.feature_triangle, full_matrices=False)
    return vt[s > 1e-12 * s[0]]


def _verdict(eigenvalues: Array, scale: float | np.floating) -> Verdict:
    """What the real parts of eigenvalues say, up to rounding at the scale of the matrix."""
    smallest = np.real(eigenvalues).min()
    if smallest > 1e-10 * scale:
        return "converges"
    return "diverges" if smallest < -1e-10 * scale else "undecided"


def td_stability(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> Stability:
    """Does TD(lam) under weighting d converge: off-policy TD for "behavior", ETD for "emphatic", and so on?

    It does if every eigenvalue of A has a positive real part, for small enough step sizes. Directions of w that no
    feature vector has (dependent features) are never moved and are left out. A real part of 0 leaves it undecided.

    >>> from gpbe import mdp
    >>> td_stability(mdp.baird(), "behavior").verdict, td_stability(mdp.baird(), "emphatic").verdict
    ('diverges', 'converges')
    """
    span = _span(problem)
    x = problem.features
    system = linear_system(problem, d, lam)
    values, vectors = np.linalg.eig((span @ system.A @ span.T).astype(complex))
    order = np.argsort(np.real(values))
    values, vectors = values[order], vectors[:, order]
    verdict = _verdict(values, np.linalg.norm(system.C, ord=2))
    step = float((2 * np.real(values) / np.abs(values) ** 2).min()) if verdict == "converges" else 0.0
    direction = x @ (span.T @ vectors[:, 0])
    direction = direction / direction[np.abs(direction).argmax()]
    return Stability(verdict, values, step, np.real(direction))
