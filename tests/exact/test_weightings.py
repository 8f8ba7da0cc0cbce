"""State weightings: their defining equations, limits and published numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbe import InputError, exact, mdp
from helpers.strategies import OFF_POLICY, prediction_problems, quick, random_problem, seeds, stack


def walk(target=(0.4, 0.6)) -> mdp.PredictionProblem:
    return mdp.PredictionProblem(mdp.random_walk(5, gamma=1.0), target, [0.5, 0.5])


def test_published_numbers_of_the_five_state_walk():
    np.testing.assert_allclose(exact.weighting(walk(), "behavior"), np.array([1, 2, 3, 2, 1]) / 9, rtol=1e-14)
    expected = [-0.269173, 0.218045, 0.542857, 0.759398, 0.903759]
    np.testing.assert_allclose(walk().values, expected, atol=5e-7)


def test_value_of_the_walk_is_the_gamblers_ruin():
    """P(right end first) = (1 - (q/p)^i) / (1 - (q/p)^6) with q/p = 2/3."""
    odds = (2 / 3) ** np.arange(1, 6)
    np.testing.assert_allclose(walk().values, 2 * (1 - odds) / (1 - (2 / 3) ** 6) - 1, rtol=1e-12)


@quick
@given(make=prediction_problems())
def test_stationary_distributions_are_stationary(make):
    problem = make()
    for name, policy in (("behavior", problem.behavior), ("target", problem.target)):
        d = exact.weighting(problem, name)
        np.testing.assert_allclose(d @ problem.mdp.transition_under(policy), d, atol=1e-13)
        assert d.sum() == pytest.approx(1, abs=1e-14)
        assert (d >= 0).all()


@quick
@given(make=prediction_problems(policies=OFF_POLICY))
def test_followon_adds_up_excursions(make):
    """f = d_b + P'f, and f is the sum of d_b P^k: the paper's equation term by term."""
    problem = make()
    f, p = exact.weighting(problem, "followon"), problem.discounted_transition
    np.testing.assert_allclose(f, problem.behavior_distribution + p.T @ f, rtol=1e-10)
    term, total = problem.behavior_distribution, np.zeros(len(f))
    for _ in range(3000):
        total, term = total + term, p.T @ term
    np.testing.assert_allclose(total, f, rtol=1e-8)


@quick
@given(make=prediction_problems(), lam=st.floats(0, 1), seed=seeds)
def test_emphatic_weights_run_from_followon_to_behavior(make, lam, seed):
    problem = make()
    d_b, f = exact.weighting(problem, "behavior"), exact.weighting(problem, "followon")
    np.testing.assert_array_equal(exact.weighting(problem, "emphatic", lam=0.0), f)
    np.testing.assert_array_equal(exact.weighting(problem, "emphatic", lam=1.0), d_b)
    np.testing.assert_allclose(exact.weighting(problem, "emphatic", lam=lam), lam * d_b + (1 - lam) * f)
    each = np.random.default_rng(seed).random(len(f))
    m = exact.weighting(problem, "emphatic", lam=each)
    np.testing.assert_allclose(m, each * d_b + (1 - each) * f)
    # Sutton, Mahmood and White (2016): m' (I - P^lam) = d_b', also when lam depends on the state.
    residual = np.linalg.solve(np.eye(len(f)) - problem.discounted_transition * each, problem.bellman_matrix)
    np.testing.assert_allclose(m @ residual, d_b, atol=1e-10)
    # the same lam spelled out for each transition
    full = np.broadcast_to(each, problem.mdp.transition.shape)
    np.testing.assert_allclose(exact.weighting(problem, "emphatic", lam=full), m, rtol=1e-9)


@quick
@given(make=prediction_problems(kinds=("continuing",)), beta=st.floats(0, 0.95))
def test_beta_takes_the_place_of_the_discount(make, beta):
    problem = make()
    f = exact.weighting(problem, "followon", beta=beta)
    p = problem.mdp.transition_under(problem.target)
    np.testing.assert_allclose(f, problem.behavior_distribution + beta * p.T @ f, rtol=1e-10)
    assert f.sum() == pytest.approx(1 / (1 - beta))
    np.testing.assert_allclose(exact.weighting(problem, "followon", beta=0.0), problem.behavior_distribution)
    np.testing.assert_allclose(exact.weighting(problem, "followon", beta=0.9), exact.weighting(problem, "followon"))


def test_beta_does_not_carry_over_an_end():
    problem = walk()
    moves = np.diag(np.full(4, 0.6), 1) + np.diag(np.full(4, 0.4), -1)
    expected = np.linalg.solve(np.eye(5) - 0.5 * moves.T, problem.behavior_distribution)
    np.testing.assert_allclose(exact.weighting(problem, "followon", beta=0.5), expected)


@quick
@given(make=prediction_problems(kinds=("continuing",), policies=("on-policy",)))
def test_on_policy_followon_is_a_multiple_of_the_distribution(make):
    problem = make()
    d, f = exact.weighting(problem, "behavior"), exact.weighting(problem, "followon")
    np.testing.assert_allclose(f, 10 * d, rtol=1e-9)  # 1 / (1 - 0.9)


@quick
@given(seed=seeds, n=st.integers(1, 6))
def test_mismatch_is_the_least_factor_that_covers(seed, n):
    rng = np.random.default_rng(seed)
    d, other = rng.dirichlet(np.ones(n), (2, 7))
    kappa = exact.mismatch(d, other)
    assert (d <= kappa[:, None] * other * (1 + 1e-12)).all()
    assert (d > kappa[:, None] * other * (1 - 1e-9)).any(-1).all()
    assert (kappa >= 1 - 1e-12).all()  # two distributions


def test_mismatch_where_weights_are_zero():
    assert exact.mismatch(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == np.inf
    assert exact.mismatch(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == 2
    assert exact.mismatch(np.array([1.0, 0.0]), np.array([1.0, 0.0])) == 1


def test_transient_states_get_no_weight():
    """The behavior leaves state 0 for good; so must every policy that it covers."""
    m = mdp.FiniteMDP([[[0, 1, 0]], [[0, 0, 1]], [[0, 1, 0]]], reward=1.0, discount=0.5)
    problem = mdp.PredictionProblem(m, [1], [1])
    np.testing.assert_allclose(exact.weighting(problem, "behavior"), [0, 0.5, 0.5])
    np.testing.assert_allclose(exact.weighting(problem, "followon"), [0, 1, 1])


def test_start_and_uniform():
    np.testing.assert_array_equal(exact.weighting(walk(), "start"), [0, 0, 1, 0, 0])
    np.testing.assert_array_equal(exact.weighting(walk(), "uniform"), np.full(5, 0.2))


def test_a_batch_equals_a_loop():
    problems = [random_problem(seed, kind="mixed", columns=2) for seed in range(7)]
    batch = stack(problems)
    for name in ("behavior", "target", "followon"):
        expected = np.stack([exact.weighting(p, name) for p in problems])
        np.testing.assert_allclose(exact.weighting(batch, name), expected, rtol=1e-11)
    expected = np.stack([exact.weighting(p, "emphatic", lam=0.3) for p in problems])
    np.testing.assert_allclose(exact.weighting(batch, "emphatic", lam=0.3), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("d", "message"),
    [
        ([1, 1, 1, 1], r"shape \(4,\); it should end in \(5\)"),
        ([1, 1, -1, 1, 1], r"\[state 2\] is -1"),
        ([0, 0, 0, 0, 0], "0 in every state"),
        ([1, 1, np.nan, 1, 1], "is nan"),
    ],
)
def test_weightings_that_are_refused(d, message):
    with pytest.raises(InputError, match=message):
        exact.value_error(walk(), np.zeros(5), d)


def test_lambda_outside_the_unit_interval_is_refused():
    with pytest.raises(InputError, match=r"lam is 1\.5"):
        exact.weighting(walk(), "emphatic", lam=1.5)
    with pytest.raises(InputError, match=r"lam\[state 3\] is -0\.1"):
        exact.weighting(walk(), "emphatic", lam=[0, 0, 0, -0.1, 0])


def test_two_recurrent_classes_have_no_stationary_distribution():
    m = mdp.FiniteMDP([[[1, 0]], [[0, 1]]], reward=0.0, discount=0.5)
    with pytest.raises(InputError, match="2 recurrent classes, state 0 and state 1"):
        exact.weighting(mdp.PredictionProblem(m, [1], [1]), "behavior")
