"""Every objective against its definition, the identities between them, and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbe import InputError, exact, features, mdp
from strategies import prediction_problems, quick, random_problem, random_weighting, seeds, stack


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


# ---------------------------------------------------------------- definitions


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


# ------------------------------------------------------- the generalized PBE


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
        # a parabola: what is lost is exactly the squared distance from the maximiser
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


# ---------------------------------------------------------------- fixed points


def options_of(objective: str, rng: np.random.Generator, n: int) -> dict:
    root = rng.standard_normal((n, n))
    return {
        "pbe": {"projection": rng.standard_normal((n, n - 1)), "lam": 0.4},
        "be": {"lam": 0.4},
        "ibe": {"aliases": rng.integers(3, size=n)},
        "kbe": {"kernel": root @ root.T},
    }.get(objective, {})


@pytest.mark.parametrize("objective", exact.OBJECTIVES)
@quick
@given(make=prediction_problems(representations=("random", "repeated", "aggregated")), seed=seeds)
def test_fixed_points_are_minima(objective, make, seed):
    problem, rng, _, d, _ = a_case(make, seed)
    x, options = problem.features, options_of(objective, np.random.default_rng(seed), len(d))
    q = exact.quadratic(problem, objective, d, **options)
    found = exact.solution(problem, objective, d, **options)
    np.testing.assert_allclose(found.values, x @ found.weights, atol=1e-9)
    assert q.at(found.values) == pytest.approx(found.error, abs=1e-12)
    scale = 1 + np.abs(found.weights).max()
    curvature = np.linalg.norm(q.operator @ x) ** 2
    for direction in rng.standard_normal((4, x.shape[1])):
        for step in (1e-3, 1.0):
            up, down = (q.at(x @ (found.weights + sign * step * scale * direction)) for sign in (1, -1))
            assert min(up, down) >= found.error - 1e-9 * (1 + found.error)
            slope = (up - down) / (2 * step * scale)
            assert abs(slope) <= 1e-6 * scale * (1 + curvature) * np.linalg.norm(direction)


@quick
@given(make=prediction_problems(representations=("repeated",)), seed=seeds)
def test_dependent_features_give_the_shortest_weights(make, seed):
    problem, _, _, d, _ = a_case(make, seed)
    found = exact.solution(problem, "be", d)
    rank = np.linalg.matrix_rank(problem.features)
    assert found.rank == found.feature_rank == rank < problem.features.shape[1]
    assert found.unique_values
    assert not found.unique_weights
    assert found.condition == np.inf
    null = np.linalg.svd(problem.features)[2][rank:]
    np.testing.assert_allclose(null @ found.weights, 0, atol=1e-9 * (1 + np.abs(found.weights).max()))


@quick
@given(make=prediction_problems(representations=("random",)), seed=seeds)
def test_oblique_projection_gives_the_solution(make, seed):
    """Corollary 3: v = Pi v_pi with Pi = X (M'LX)^-1 M'L and M = Pi_H' D L X."""
    problem, _, _, d, phi = a_case(make, seed)
    x, l = problem.features, problem.bellman_matrix
    phi = np.concatenate([x, phi], axis=1)
    pi_h = np.stack([regression(e, phi, d) for e in np.eye(len(d))], axis=1)
    m = pi_h.T @ np.diag(d) @ l @ x
    pi = x @ np.linalg.solve(m.T @ l @ x, m.T @ l)
    size = np.abs(pi).max()
    np.testing.assert_allclose(exact.oblique_projection(problem, d, phi), pi, atol=1e-6 * size)
    np.testing.assert_allclose(pi @ x, x, atol=1e-6 * size)
    solution = x @ exact.fixed_point(problem, "pbe", d, projection=phi)
    np.testing.assert_allclose(solution, pi @ problem.values, atol=1e-6 * size * np.abs(problem.values).max())


@quick
@given(make=prediction_problems(), seed=seeds)
def test_traces_of_one_make_td_minimise_the_value_error(make, seed):
    problem, _, _, d, _ = a_case(make, seed)
    expected = exact.fixed_point(problem, "ve", d)
    np.testing.assert_allclose(exact.fixed_point(problem, "pbe", d, lam=1.0), expected, atol=1e-7)
    np.testing.assert_allclose(exact.fixed_point(problem, "re", d), expected, atol=1e-12)
    np.testing.assert_allclose(problem.features @ expected, regression(problem.values, problem.features, d), atol=1e-8)


@quick
@given(make=prediction_problems(representations=("table",)), seed=seeds)
def test_tables_have_their_minimum_at_the_true_values(make, seed):
    problem, _, _, d, _ = a_case(make, seed)
    for objective in ("ve", "re", "be", "pbe", "neu"):
        np.testing.assert_allclose(exact.fixed_point(problem, objective, d), problem.values, atol=1e-8)


@quick
@given(make=prediction_problems(), seed=seeds)
def test_ridge_leads_from_one_set_to_a_larger_one(make, seed):
    """H = F and, behind a penalty, one more direction: penalty infinity is F alone, 0 is both."""
    problem, rng, v, d, _ = a_case(make, seed)
    x = rng.standard_normal((len(d), 2))
    narrow, wide = (exact.projected_bellman_error(problem, v, d, x[:, :k]) for k in (1, 2))
    at = [exact.projected_bellman_error(problem, v, d, x, ridge=[0.0, r]) for r in (np.inf, 1e9, 1.0, 1e-2, 1e-12, 0.0)]
    assert at[0] == pytest.approx(narrow)
    assert at[1] == pytest.approx(narrow, rel=1e-5)
    assert at[-2] == pytest.approx(wide, rel=1e-5)
    assert at[-1] == pytest.approx(wide)
    assert all(np.diff(at) >= -1e-9 * wide)
    # and it is the maximum of the penalised conjugate: max_t 2 g't - t'(C + R)t
    mean, _ = td_moments(problem, v)
    g, c = x.T @ (d * mean), x.T @ (d[:, None] * x)
    assert at[2] == pytest.approx(g @ np.linalg.solve(c + np.diag([0.0, 1.0]), g))


def doubling(share: float, gamma: float = 0.75, reward: float = 1.0) -> tuple[mdp.PredictionProblem, np.ndarray]:
    """Values w and 2w, both states lead to the second: A = share (1 - 2 gamma) + 4 (1 - share) (1 - gamma)."""
    m = mdp.FiniteMDP([[[0, 1]], [[0, 1]]], [[[0, reward]], [[0, 0]]], gamma)
    return mdp.PredictionProblem(m, [1], [1], [[1], [2]]), np.array([share, 1 - share])


def test_a_singular_system_has_the_shortest_solution_and_says_so():
    problem, d = doubling(2 / 3)
    np.testing.assert_allclose(exact.linear_system(problem, d).A, 0, atol=1e-16)
    found = exact.solution(problem, "pbe", d)
    assert (found.rank, found.feature_rank, found.condition) == (0, 1, np.inf)
    assert not found.unique_values
    np.testing.assert_array_equal(found.weights, [0.0])
    assert found.error == pytest.approx((2 / 3) ** 2 / 2)  # b^2 / C, whatever w
    # a little beside the singular point the solution is unique, solves A w = b, and is huge
    problem, d = doubling(2 / 3 + 1e-6)
    found = exact.solution(problem, "pbe", d)
    assert found.unique_weights
    assert found.weights[0] == pytest.approx(-(2 / 3 + 1e-6) / 1.5e-6, rel=1e-6)
    assert found.error == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- batches, refusals, published numbers


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


def test_aliased_example():
    problem = mdp.aliased()
    np.testing.assert_allclose(exact.fixed_point(problem, "pbe", "behavior"), [1 / 2, 1, 0], atol=1e-12)
    np.testing.assert_allclose(exact.fixed_point(problem, "be", "behavior"), [1 / 2, 3 / 4, 1 / 4], atol=1e-12)


def test_td_error_moves_even_tables_away_from_the_truth():
    """The paper's 0.26: the TDE of the five-state walk, a table, all states equally important."""
    walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5])
    distance = np.linalg.norm(exact.fixed_point(walk, "tde", "uniform") - walk.values)
    assert distance == pytest.approx(0.2635, abs=5e-5)


