"""The control objective with lambda-returns: finite differences, q*, and traces in the long run."""

import numpy as np
import pytest

from gpbe import mdp
from gpbe.exact import control

S, A, K, M, LAM, BETA = 5, 3, 4, 6, 0.7, 0.5


def random_case(seed=0):
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(S, A, 3, 0.9, rng=rng, termination=0.1)
    behavior = rng.dirichlet(np.ones(A), S)
    x, phi = rng.normal(size=(S, A, K)), rng.normal(size=(S, A, M))
    problem = control.ControlProblem(m, x, control.visits(m, behavior), phi)
    return problem, behavior, rng.normal(size=K), rng.normal(size=M)


def test_the_gradient_is_that_of_finite_differences():
    problem, behavior, w, _ = random_case()
    slope = [
        (
            control.lambda_projected_error(problem, w + e, behavior, LAM)
            - control.lambda_projected_error(problem, w - e, behavior, LAM)
        )
        / 2e-6
        for e in 1e-6 * np.eye(K)
    ]
    got = control.lambda_projected_gradient(problem, w, behavior, LAM)
    np.testing.assert_allclose(got, slope, rtol=1e-5, atol=1e-6)


def test_without_lambda_it_is_the_pbe_and_its_updates():
    problem, behavior, w, theta = random_case()
    assert control.lambda_projected_error(problem, w, behavior, 0.0) == pytest.approx(
        control.projected_bellman_error(problem, w)
    )
    for name in control.UPDATES:
        got = control.expected_traced_update(problem, name, w, theta, behavior, 0.0, BETA)
        for mine, theirs in zip(got, control.expected_update(problem, name, w, theta, BETA), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_saddlepoint_descends_the_objective_and_nothing_moves_at_the_optimal_values():
    """With theta at its own optimum, GQ(lambda) without beta moves w by -1/2 grad; a table's q* is a zero for all."""
    problem, behavior, w, _ = random_case()
    value, _ = control.lambda_errors(problem, w, behavior, LAM)
    root = np.sqrt(problem.d)
    best = np.linalg.lstsq(root[:, None] * problem.phi, root * value, rcond=None)[0]
    moved = control.expected_traced_update(problem, "gq", w, best, behavior, LAM, beta=0.0)
    gradient = control.lambda_projected_gradient(problem, w, behavior, LAM)
    np.testing.assert_allclose(moved.w, -gradient / 2, atol=1e-10)
    np.testing.assert_allclose(moved.theta, 0, atol=1e-10)
    table = control.ControlProblem(problem.mdp)
    optimal = control.optimal_action_values(problem.mdp).ravel()
    assert control.lambda_projected_error(table, optimal, behavior, LAM) < 1e-24
    for name in control.UPDATES:
        still = control.expected_traced_update(table, name, optimal, 0 * optimal, behavior, LAM, BETA)
        np.testing.assert_allclose(np.concatenate(still), 0, atol=1e-10)


@pytest.mark.parametrize("name", ["qc", "gq", "q-learning"])
def test_traces_in_the_long_run_are_the_expectation(name):
    """A behavior that goes round in a circle of five states with one end: the mean over a round, after many rounds.

    One trace vector for w, theta and h each; weights are held still, and beta is 0.
    """
    rng, following = np.random.default_rng(1), np.array([1, 2, 3, 4, 0])
    transition, discount = np.zeros((S, A, S)), np.full((S, A, S), 0.9)
    transition[np.arange(S), :, following] = 1
    discount[4] = 0
    m = mdp.FiniteMDP(transition, rng.normal(size=(S, A, S)), discount, np.eye(S)[0])
    actions, w, theta = np.array([0, 2, 1, 1, 0]), rng.normal(size=K), rng.normal(size=M)
    behavior = np.eye(A)[actions]
    x, phi = rng.normal(size=(S, A, K)), rng.normal(size=(S, A, M))
    x[1, 2] = x[2, 1] = x[3, 1] = 2 * w  # greedy there; elsewhere as it comes
    problem = control.ControlProblem(m, x, control.visits(m, behavior), phi)
    q = x @ w
    z_w, z_theta, z_h, gamma = np.zeros(K), np.zeros(M), 0.0, 0.0
    on_w, on_theta = np.zeros(K), np.zeros(M)
    for t in range(50):
        s, a = t % S, actions[t % S]
        n = following[s]
        decay = LAM * gamma * (a == q[s].argmax())
        gamma = discount[s, a, n]
        delta = m.reward[s, a, n] + gamma * q[n].max() - q[s, a]
        grad_delta = gamma * x[n, q[n].argmax()] - x[s, a]
        h = phi[s, a] @ theta
        z_w, z_theta, z_h = decay * z_w + x[s, a], decay * z_theta + phi[s, a], decay * z_h + h
        if t >= 45:
            corrected = delta * z_w - h * x[s, a] - z_h * grad_delta
            on_w += {"qc": corrected, "gq": -z_h * grad_delta, "q-learning": delta * z_w}[name] / S
            on_theta += (delta * z_theta - h * phi[s, a]) / S * (name != "q-learning")
    got = control.expected_traced_update(problem, name, w, theta, behavior, LAM, beta=0.0)
    np.testing.assert_allclose(got.w, on_w, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(got.theta, on_theta, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", control.UPDATES)
def test_at_fixed_points_nothing_moves_and_a_table_has_the_optimal_values_among_them(name):
    problem, behavior, _, _ = random_case()
    points = control.lambda_fixed_points(problem, name, behavior, LAM, BETA)
    for point in points:
        moved = control.expected_traced_update(problem, name, point.weights, point.theta, behavior, LAM, BETA)
        np.testing.assert_allclose(np.concatenate(moved), 0, atol=1e-7)
    table = control.ControlProblem(problem.mdp)
    optimal = control.optimal_action_values(problem.mdp).ravel()
    found = control.lambda_fixed_points(table, name, behavior, LAM, BETA, starts=[optimal + 0.01])
    np.testing.assert_allclose(found[0].weights, optimal, atol=1e-6)
    assert found[0].error < 1e-12


def test_stationary_points_are_where_saddlepoint_updates_rest():
    """GQ(lambda) without beta rests where the gradient of PBE(lam) is 0, and nowhere else that is found from here."""
    problem, behavior, _, _ = random_case(1)
    stationary = control.lambda_stationary_points(problem, behavior, LAM)
    assert stationary
    assert stationary[0].error == min(point.error for point in stationary)
    for point in stationary:
        still = control.expected_traced_update(problem, "gq", point.weights, point.theta, behavior, LAM, beta=0.0)
        np.testing.assert_allclose(np.concatenate(still), 0, atol=1e-6)
        assert point.error == pytest.approx(control.lambda_projected_error(problem, point.weights, behavior, LAM))
    for point in control.lambda_fixed_points(problem, "gq", behavior, LAM, beta=0.0):
        gradient = control.lambda_projected_gradient(problem, point.weights, behavior, LAM)
        np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_without_lambda_these_are_points_of_the_pbe():
    """All but those where actions tie, which `stationary_points` looks for besides."""
    problem, behavior, _, _ = random_case(2)
    mine = control.lambda_stationary_points(problem, behavior, 0.0)
    assert mine
    for point in mine:
        np.testing.assert_allclose(control.projected_bellman_gradient(problem, point.weights), 0, atol=1e-6)
        assert point.error == pytest.approx(control.projected_bellman_error(problem, point.weights))
        np.testing.assert_allclose(point.theta, control.best_theta(problem, point.weights), atol=1e-9)
