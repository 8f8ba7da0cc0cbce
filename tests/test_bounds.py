"""Every bound holds where its assumptions do, is attained where it should be, and fails where a claim needs more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gpbe import InputError, exact, mdp
from gpbe.exact.bound import Bound
from gpbe.exact.bound_table import BOUNDS, all_bounds
from gpbe.exact.bounds import (
    approximation_error_bound,
    convex_subset_bound,
    mismatch_bound,
    oblique_bound,
    proposition_1,
    value_error_bound,
)
from gpbe.exact.constants import (
    approximation_error,
    every_link_discounted,
    operator_constant,
    transition_constant,
    worst_approximation_error,
)
from gpbe.exact.farthest import farthest
from gpbe.exact.known_bounds import (
    antos_bound,
    hallak_bound,
    kolter_bound,
    maillard_bound,
    scherrer_bound,
    tsitsiklis_van_roy_bound,
    white_bound,
    williams_baird_bound,
)
from strategies import KINDS, OFF_POLICY, prediction_problems, quick, random_problem, random_weighting, seeds, stack

NARROW = ("random", "repeated", "aggregated")
WEIGHTINGS = ("behavior", "target", "emphatic", "uniform")


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


# ---------------------------------------------------------------- they hold


@quick
@given(make=prediction_problems(), seed=seeds, which=st.sampled_from([*WEIGHTINGS, "random"]))
def test_every_bound_holds_where_its_assumptions_do(make, seed, which):
    problem, rng = make(), np.random.default_rng(seed)
    d = random_weighting(rng, problem.mdp.n_states) if which == "random" else which
    found = all_bounds(problem, d)
    assert set(found) == set(BOUNDS)
    for name, bound in found.items():
        assert isinstance(bound.assumptions_hold, bool)
        assert bound.holds or not bound.assumptions_hold, f"{name}: {bound}"


def test_the_assumptions_are_met_often_enough_to_mean_something():
    """Of 40 random problems and weightings every bound is tried on five at least, and says something there."""
    met, said = dict.fromkeys(BOUNDS, 0), dict.fromkeys(BOUNDS, 0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, kind=KINDS[seed % 4], representation=NARROW[seed % 3])
        for d in ("target", random_weighting(rng, 5)):
            for name, bound in all_bounds(problem, d).items():
                met[name] += bound.assumptions_hold
                said[name] += bound.assumptions_hold and np.isfinite(bound.right) and bound.left > 1e-6
    assert min(met.values()) >= 5, met
    assert min(said.values()) >= 5, said


@quick
@given(make=prediction_problems(), seed=seeds, lam=st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_theorem_1_and_its_corollaries_hold_with_traces(make, seed, lam):
    problem, rng = make(), np.random.default_rng(seed)
    for d in ("target", "emphatic", random_weighting(rng, problem.mdp.n_states)):
        bound = value_error_bound(problem, d, lam)
        for one in (bound, mismatch_bound(problem, d, "behavior", lam), convex_subset_bound(problem, d, lam)):
            assert one.holds or not one.assumptions_hold, one
        if bound.assumptions_hold:
            assert bound.constants["C sharper"] <= bound.constants["C"] * (1 + 1e-9)
            sharp = bound.constants["C sharper"] * bound.constants["approximation error"]
            assert bound.left <= sharp + 1e-9 * (bound.scale + sharp)
        assert bound.constants["c_F"] <= bound.constants["c_d"] * (1 + 1e-9) + 1e-12
    assert white_bound(problem, "emphatic", lam).assumptions_hold
    for d in ("target", "emphatic"):
        assert white_bound(problem, d, lam).holds


@quick
@given(make=prediction_problems(representations=NARROW), seed=seeds)
def test_theorem_2_holds_for_every_set_h_even_one_without_f(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    n = problem.mdp.n_states
    d = random_weighting(rng, n)
    for columns in range(problem.features.shape[1], n + 1):
        bound = oblique_bound(problem, d, rng.standard_normal((n, columns)))
        assert bound.holds or not bound.assumptions_hold, bound
        if bound.assumptions_hold:
            assert bound.constants["||Pi||_d"] == pytest.approx(bound.constants["||I - Pi||_d"], rel=1e-6)
    assert oblique_bound(problem, d, np.eye(n)).assumptions_hold


@quick
@given(make=prediction_problems(), seed=seeds)
def test_theorem_3_holds_for_every_v(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    n = problem.mdp.n_states
    d, phi = random_weighting(rng, n), rng.standard_normal((n, 2))
    inside = problem.features @ rng.standard_normal(problem.features.shape[1])
    for v in (rng.standard_normal(n), inside):
        bounds = {
            form: approximation_error_bound(problem, v, d, phi, form=form) for form in ("bellman", "squares", "norms")
        }
        assert all(b.holds and b.assumptions_hold for b in bounds.values())
        assert bounds["squares"].right == pytest.approx(bounds["bellman"].right)
        assert bounds["squares"].right <= bounds["norms"].right * (1 + 1e-12)
        # the printed second line, with || Pi T v - v || where the PBE should be, is weaker still
        printed = norm(exact.projection_matrix(phi, d) @ (v + exact.expected_td_error(problem, v)) - v, d)
        assert printed >= bounds["norms"].constants["sqrt(PBE)"] * (1 - 1e-9)
    radius = norm(inside, d)
    worst = approximation_error_bound(problem, inside, d, phi, radius=radius, form="worst")
    assert worst.assumptions_hold
    assert worst.holds
    assert worst.right >= approximation_error_bound(problem, inside, d, phi).right * (1 - 1e-9)
    outside = approximation_error_bound(problem, inside, d, phi, radius=radius / 2, form="worst")
    assert not outside.assumptions["||v||_d <= radius"]
    c_d = transition_constant(problem, d)
    if c_d < 1:
        assert worst.constants["||(I - P)^-1||_d"] <= 1 / (1 - c_d) * (1 + 1e-9)


@quick
@given(make=prediction_problems(policies=OFF_POLICY), beta=st.floats(0.05, 0.95))
def test_hallaks_bounds_hold_with_the_least_ratio(make, beta):
    problem = make()
    for decay in (None, beta):
        for judge in ("behavior", "followon"):
            bound = hallak_bound(problem, decay, judge)
            assert bound.holds or not bound.assumptions_hold, bound
            if bound.assumptions_hold:
                sharp = bound.constants["C sharper"] * bound.constants["approximation error"]
                assert bound.left <= sharp + 1e-9 * (sharp + bound.scale)
    # ETD(0): no constant at all between the norms of d_b and of f
    bound = hallak_bound(problem)
    assert bound.assumptions_hold
    assert bound.constants["C sharper"] == 1
    modulus = np.sqrt(bound.constants["gamma"] * (1 - bound.constants["kappa"]))
    assert transition_constant(problem, "followon") <= modulus * (1 + 1e-9)


@quick
@given(make=prediction_problems(representations=("random",)), seed=seeds)
def test_scherrers_spectral_radius_is_the_norm_of_the_oblique_projection(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    n, x = problem.mdp.n_states, problem.features
    d = random_weighting(rng, n)
    for test, phi in (("td", x), ("be", np.eye(n))):
        bound = scherrer_bound(problem, d, test)
        assert bound.assumptions_hold
        assert bound.holds
        expected = matrix_norm(exact.oblique_projection(problem, d, phi), d)
        assert bound.constants["sqrt(spectral radius)"] == pytest.approx(expected, rel=1e-5)
        objective = "pbe" if test == "td" else "be"
        solution = x @ exact.fixed_point(problem, objective, d)
        assert bound.left == pytest.approx(norm(solution - problem.values, d), rel=1e-5, abs=1e-9)
    assert scherrer_bound(problem, d, rng.standard_normal(x.shape)).holds


# ---------------------------------------------------------------- constants


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


# ---------------------------------------------------------------- they are attained


def test_theorem_2_is_an_equality_for_two_states_and_one_feature():
    for p in (0.2, 0.6, 0.68, 0.9):
        bound = oblique_bound(mdp.kolter(p=p), "behavior")
        assert bound.left == pytest.approx(bound.right, rel=1e-9)


@quick
@given(make=prediction_problems(kinds=("continuing",), representations=NARROW))
def test_bounds_that_a_constant_shift_attains(make):
    """v = v_pi + 1 has T v - v = -(1 - gamma) in every state."""
    problem = make()
    v = problem.values + 1
    bound = williams_baird_bound(problem, v)
    assert (bound.left, bound.right) == (pytest.approx(1), pytest.approx(1))
    bound = approximation_error_bound(problem, v, "target", form="bellman")
    assert (bound.left, bound.right) == (pytest.approx(1), pytest.approx(1))
    last = tsitsiklis_van_roy_bound(problem, lam=1.0)
    assert last.left == pytest.approx(last.right, abs=1e-8)
    assert last.constants["C"] == last.constants["C sharper"] == 1
    for lam in (0.0, 0.5):
        assert tsitsiklis_van_roy_bound(problem, lam).constants["C"] == pytest.approx((1 - lam * 0.9) / 0.1)
    assert proposition_1(problem, "target", case=2).holds
    assert proposition_1(problem, "target", case=4).slack == pytest.approx(0, abs=1e-9)


def test_numbers_of_bairds_star():
    """Six states in seven lead to the seventh for ever: || P ||_{d_b} = gamma sqrt(7), and F is everything."""
    star = mdp.baird()
    assert transition_constant(star, "behavior") == pytest.approx(0.99 * np.sqrt(7))
    assert operator_constant(star, "behavior") == pytest.approx(0.99 * np.sqrt(7))
    assert not value_error_bound(star, "behavior").assumptions_hold
    subset = convex_subset_bound(star, "behavior")  # the solution is v_pi, so the segment is a point
    assert subset.assumptions_hold
    assert (subset.left, subset.right) == (0, 0)


def test_undiscounted_td_with_traces_of_one_needs_no_discount():
    walk = mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), [0.5, 0.5], [0.5, 0.5], np.eye(5)[:, :2])
    assert not tsitsiklis_van_roy_bound(walk, lam=0.5).assumptions_hold
    bound = tsitsiklis_van_roy_bound(walk, lam=1.0)
    assert bound.assumptions_hold
    assert bound.left == pytest.approx(bound.right)


# ---------------------------------------------------------------- claims that need more


def test_proposition_1_case_1_needs_a_discount_on_every_link():
    bound = proposition_1(chain(), "target", case=1)
    assert bound.left == pytest.approx(1, abs=1e-14)
    assert not bound.holds
    assert not bound.assumptions["every link is discounted"]
    assert proposition_1(chain(), "emphatic", case=1).holds  # m needs no such condition
    # with the one state that leads to 1 discounted, 1 still leads to 2 undiscounted
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


# ---------------------------------------------------------------- the record


def test_a_batch_equals_a_loop():
    problems = [random_problem(seed, kind=kind, columns=2) for seed in range(3) for kind in KINDS]
    batch, v = stack(problems), np.random.default_rng(0).standard_normal((12, 5))
    calls = {
        "theorem 1": lambda p, v: value_error_bound(p, "behavior"),
        "with traces": lambda p, v: value_error_bound(p, "emphatic", lam=0.5),
        "corollary 1": lambda p, v: mismatch_bound(p, "emphatic", "target"),
        "corollary 2": lambda p, v: convex_subset_bound(p, "behavior"),
        "theorem 2": lambda p, v: oblique_bound(p, "behavior", np.eye(5)[:, :3]),
        "theorem 3": lambda p, v: approximation_error_bound(p, v, "behavior", radius=3.0, form="worst"),
        **{f"proposition {i}": lambda p, v, i=i: proposition_1(p, "target", case=i) for i in (1, 2, 3, 4)},
        "williams": williams_baird_bound,
        "tsitsiklis": lambda p, v: tsitsiklis_van_roy_bound(p, lam=0.5),
        "antos": lambda p, v: antos_bound(p, "behavior", radius=5.0),
        "maillard": lambda p, v: maillard_bound(p, "behavior"),
        "scherrer": lambda p, v: scherrer_bound(p, "behavior", "be"),
        "kolter": lambda p, v: kolter_bound(p, "behavior"),
        "hallak": lambda p, v: hallak_bound(p, beta=0.7),
        "white": lambda p, v: white_bound(p, "target", lam=0.5),
    }
    for name, call in calls.items():
        together, alone = call(batch, v), [call(p, v[i]) for i, p in enumerate(problems)]
        for side in ("left", "right"):
            one = [getattr(b, side) for b in alone]
            np.testing.assert_allclose(
                np.broadcast_to(getattr(together, side), 12), one, rtol=1e-6, atol=1e-9, err_msg=name
            )
        held = np.broadcast_to(together.assumptions_hold, 12)
        np.testing.assert_array_equal(held, [b.assumptions_hold for b in alone], err_msg=name)
        assert np.all(together.holds | ~held)


def test_the_record_judges_its_own_numbers():
    exactly = Bound("b", "r", left=1.0, right=1.0)
    assert exactly.holds
    assert Bound("b", "r", left=1.0 + 1e-12, right=1.0).holds  # rounding
    assert not Bound("b", "r", left=1.001, right=1.0).holds
    assert not Bound("b", "r", left=1.0, right=1.0, relation="<").holds
    assert not Bound("b", "r", left=0.9, right=1.0, relation="==").holds
    assert Bound("b", "r", left=1e-12, right=0.0, scale=1.0).holds
    assert not Bound("b", "r", left=1e-12, right=0.0).holds
    broken = Bound("b", "r", left=2.0, right=np.inf, assumptions={"x": True, "y": False})
    assert broken.holds
    assert not broken.assumptions_hold
    assert str(broken) == "b: 2 <= inf (not assured: it does not hold that y)"
    many = Bound(
        "b", "r", left=np.array([1.0, 2.0]), right=np.array([1.5, 1.5]), assumptions={"x": np.array([True, False])}
    )
    np.testing.assert_array_equal(many.assumptions_hold, [True, False])
    np.testing.assert_array_equal(many.holds, [True, False])
    np.testing.assert_allclose(many.slack, [0.5, -0.5])


def test_inputs_that_are_refused():
    problem = mdp.kolter()
    with pytest.raises(InputError, match="about lam = 0"):
        proposition_1(problem, "target", case=2, lam=0.5)
    with pytest.raises(InputError, match="beta is 0; it must be positive"):
        hallak_bound(problem, beta=0.0)
    with pytest.raises(InputError, match=r"v has shape \(3,\)"):
        williams_baird_bound(problem, np.zeros(3))
    with pytest.raises(InputError, match=r"test has shape \(3, 1\)"):
        scherrer_bound(problem, "behavior", np.zeros((3, 1)))


def test_the_table_is_complete_and_describes_itself():
    for name, entry in BOUNDS.items():
        assert entry.function.__doc__, name
        assert entry.description
        assert entry.reference
    lost = mdp.FiniteMDP([[[1, 0]], [[0, 1]]], reward=0.0, discount=0.5)  # two recurrent classes: no d_pi, no d_b
    found = all_bounds(mdp.PredictionProblem(lost, [1], [1]), "uniform")
    assert "value-error" in found
    assert "tsitsiklis-van-roy" not in found
