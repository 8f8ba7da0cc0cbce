"""Every bound holds where its assumptions do, and is attained where it should be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbe import InputError, exact, mdp
from gpbe.exact.bounds.bound import Bound
from gpbe.exact.bounds.constants import operator_constant, transition_constant
from gpbe.exact.bounds.paper import (
    approximation_error_bound,
    convex_subset_bound,
    mismatch_bound,
    oblique_bound,
    proposition_1,
    value_error_bound,
)
from gpbe.exact.bounds.published import (
    antos_bound,
    hallak_bound,
    kolter_bound,
    maillard_bound,
    scherrer_bound,
    tsitsiklis_van_roy_bound,
    white_bound,
    williams_baird_bound,
)
from gpbe.exact.bounds.table import BOUNDS, all_bounds
from helpers.reference import matrix_norm, norm
from helpers.strategies import (
    KINDS,
    NARROW,
    OFF_POLICY,
    prediction_problems,
    quick,
    random_problem,
    random_weighting,
    seeds,
    stack,
)

WEIGHTINGS = ("behavior", "target", "emphatic", "uniform")


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
@given(make=prediction_problems(policies=OFF_POLICY), seed=seeds)
def test_emphatic_weights_contract_whatever_lambda_depends_on(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    for shape in ((), (problem.mdp.n_states,), problem.mdp.transition.shape):
        lam = np.asarray(rng.random(shape))
        bound = proposition_1(problem, "emphatic", case=1, lam=lam)
        assert bound.assumptions_hold
        assert bound.holds
        ratio = (problem.behavior_distribution / exact.weighting(problem, "emphatic", lam=lam)).min()
        assert bound.left**2 <= (1 - ratio) * (1 + 1e-9)


@quick
@given(make=prediction_problems(representations=NARROW), seed=seeds)
def test_the_one_step_error_alone_bounds_the_bellman_error_of_a_fixed_point(make, seed):
    problem, rng = make(), np.random.default_rng(seed)
    d = random_weighting(rng, problem.mdp.n_states)
    v = exact.solution(problem, "pbe", d)
    bound = antos_bound(problem, d, radius=norm(v.values, d))
    assert bound.assumptions_hold
    assert v.error <= 1e-9 * (1 + bound.left)
    assert bound.left <= bound.constants["inherent one-step Bellman error"] * (1 + 1e-6) + 1e-9
    assert not antos_bound(problem, d, radius=norm(v.values, d) / 2).assumptions_hold


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


def test_theorem_2_is_an_equality_for_two_states_and_one_feature():
    for p in (0.2, 0.6, 0.68, 0.9):
        bound = oblique_bound(mdp.kolter(p=p), "behavior")
        assert bound.left == pytest.approx(bound.right, rel=1e-9)


@pytest.mark.slow
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


@quick
@given(make=prediction_problems(representations=NARROW))
def test_corollary_1_for_one_state_and_for_a_multiple(make):
    """kappa(1_s, d) = 1 / d(s) and kappa(4 d, d) = 4, whose root is what the norm itself grows by."""
    problem = make()
    bound, d = value_error_bound(problem, "emphatic"), exact.weighting(problem, "emphatic")
    more = mismatch_bound(problem, "emphatic", 4 * d)
    assert (more.left, more.right) == (pytest.approx(2 * bound.left), pytest.approx(2 * bound.right))
    v = exact.solution(problem, "pbe", d).values
    for s in range(len(d)):
        one = mismatch_bound(problem, "emphatic", np.eye(len(d))[s])
        assert one.left == pytest.approx(abs(v[s] - problem.values[s]), abs=1e-9)
        assert one.right == pytest.approx(bound.right / np.sqrt(d[s]))


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
