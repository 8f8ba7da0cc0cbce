"""The constants of the bounds are the maxima they are said to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gpbe import exact, mdp
from gpbe.exact.bounds.constants import (
    approximation_error,
    every_link_discounted,
    operator_constant,
    transition_constant,
    worst_approximation_error,
)
from gpbe.exact.bounds.farthest import farthest
from gpbe.exact.bounds.paper import proposition_1, value_error_bound
from helpers.reference import matrix_norm, norm, two_states
from helpers.strategies import NARROW, prediction_problems, quick, random_weighting, seeds


@quick
@given(make=prediction_problems(representations=NARROW), seed=seeds)
def test_constants_are_suprema(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    n, x, p = problem.mdp.n_states, problem.features, problem.discounted_transition
    d = random_weighting(rng, n)
    c_d, c_f = transition_constant(problem, d), operator_constant(problem, d)
    assert c_d == pytest.approx(matrix_norm(p, d))
    pi = exact.projection_matrix(x, d)
    w = rng.standard_normal((200, x.shape[1]))
    ratios = [norm(pi @ p @ v, d) / norm(v, d) for v in w @ x.T]
    assert max(ratios) <= c_f * (1 + 1e-9)
    # climb from the best of them: the supremum is attained
    v = (w @ x.T)[np.argmax(ratios)]
    adjoint = (p.T * d) / d[:, None]
    for _ in range(3000):
        v = pi @ adjoint @ pi @ p @ v
        v = v / max(norm(v, d), 1e-300)
    assert norm(pi @ p @ v, d) == pytest.approx(c_f, rel=1e-3, abs=1e-9)
    u = x @ rng.standard_normal(x.shape[1])
    assert operator_constant(problem, d, differences=u[:, None]) == pytest.approx(norm(pi @ p @ u, d) / norm(u, d))


@quick
@given(make=prediction_problems(representations=("random",)), seed=seeds)
def test_a_contraction_makes_td_converge(make, seed):
    """v'D(I - Pi P)v >= (1 - c_F) ||v||_d^2, so the symmetric part of A exceeds (1 - c_F) C."""
    problem, rng = make(), np.random.default_rng(seed)
    for d in (exact.weighting(problem, "emphatic"), random_weighting(rng, problem.mdp.n_states)):
        c_f = operator_constant(problem, d)
        a, _, c = exact.linear_system(problem, d)
        assert np.linalg.eigvalsh((a + a.T) / 2 - (1 - c_f) * c).min() >= -1e-9 * (1 + np.abs(a).max())


def test_td_can_converge_without_a_contraction():
    problem, d = two_states(0.95, 0.9, [1, -3], [1, 1])
    assert operator_constant(problem, d) == pytest.approx(2.16 / 1.4)  # Pi P x = -1.54 x
    assert exact.linear_system(problem, d).A.item() == pytest.approx(1.4 + 2.16)


def test_a_direction_that_the_weighting_does_not_see_makes_the_constant_infinite():
    problem, _ = two_states(0.5, 0.9, [1, 2], [1, 1])
    blind = problem.replace(features=np.eye(2))
    assert operator_constant(blind, np.array([1.0, 0.0])) == np.inf  # state 1 leads to state 2, which is not weighted
    assert operator_constant(blind, np.array([0.0, 1.0])) == pytest.approx(0.9)
    assert transition_constant(blind, np.array([1.0, 0.0])) == np.inf
    assert value_error_bound(blind, np.array([1.0, 0.0])).right == np.inf


@quick
@given(seed=seeds, n=st.integers(3, 6))
def test_the_graph_decides_whether_d_pi_contracts(seed, n):
    """c_{d_pi} < 1 if and only if every class of states linked by common successors has a discount."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        p = np.zeros((n, 1, n))
        for s in range(n):
            p[s, 0, rng.choice(n, rng.integers(1, 3), replace=False)] = 1
            p[s, 0, (s + 1) % n] = 1
        p /= p.sum(-1, keepdims=True)
        discount = np.where(rng.random(p.shape) < 0.3, 0.7, 1.0)
        discount[0, 0, 1] = 0.7
        problem = mdp.PredictionProblem(mdp.FiniteMDP(p, 0.0, discount), [1], [1])
        c = transition_constant(problem, "target")
        assert c <= 1 + 1e-12
        assert every_link_discounted(problem) == (c < 1 - 1e-9)
        assert proposition_1(problem, "target", case=1).assumptions_hold == (c < 1 - 1e-9)
        assert transition_constant(problem, "target", lam=0.3) < 1


@quick
@given(seed=seeds, m=st.integers(1, 5), k=st.integers(1, 4), hard=st.booleans())
def test_farthest_meets_its_dual(seed, m, k, hard):
    """Strong duality: max ||c + M a||^2 = ||c||^2 + min over mu of mu R^2 + c'M (mu - M'M)^-1 M'c."""
    rng = np.random.default_rng(seed)
    c, operator, radius = rng.standard_normal(m), rng.standard_normal((m, k)), 10 ** rng.uniform(-2, 2)
    u, s, _ = np.linalg.svd(operator, full_matrices=False)
    if hard:
        c = c - u[:, 0] * (u[:, 0] @ c)
    pull = s * (u.T @ c)

    def dual(log_gap: float) -> float:
        gap = np.exp(log_gap)
        away = s[0] ** 2 - s**2 + gap
        return (s[0] ** 2 + gap) * radius**2 + (pull**2 / away).sum()

    best = min(minimize_scalar(dual, bounds=(low, low + 12), method="bounded").fun for low in range(-36, 14, 10))
    assert farthest(c, operator, radius) ** 2 == pytest.approx(c @ c + best, rel=1e-6)
    sample = rng.standard_normal((500, k))
    sample *= radius / np.linalg.norm(sample, axis=1, keepdims=True)
    assert np.linalg.norm(c + sample @ operator.T, axis=1).max() <= farthest(c, operator, radius) * (1 + 1e-9)


def test_farthest_in_closed_form():
    assert farthest(np.array([3.0, 4.0]), np.zeros((2, 3))) == 5  # nothing moves: bounded without a radius
    assert farthest(np.array([3.0, 4.0]), np.eye(2)) == np.inf
    assert farthest(np.array([3.0, 4.0]), np.eye(2), radius=2.0) == pytest.approx(7)
    assert farthest(np.array([1.0, 0.0]), np.diag([1.0, 2.0]), radius=1.0) ** 2 == pytest.approx(16 / 3)
    batch = farthest(np.array([[3.0, 4.0], [0.0, 0.0]]), np.eye(2), radius=np.array([2.0, 5.0]))
    np.testing.assert_allclose(batch, [7, 5])


@quick
@given(make=prediction_problems(representations=NARROW), seed=seeds)
def test_worst_approximation_error_is_a_maximum_over_the_ball(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    n, x = problem.mdp.n_states, problem.features
    d, phi = random_weighting(rng, n), rng.standard_normal((n, 1))
    worst = worst_approximation_error(problem, d, phi, radius=2.0)
    values = rng.standard_normal((300, x.shape[1])) @ x.T
    values *= 2 / np.sqrt((d * values**2).sum(1, keepdims=True))
    errors = approximation_error(problem, values, d, phi)
    assert errors.max() <= worst * (1 + 1e-9)
    line = problem.replace(features=x[:, :1])
    v = x[:, 0] * 2 / norm(x[:, 0], d) if x[:, 0].any() else np.zeros(n)
    ends = max(approximation_error(line, v, d, phi), approximation_error(line, -v, d, phi))
    assert worst_approximation_error(line, d, phi, radius=2.0) == pytest.approx(ends)
