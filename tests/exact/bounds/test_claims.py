"""Where a claim of the paper needs more than it says: the counterexamples of docs/claims.md."""

import numpy as np
import pytest

from gpbe import exact, mdp
from gpbe.exact.bounds.constants import transition_constant
from gpbe.exact.bounds.paper import approximation_error_bound, convex_subset_bound, oblique_bound, proposition_1
from gpbe.exact.bounds.published import antos_bound, hallak_bound, kolter_bound, scherrer_bound
from helpers.reference import chain, norm, two_states
from helpers.strategies import random_problem


def test_proposition_1_case_1_needs_a_discount_on_every_link():
    bound = proposition_1(chain(), "target", case=1)
    assert bound.left == pytest.approx(1, abs=1e-14)
    assert not bound.holds
    assert not bound.assumptions["every link is discounted"]
    assert proposition_1(chain(), "emphatic", case=1).holds  # m needs no such condition
    assert proposition_1(chain(), "target", case=3).holds


def test_proposition_1_case_1_with_traces_is_about_the_lambda_operator():
    star = mdp.baird()
    m = exact.weighting(star, "emphatic", lam=1.0)
    assert transition_constant(star, m) == pytest.approx(0.99 * np.sqrt(7))  # P itself: m is d_b
    assert transition_constant(star, m, lam=1.0) == pytest.approx(0, abs=1e-12)
    assert transition_constant(star, exact.weighting(star, "emphatic", lam=0.999)) > 1
    assert proposition_1(star, "emphatic", case=1, lam=0.999).holds


def test_proposition_1_case_1_for_d_pi_needs_one_lambda():
    """Two states in a cycle, bootstrapping in one only: || P^lam || = gamma sqrt(1 + gamma^2)."""
    problem = mdp.PredictionProblem(mdp.FiniteMDP([[[0, 1]], [[1, 0]]], 1.0, 0.9), [1], [1])
    bound = proposition_1(problem, "target", case=1, lam=np.array([0.0, 1.0]))
    assert bound.left == pytest.approx(0.9 * np.sqrt(1.81))
    assert not bound.holds
    assert not bound.assumptions["lam is one number"]
    assert proposition_1(problem, "emphatic", case=1, lam=np.array([0.0, 1.0])).holds


def test_proposition_1_where_the_behavior_does_not_go():
    """d_b and m are 0 in a state that is left for good; they never lead back there, so the constants are finite."""
    m = mdp.FiniteMDP([[[0, 1, 0]], [[0, 0, 1]], [[0, 1, 0]]], reward=1.0, discount=0.5)
    problem = mdp.PredictionProblem(m, [1], [1], [[1], [2], [3]])
    for case in (1, 2, 3, 4):
        bound = proposition_1(problem, "target", case=case)
        assert bound.assumptions_hold
        assert bound.holds
    assert transition_constant(problem, "emphatic") == pytest.approx(0.5)
    # a weighting that is positive there makes kappa infinite, and the bound empty
    bound = proposition_1(problem, [1.0, 1.0, 1.0], case=4)
    assert bound.right == np.inf
    assert not bound.assumptions_hold


def test_theorem_2_needs_a_unique_solution():
    """d = (2/3, 1/3), gamma = 3/4, x = (1, 2): A = 0, so the shortest solution is 0, and so is 'the projection'."""
    problem, d = two_states(2 / 3, 0.75, [1, 2], [1, 1])
    np.testing.assert_allclose(exact.linear_system(problem, d).A, 0, atol=1e-16)
    bound = oblique_bound(problem, d)
    assert not bound.assumptions["the solution is unique"]
    assert (bound.left, bound.right) == (pytest.approx(1), 0)
    assert not bound.holds


def test_theorem_2_needs_more_than_the_zero_function():
    problem, d = two_states(0.5, 0.75, [0, 0], [1, 1])
    bound = oblique_bound(problem, d)
    assert not bound.assumptions["F is more than 0"]
    assert (bound.left, bound.right) == (pytest.approx(1), 0)
    assert bound.constants["||I - Pi||_d"] == pytest.approx(1)  # with which it would hold


def test_true_values_in_f_are_found_only_where_the_solution_is_unique():
    """The same A = 0 with v_pi = (1, 2) in F: every function of F has PBE 0, and the shortest is 0."""
    problem, d = two_states(2 / 3, 0.75, [1, 2], [1, 2])
    v = exact.solution(problem, "pbe", d)
    assert not v.unique_values
    assert norm(v.values - problem.values, d) == pytest.approx(np.sqrt(2))
    assert not convex_subset_bound(problem, d).assumptions_hold


def test_theorem_3_mixes_no_squares_with_norms():
    """One state, v_pi = 0, gamma = 1/2, so T v - v = -v/2 and ||(I - P)^-1|| = 2, for H = everything and H = {0}."""
    problem = mdp.PredictionProblem(mdp.FiniteMDP([[[1]]], 0.0, 0.5), [1], [1])
    d, small, large = np.ones(1), np.array([0.1]), np.array([10.0])
    everything = approximation_error_bound(problem, small, d, [[1.0]])
    pbe = everything.constants["sqrt(PBE)"] ** 2
    assert everything.left == pytest.approx(everything.right)  # norms: tight
    assert everything.left > 2 * (pbe + everything.constants["ApproxError(H, v)"])  # PBE itself in its place
    nothing = approximation_error_bound(problem, large, d, [[0.0]])
    missed = nothing.constants["ApproxError(H, v)"]
    assert nothing.left == pytest.approx(nothing.right)
    assert nothing.left**2 > 2**2 * (0 + missed)  # squares everywhere else, as in the proof
    assert exact.bellman_error(problem, large, d) == pytest.approx(missed**2)  # BE - PBE = ApproxError^2


