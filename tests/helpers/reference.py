"""What the tests compare with: definitions spelled out, and small problems with known answers."""

import itertools

import numpy as np

from gpbe import mdp
from helpers.strategies import (
    random_weighting,
)


def td_moments(problem: mdp.PredictionProblem, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[delta | s] and E[delta^2 | s], summed over every transition."""
    m = problem.mdp
    mean, square = np.zeros((2, m.n_states))
    for s, a, n in itertools.product(range(m.n_states), range(m.n_actions), range(m.n_states)):
        chance = problem.target[s, a] * m.transition[s, a, n]
        delta = m.reward[s, a, n] + m.discount[s, a, n] * v[n] - v[s]
        mean[s] += chance * delta
        square[s] += chance * delta**2
    return mean, square


def regression(u: np.ndarray, phi: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The weighted least-squares fit of u by the columns of phi."""
    root = np.sqrt(d)[:, None]
    return phi @ np.linalg.lstsq(root * phi, root[:, 0] * u, rcond=1e-12)[0]


def a_case(make, seed):
    """A problem, a generator, values in general position, a positive weighting, and features of some H."""
    problem, rng = make(), np.random.default_rng(seed)
    n = problem.mdp.n_states
    phi = rng.standard_normal((n, int(rng.integers(1, n + 1))))
    return problem, rng, rng.standard_normal(n), random_weighting(rng, n), phi


def options_of(objective: str, rng: np.random.Generator, n: int) -> dict:
    root = rng.standard_normal((n, n))
    return {
        "pbe": {"projection": rng.standard_normal((n, n - 1)), "lam": 0.4},
        "be": {"lam": 0.4},
        "ibe": {"aliases": rng.integers(3, size=n)},
        "kbe": {"kernel": root @ root.T},
    }.get(objective, {})


def two_states(share, gamma, features, values) -> tuple[mdp.PredictionProblem, np.ndarray]:
    """Both states lead to the second one, with the given values; d weights them `share` and 1 - share.

    An action names the state it leads to, so that the behavior's distribution can be any: here it is d.
    """
    d, p = np.array([share, 1 - share]), np.array([[0.0, 1.0], [0.0, 1.0]])
    reward = np.asarray(values) - gamma * p @ np.asarray(values)
    m = mdp.FiniteMDP(np.broadcast_to(np.eye(2), (2, 2, 2)), np.broadcast_to(reward[:, None, None], (2, 2, 2)), gamma)
    return mdp.PredictionProblem(m, [0, 1], d, np.asarray(features, dtype=float)[:, None]), d


def chain() -> mdp.PredictionProblem:
    """0, 1, 2 and an end, undiscounted before it, one action."""
    transition = np.zeros((4, 1, 4))
    transition[[0, 1, 2], 0, [1, 2, 3]] = 1
    return mdp.PredictionProblem(mdp.FiniteMDP.episodic(transition, 1.0, 1.0, [1, 0, 0, 0], [3]), [1], [1])


def norm(u, d):
    return np.sqrt((d * np.asarray(u) ** 2).sum())


def matrix_norm(matrix, d):
    root = np.sqrt(d)
    return np.linalg.svd(root[:, None] * matrix / root)[1][0]
