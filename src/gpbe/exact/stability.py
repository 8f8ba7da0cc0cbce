"""Whether semi-gradient TD(lam) converges: the eigenvalues of A decide (paper, sections 3.3 and 3.4)."""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from gpbe.errors import InputError
from gpbe.exact.traces import linear_system
from gpbe.exact.weightings import Name
from gpbe.mdp import PredictionProblem
from gpbe.types import Array, Numbers

Verdict = Literal["converges", "diverges", "undecided"]


class Stability(NamedTuple):
    """What the expected update w <- w + alpha (b - A w) does from almost every start."""

    verdict: Verdict
    eigenvalues: Complex[Array, " R"]
    """Of A on the span of the feature vectors, smallest real part first."""
    largest_step_size: float
    """The expected update contracts for every alpha below this; 0 if for none."""
    direction: Float[Array, " S"]
    """The values along which the error shrinks slowest or grows fastest: X times an eigenvector, largest entry 1."""


def td_stability(problem: PredictionProblem, d: Name | Numbers, lam: Numbers = 0.0) -> Stability:
    """Does TD(lam) under weighting d converge: off-policy TD for "behavior", ETD for "emphatic", and so on?

    It does if every eigenvalue of A has a positive real part, for small enough step sizes. Directions of w that no
    feature vector has (dependent features) are never moved and are left out. A real part of 0 leaves it undecided.

    >>> from gpbe import mdp
    >>> td_stability(mdp.baird(), "behavior").verdict, td_stability(mdp.baird(), "emphatic").verdict
    ('diverges', 'converges')
    """
    if problem.batch_shape:
        raise InputError(f"one problem at a time; this is a batch with axes {problem.batch_shape}: pick problem[i]")
    x = problem.features
    _, s, vt = np.linalg.svd(x, full_matrices=False)
    span = vt[s > 1e-12 * s[0]]
    system = linear_system(problem, d, lam)
    a = span @ system.A @ span.T
    values, vectors = np.linalg.eig(a.astype(complex))
    order = np.argsort(np.real(values))
    values, vectors = values[order], vectors[:, order]
    zero = 1e-10 * np.linalg.norm(system.C, ord=2)
    verdict: Verdict = "undecided"
    if np.real(values[0]) > zero:
        verdict = "converges"
    elif np.real(values[0]) < -zero:
        verdict = "diverges"
    step = float((2 * np.real(values) / np.abs(values) ** 2).min()) if verdict == "converges" else 0.0
    direction = x @ span.T @ vectors[:, 0]
    direction = direction / direction[np.abs(direction).argmax()]
    return Stability(verdict, values, step, np.real(direction))
