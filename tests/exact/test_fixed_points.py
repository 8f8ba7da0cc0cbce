"""Minima of the objectives: closed forms, limits, singular systems and published numbers."""

import numpy as np
import pytest
from hypothesis import given

from gpbe import exact, features, mdp
from helpers.reference import a_case, options_of, regression, td_moments
from helpers.strategies import NARROW, prediction_problems, quick, seeds


@pytest.mark.parametrize("objective", exact.OBJECTIVES)
@quick
@given(make=prediction_problems(representations=NARROW), seed=seeds)
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
def test_traces_of_one_make_td_minimize_the_value_error(make, seed):
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
    # and it is the maximum of the penalized conjugate: max_t 2 g't - t'(C + R)t
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
