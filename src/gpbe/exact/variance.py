"""How much sampled corrections vary: second moments of the followon and of products of ratios, in closed form.

An expected update that converges says nothing about its samples. Their traces are products of ratios, whose second
moment solves a linear system with the matrix P2(s, s') = sum_a b(a|s) rho(s, a)^2 P(s'|s, a) gamma(s, a, s')^2. Where
the spectral radius of P2 is 1 or more the second moment is infinite.
"""

from typing import NamedTuple

import numpy as np

from gpbe import linalg
from gpbe.exact.weightings import weighting
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array, PerState, StateMatrix


def followon_variance(problem: PredictionProblem) -> PerState:
    """Var[F_t | S_t = s] of the followon F_t = 1 + gamma_t rho_{t-1} F_{t-1}; infinite where it has none.

    With q(s) = E[F^2; S = s] and f the followon weighting, q = (I - P2')^-1 (2 f - d_b).

    >>> from gpbe import mdp
    >>> on_policy = mdp.PredictionProblem(mdp.random_walk(5), [0.5, 0.5], [0.5, 0.5])
    >>> followon_variance(on_policy).round(3)  # F counts the steps since the episode began
    array([48.   , 48.   , 46.222, 48.   , 48.   ])
    >>> followon_variance(mdp.baird()).max().item()
    inf
    """
    return _moments(problem).variance


class Followon(NamedTuple):
    """Mean and standard deviation of the followon over the stationary behavior."""

    mean: float
    deviation: float
    """Infinite where the second moment is."""


def followon_spread(problem: PredictionProblem) -> Followon:
    """How large the followon is, and how much it varies.

    >>> from gpbe import mdp
    >>> followon_spread(mdp.baird()).deviation
    inf
    """
    moments = _moments(problem)
    mean = float(moments.first.sum())
    return Followon(mean, float(np.sqrt(np.maximum(moments.second.sum() - mean**2, 0.0))))


def samples_vary_finitely(problem: PredictionProblem, prior: str, lam: float = 0.0) -> bool:
    """Has the sampled update of TD(lam) a finite second moment, at any fixed weights?

    Args:
        problem: one problem.
        prior: "behavior" for off-policy TD, whose trace carries lam rho gamma; "emphatic" for ETD, whose followon
            carries rho gamma whatever lam is; "target" for alternative-life TD, which carries rho to the episode's end.
        lam: trace parameter.

    >>> from gpbe import mdp
    >>> [samples_vary_finitely(mdp.baird(), prior) for prior in ("behavior", "emphatic")]
    [True, False]
    """
    t = problem.mdp.layout
    carried = {"behavior": (lam * t.discount) ** 2, "emphatic": t.discount**2, "target": 1.0 * (t.discount > 0)}[prior]
    return linalg.sums_up(_seen(problem, _squares(problem, carried)))


class _Moments(NamedTuple):
    first: PerState
    second: PerState
    variance: PerState


def _moments(problem: PredictionProblem) -> _Moments:
    d, f = problem.behavior_distribution, weighting(problem, "followon")
    squares = _squares(problem, problem.mdp.layout.discount**2)
    seen = d > 0
    if not linalg.sums_up(_seen(problem, squares)):
        infinite = np.where(seen, np.inf, 0.0)
        return _Moments(f, infinite, infinite)
    inner = _seen(problem, squares)
    identity = problem.mdp.layout.identity
    inverse = linalg.inverse_of(_seen(problem, identity) - inner)
    second, variance = np.zeros(d.shape), np.zeros(d.shape)
    second[seen] = inverse.T.of((2 * f - d)[seen])
    variance[seen] = np.maximum(second[seen] / d[seen] - (f[seen] / d[seen]) ** 2, 0.0)
    return _Moments(f, second, variance)


def _squares(problem: PredictionProblem, carried: Array) -> StateMatrix:
    """sum_a b(a|s) rho(s, a)^2 P(s'|s, a) carried(s, a, s')."""
    t = problem.mdp.layout
    return t.matrix(problem.target * problem.ratios, t.probability * carried)


def _seen(problem: PredictionProblem, matrix: StateMatrix) -> StateMatrix:
    """The rows and columns of states that the behavior visits; no correction carries anything out of them."""
    seen = np.flatnonzero(problem.behavior_distribution > 0)
    return matrix if len(seen) == matrix.shape[0] else matrix[seen][:, seen]
