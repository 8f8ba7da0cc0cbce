"""Every objective against its definition, and the identities between them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbe import InputError, exact, mdp
from helpers.reference import a_case, options_of, regression, td_moments
from helpers.strategies import (
    prediction_problems,
    quick,
    random_problem,
    seeds,
    stack,
)


@quick
@given(make=prediction_problems(), seed=seeds)
def test_objectives_are_what_they_are_defined_to_be(make, seed):
    problem, _, v, d, phi = a_case(make, seed)
    mean, square = td_moments(problem, v)
    np.testing.assert_allclose(exact.expected_td_error(problem, v), mean, atol=1e-12)
    assert exact.value_error(problem, v, d) == pytest.approx((d * (v - problem.values) ** 2).sum())
    assert exact.bellman_error(problem, v, d) == pytest.approx((d * mean**2).sum())
    assert exact.td_error(problem, v, d) == pytest.approx((d * square).sum())
    assert exact.projected_bellman_error(problem, v, d, phi) == pytest.approx((d * regression(mean, phi, d) ** 2).sum())
    update = problem.features.T @ (d * mean)
    assert exact.expected_update_norm(problem, v, d) == pytest.approx((update**2).sum())


@quick
@given(make=prediction_problems(), seed=seeds)
def test_all_errors_vanish_at_the_true_values_but_those_with_noise(make, seed):
    problem, _, _, d, phi = a_case(make, seed)
    v = problem.values
    for error in (exact.value_error, exact.bellman_error, exact.expected_update_norm):
        assert error(problem, v, d) == pytest.approx(0, abs=1e-20)
    assert exact.projected_bellman_error(problem, v, d, phi) == pytest.approx(0, abs=1e-20)
    assert exact.td_error(problem, v, d) > 1e-6
    assert exact.return_error(problem, v, d) > 1e-6


@quick
@given(make=prediction_problems(), seed=seeds)
def test_td_error_is_bellman_error_plus_variance(make, seed):
    problem, _, v, d, _ = a_case(make, seed)
    mean, square = td_moments(problem, v)
    parts = exact.td_error_parts(problem, v, d)
    assert parts.variance == pytest.approx((d * (square - mean**2)).sum())
    assert parts.total == pytest.approx(parts.bellman + parts.variance)
    assert parts.bellman == pytest.approx(exact.bellman_error(problem, v, d))


def layered(seed: int) -> mdp.PredictionProblem:
    """Three layers of two states, then the end: every episode has three steps, so returns can be enumerated."""
    rng = np.random.default_rng(seed)
    transition = np.zeros((7, 2, 7))
    for s in range(6):
        layer = slice(6, 7) if s >= 4 else slice(s // 2 * 2 + 2, s // 2 * 2 + 4)
        width = layer.stop - layer.start
        transition[s, :, layer] = rng.dirichlet(np.ones(width), 2)
    reward, discount = rng.standard_normal((7, 2, 7)), rng.uniform(0.5, 1, (7, 2, 7))
    m = mdp.FiniteMDP.episodic(transition, reward, discount, [0.5, 0.5, 0, 0, 0, 0, 0], [6])
    policy = rng.dirichlet(np.ones(2), 6)
    return mdp.PredictionProblem(m, policy, policy, rng.standard_normal((6, 2)))


def returns(problem: mdp.PredictionProblem, s: int) -> list[tuple[float, float]]:
    """Every (probability, return) from s, by walking all trajectories to the end."""
    m, found = problem.mdp, []
    for a, n in itertools.product(range(m.n_actions), range(m.n_states)):
        chance = problem.target[s, a] * m.transition[s, a, n]
        if chance > 0:
            gamma = m.discount[s, a, n]
            later = [(1.0, 0.0)] if gamma == 0 else returns(problem, n)
            found += [(chance * p, m.reward[s, a, n] + gamma * g) for p, g in later]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_return_error_counts_every_trajectory(seed):
    problem, rng = layered(seed), np.random.default_rng(seed)
    v, d = rng.standard_normal(6), rng.dirichlet(np.ones(6))
    everything = [returns(problem, s) for s in range(6)]
    assert max(map(len, everything)) >= 32
    np.testing.assert_allclose(problem.values, [sum(p * g for p, g in one) for one in everything])
    errors = [sum(p * (v[s] - g) ** 2 for p, g in one) for s, one in enumerate(everything)]
    assert exact.return_error(problem, v, d) == pytest.approx(d @ errors)
    variance = [sum(p * (g - problem.values[s]) ** 2 for p, g in one) for s, one in enumerate(everything)]
    np.testing.assert_allclose(exact.return_variance(problem), variance)


def test_return_variance_of_the_fair_walk():
    """Undiscounted, the return is -1 or 1, so Var[G] = 1 - v^2."""
    problem = mdp.PredictionProblem(mdp.random_walk(7, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    np.testing.assert_allclose(exact.return_variance(problem), 1 - problem.values**2)


@quick
@given(make=prediction_problems(), seed=seeds, lam=st.sampled_from([0.0, 0.6]))
def test_pbe_is_the_largest_value_of_the_conjugate(make, seed, lam):
    problem, rng, v, d, phi = a_case(make, seed)
    pbe = exact.projected_bellman_error(problem, v, d, phi, lam=lam)
    best = exact.maximizing_h(problem, v, d, phi, lam=lam)
    np.testing.assert_allclose(best.h, phi @ best.weights)
    assert exact.conjugate(problem, v, d, best.h, lam=lam) == pytest.approx(pbe)
    for size in (1e-3, 0.1, 1.0, 10.0):
        other = best.h + phi @ (size * rng.standard_normal(phi.shape[1]))
        value = exact.conjugate(problem, v, d, other, lam=lam)
        # a parabola: what is lost is exactly the squared distance from the maximizer
        assert pbe - value == pytest.approx((d * (other - best.h) ** 2).sum(), rel=1e-6, abs=1e-9 * (1 + pbe))


@quick
@given(make=prediction_problems(), seed=seeds, lam=st.sampled_from([0.0, 0.6, 1.0]))
def test_linear_pbe_in_matrix_form(make, seed, lam):
    """PBE = ||b - A w||^2 in the norm of C^-1 (a pseudo-inverse for dependent features)."""
    problem, rng, _, d, _ = a_case(make, seed)
    x, p = problem.features, problem.discounted_transition
    w = rng.standard_normal(x.shape[1])
    a, b, c = exact.linear_system(problem, d, lam=lam)
    resolvent = np.linalg.inv(np.eye(len(d)) - lam * p)
    np.testing.assert_allclose(a, x.T @ np.diag(d) @ resolvent @ (np.eye(len(d)) - p) @ x, atol=1e-10)
    np.testing.assert_allclose(b, x.T @ np.diag(d) @ resolvent @ problem.expected_reward, atol=1e-10)
    np.testing.assert_allclose(c, x.T @ np.diag(d) @ x, atol=1e-12)
    rest = b - a @ w
    expected = rest @ np.linalg.pinv(c, rcond=1e-12, hermitian=True) @ rest
    assert exact.projected_bellman_error(problem, x @ w, d, lam=lam) == pytest.approx(expected, rel=1e-6)
    assert exact.expected_update_norm(problem, x @ w, d, lam=lam) == pytest.approx(rest @ rest, rel=1e-6)
    h = exact.maximizing_h(problem, x @ w, d, lam=lam)
    np.testing.assert_allclose(c @ h.weights, rest, atol=1e-8 * (1 + np.abs(rest).max()))


@quick
@given(make=prediction_problems(), seed=seeds)
def test_a_larger_set_h_gives_a_larger_error_up_to_the_bellman_error(make, seed):
    problem, rng, v, d, _ = a_case(make, seed)
    n = len(d)
    basis = rng.standard_normal((n, n))
    errors = [exact.projected_bellman_error(problem, v, d, basis[:, : k + 1]) for k in range(n)]
    assert all(np.diff(errors) >= -1e-9 * errors[-1])
    assert errors[-1] == pytest.approx(exact.bellman_error(problem, v, d))


@quick
@given(make=prediction_problems(), seed=seeds)
def test_identifiable_error_lies_below_the_bellman_error(make, seed):
    problem, rng, v, d, _ = a_case(make, seed)
    n, be = len(d), exact.bellman_error(problem, v, d)
    mean, _ = td_moments(problem, v)
    labels = rng.integers(3, size=n)
    by_label = sum((d * mean)[labels == i].sum() ** 2 / d[labels == i].sum() for i in set(labels))
    assert exact.identifiable_bellman_error(problem, v, d, labels) == pytest.approx(by_label)
    assert by_label <= be * (1 + 1e-12)
    assert exact.identifiable_bellman_error(problem, v, d, rng.permutation(n)) == pytest.approx(be)


@quick
@given(make=prediction_problems(), seed=seeds)
def test_kernels_that_give_other_objectives(make, seed):
    problem, rng, v, d, _ = a_case(make, seed)
    x = problem.features
    assert exact.kernel_bellman_error(problem, v, d, np.diag(1 / d)) == pytest.approx(
        exact.bellman_error(problem, v, d)
    )
    neu = exact.expected_update_norm(problem, v, d)
    assert exact.kernel_bellman_error(problem, v, d, x @ x.T) == pytest.approx(neu, rel=1e-6)
    assert exact.kernel_bellman_error(problem, v, d, lambda s, t: float(x[s] @ x[t])) == pytest.approx(neu, rel=1e-6)
    root = rng.standard_normal((len(d), len(d)))
    mean, _ = td_moments(problem, v)
    expected = (d * mean) @ root @ root.T @ (d * mean)
    assert exact.kernel_bellman_error(problem, v, d, root @ root.T) == pytest.approx(expected, rel=1e-6)


@quick
@given(make=prediction_problems(), seed=seeds)
def test_nonlinear_pbe_is_that_of_maei(make, seed):
    """E[delta g]' E[g g']^-1 E[delta g] with g the gradient of v(s) = tanh(x(s)'w)."""
    problem, rng, _, d, _ = a_case(make, seed)
    x = rng.standard_normal((len(d), 2))
    v = np.tanh(x @ rng.standard_normal(2))
    g = (1 - v**2)[:, None] * x
    mean, _ = td_moments(problem, v)
    update, gram = g.T @ (d * mean), g.T @ (d[:, None] * g)
    expected = update @ np.linalg.solve(gram, update)
    assert exact.nonlinear_projected_bellman_error(problem, v, d, g) == pytest.approx(expected)


@quick
@given(make=prediction_problems(), seed=seeds)
def test_bellman_error_splits_into_projected_and_penalty(make, seed):
    problem, rng, v, d, phi = a_case(make, seed)
    parts = exact.bellman_error_parts(problem, v, d, phi)
    assert parts.total == pytest.approx(parts.projected + parts.penalty)
    assert parts.projected == pytest.approx(exact.projected_bellman_error(problem, v, d, phi))
    # for v in H the parts are the paper's || v - Pi T v ||^2 and || T v - Pi T v ||^2
    inside = phi @ rng.standard_normal(phi.shape[1])
    parts = exact.bellman_error_parts(problem, inside, d, phi)
    bellman = inside + td_moments(problem, inside)[0]
    onto = regression(bellman, phi, d)
    assert parts.projected == pytest.approx((d * (inside - onto) ** 2).sum(), abs=1e-9 * parts.total)
    assert parts.penalty == pytest.approx((d * (bellman - onto) ** 2).sum(), abs=1e-9 * parts.total)


def test_the_papers_split_needs_values_in_h():
    """One state, v = 1, T v = 1/2, H = {0}: || v - Pi T v ||^2 + || T v - Pi T v ||^2 is 1 + 1/4, but BE = 1/4."""
    problem = mdp.PredictionProblem(mdp.FiniteMDP([[[1]]], 0.0, 0.5), [1], [1])
    parts = exact.bellman_error_parts(problem, [1.0], [1.0], [[0.0]])
    assert parts.total == pytest.approx(0.25)
    assert (parts.projected, parts.penalty) == (0, pytest.approx(0.25))


@quick
@given(make=prediction_problems(), seed=seeds, lam=st.sampled_from([0.0, 0.3, 0.9]))
def test_lambda_mixes_n_step_returns(make, seed, lam):
    """T^lam v = (1 - lam) sum_n lam^n T^(n+1) v."""
    problem, _, v, d, _ = a_case(make, seed)
    mixed, weight, reach = np.zeros(len(d)), 1 - lam, v
    for _ in range(2000):
        reach = problem.expected_reward + problem.discounted_transition @ reach
        mixed, weight = mixed + weight * reach, weight * lam
    np.testing.assert_allclose(exact.expected_td_error(problem, v, lam=lam), mixed - v, atol=1e-7)
    assert exact.bellman_error(problem, v, d, lam=lam) == pytest.approx((d * (mixed - v) ** 2).sum(), rel=1e-5)


def test_batches_equal_loops():
    problems = [random_problem(seed, kind=kind, columns=2) for seed in range(4) for kind in ("mixed", "episodic")]
    batch, rng = stack(problems), np.random.default_rng(0)
    v, d = rng.standard_normal((8, 5)), rng.dirichlet(np.ones(5), 8)
    every = {name: options_of(name, rng, 5) for name in exact.OBJECTIVES}
    for name, options in every.items():
        value = exact.quadratic(batch, name, d, **options).at(v)
        one = [exact.quadratic(p, name, d[i], **options).at(v[i]) for i, p in enumerate(problems)]
        np.testing.assert_allclose(value, one, rtol=1e-9)
        weights = exact.fixed_point(batch, name, d, **options)
        one = [exact.fixed_point(p, name, d[i], **options) for i, p in enumerate(problems)]
        np.testing.assert_allclose(weights, one, rtol=1e-6)
    np.testing.assert_allclose(
        exact.return_variance(batch), [exact.return_variance(p) for p in problems], rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        exact.maximizing_h(batch, v, d).h, [exact.maximizing_h(p, v[i], d[i]).h for i, p in enumerate(problems)]
    )
    for i in range(8):
        np.testing.assert_allclose(exact.linear_system(batch, d).A[i], exact.linear_system(problems[i], d[i]).A)


def test_options_that_an_objective_does_not_have_are_refused():
    problem = mdp.aliased()
    with pytest.raises(InputError, match="'ve' does not depend on 'lam'; it takes no options"):
        exact.fixed_point(problem, "ve", "behavior", lam=0.5)
    with pytest.raises(InputError, match="there is no objective 'mse'"):
        exact.fixed_point(problem, "mse", "behavior")
    with pytest.raises(InputError, match="needs aliases"):
        exact.fixed_point(problem, "ibe", "behavior")
    with pytest.raises(InputError, match="not symmetric positive semidefinite"):
        exact.kernel_bellman_error(problem, np.zeros(4), "behavior", -np.eye(4))
    with pytest.raises(InputError, match=r"v has shape \(3,\); it should end in \(4\)"):
        exact.value_error(problem, np.zeros(3), "behavior")
    with pytest.raises(InputError, match="ridge must not be negative"):
        exact.projected_bellman_error(problem, np.zeros(4), "behavior", ridge=-1.0)