def test_kolter_explodes_where_a_vanishes():
    """A = x'D(I - P)x is linear in p; the published root is 0.684386."""
    ends = exact.linear_system(mdp.kolter(p=[1e-9, 1 - 1e-9]), "behavior").A[:, 0, 0]
    assert ends[0] / (ends[0] - ends[1]) == pytest.approx(0.684386, abs=5e-7)
    near, beside = (np.abs(exact.fixed_point(mdp.kolter(p=p), "pbe", "behavior")) for p in (0.684386, 0.6))
    assert near > 1e4
    assert beside < 2
    bellman = exact.solution(mdp.kolter(p=0.684386), "be", "behavior").values
    assert exact.value_error(mdp.kolter(p=0.684386), bellman, "behavior") < 0.2**2


def test_baird_starts_at_the_published_values():
    star = mdp.baird()
    np.testing.assert_array_equal(star.features @ star.initial_weights, [3] * 6 + [12])
    assert exact.value_error(star, star.features @ star.initial_weights, "behavior") == pytest.approx((6 * 9 + 144) / 7)


def test_identifiability_pair():
    """Sutton and Barto, example 11.4: the same data, different Bellman errors, one identifiable error."""
    one, two = mdp.identifiability_pair()
    for w in np.random.default_rng(0).standard_normal((5, 2)):
        errors = [
            exact.identifiable_bellman_error(p, p.features @ w, "behavior", [0, 1, 1][: p.mdp.n_states])
            for p in (one, two)
        ]
        assert errors[0] == pytest.approx(errors[1])
        assert errors[0] == pytest.approx(exact.bellman_error(one, one.features @ w, "behavior"))
    assert exact.bellman_error(one, np.zeros(2), "behavior") == pytest.approx(0)
    assert exact.bellman_error(two, np.zeros(3), "behavior") == pytest.approx(2 / 3)
    assert features.aggregation([0, 1, 1]).tolist() == two.features.tolist()