def test_theorem_3_third_line_is_infinite_on_a_linear_space():
    problem, d = two_states(0.5, 0.9, [1, 2], [1, 1])
    v = np.array([1.0, 2.0])
    bound = approximation_error_bound(problem, v, d, form="worst")
    assert bound.right == np.inf
    assert approximation_error_bound(problem, v, d, np.eye(2), form="worst").right < np.inf
    assert antos_bound(problem, d).right == np.inf
    assert np.isfinite(antos_bound(problem, d, radius=10.0).right)


def test_kolters_problem_has_a_convex_subset_up_to_the_point_where_it_explodes():
    """Below p = 0.684 the operator contracts on all of F; the bound is finite, but not uniformly in p."""
    rights = []
    for p in (0.6, 0.68, 0.684, 0.6843):
        bound = convex_subset_bound(mdp.kolter(p=p), "behavior")
        assert bound.assumptions_hold
        assert bound.holds
        rights.append(bound.right)
    assert all(np.diff(rights) > 0)
    assert rights[-1] > 1000
    for p in (0.6845, 0.7, 0.9):
        assert not convex_subset_bound(mdp.kolter(p=p), "behavior").assumptions_hold


def test_corollary_2_holds_where_no_fixed_point_exists():
    """Weights of state 0 at which det A = 0: PBE > 0 everywhere, and the bound is about the least-squares solution."""
    tried = 0
    for seed in range(150):
        problem = random_problem(seed, states=4, kind="continuing", columns=2)
        d = np.random.default_rng(seed).dirichlet(np.ones(4))

        def determinant(scale, problem=problem, d=d):
            return np.linalg.det(exact.linear_system(problem, d * np.where(np.arange(4), 1, scale)).A)

        # a polynomial of degree 2 in the weight of one state
        for scale in np.roots(np.polyfit([0, 1, 2], [determinant(s) for s in (0.0, 1.0, 2.0)], 2)):
            if abs(scale.imag) < 1e-12 and scale.real > 1e-3:
                weights = d * np.where(np.arange(4), 1, scale.real)
                bound = convex_subset_bound(problem, weights)
                found = exact.solution(problem, "pbe", weights)
                tried += bound.assumptions_hold and found.rank == 1 and found.error > 1e-6
                assert bound.holds or not bound.assumptions_hold
    assert tried >= 5


def test_the_condition_number_in_kolters_bound_is_not_a_quotient_of_mismatches():
    target, d = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    cond = np.linalg.cond(np.diag(np.sqrt(target / d)))
    assert cond == pytest.approx(np.sqrt(exact.mismatch(d, target) * exact.mismatch(target, d)))
    assert cond == pytest.approx(np.sqrt(3))
    assert exact.mismatch(d, target) / exact.mismatch(target, d) == pytest.approx(0.75)  # below 1: no condition number
    assert kolter_bound(mdp.kolter(p=0.25), "behavior").constants["cond"] == pytest.approx(np.sqrt(3))


def test_kolters_bound_needs_his_contraction():
    bound = kolter_bound(mdp.kolter(p=0.6843), "behavior")
    assert not bound.assumptions["c_F <= gamma"]
    assert not bound.holds


def test_hallaks_bounds_fail_with_the_largest_ratio():
    """The table has kappa = max_s d_b(s) / m(s). Both states lead to the second, so that is 1, and so is its C."""
    problem, d_b = two_states(0.75, 0.9, [1, 4], [1, 0])
    f = exact.weighting(problem, "followon", beta=0.5)
    assert exact.mismatch(d_b, f) == 1
    bound = hallak_bound(problem, beta=0.5)
    assert bound.left > 30 * bound.constants["approximation error"]  # the first line, for beta < gamma^2
    assert not bound.assumptions_hold  # with the least ratio, gamma^2 / beta (1 - kappa) = 1.3

    problem, d_b = two_states(0.9, 0.9, [1, 1], [0, 1])
    assert exact.mismatch(d_b, exact.weighting(problem, "followon")) == pytest.approx(1)
    bound = hallak_bound(problem, d_evaluation="followon")
    assert bound.left > 2.8 * 0.9**-0.5 * bound.constants["approximation error"]  # the second line, for beta = gamma
    assert bound.assumptions_hold
    assert bound.holds


def test_scherrers_projection_needs_the_bellman_matrix():
    """The printed v_M = X (M'X)^-1 M' v_pi with M = DX is the best fit, not the TD solution."""
    problem, d = two_states(0.5, 0.9, [1, 2], [1, 1])
    x = problem.features
    m = d[:, None] * x
    printed = x @ np.linalg.solve(m.T @ x, m.T @ problem.values)
    td = exact.solution(problem, "pbe", d).values
    np.testing.assert_allclose(printed, exact.projection_matrix(x, d) @ problem.values)
    assert np.abs(printed - td).max() > 0.1
    assert scherrer_bound(problem, d).left == pytest.approx(norm(td - problem.values, d))


def test_a_single_function_is_convex_but_has_no_operator_constant():
    """Pi(v1 - v2) on F = {a}: the projection of 0 is a, so || Pi 0 || <= 0 fails; || Pi v1 - Pi v2 || <= 0 holds."""
    a = np.array([1.0, 2.0])

    def project(_):
        return a

    v = np.array([3.0, 4.0])
    assert np.linalg.norm(project(v - v)) > np.linalg.norm(v - v)
    assert np.linalg.norm(project(v) - project(2 * v)) == 0
