"""The PBE(lam) of networks: finite differences, linear values, lam = 0, and what algorithms do over whole episodes."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe import InputError, exact, mdp
from gpbe.algorithms.nonlinear import ALGORITHMS
from gpbe.algorithms.nonlinear.model import Params, PerObservation
from gpbe.algorithms.nonlinear.step import Batch, direction
from gpbe.algorithms.nonlinear.updates import Window
from gpbe.exact import ValueFunction, nonlinear
from gpbe.exact.nonlinear import NonlinearProblem

S, I, K, M, LAM = 7, 2, 5, 4, 0.7
LAMBDAS = (0.0, LAM, 1.0)


class Unit(eqx.Module):
    """One hidden unit, v(x) = a tanh(u.x + b) + c: five weights, whose gradients span less than all seven states."""

    u: jax.Array
    rest: jax.Array

    def __call__(self, x):
        b, a, c = self.rest
        return a * jnp.tanh(self.u @ x + b) + c


@cache
def problem() -> mdp.PredictionProblem:
    """From each state one ahead or three, until an episode ends behind the last; rewards of chance."""
    rng = np.random.default_rng(3)
    start = rng.dirichlet(np.ones(S))
    transition, discount = np.zeros((S, 2, S)), np.full((S, 2, S), 0.9)
    for s in range(S):
        for a, to in enumerate((s + 1, s + 3)):
            transition[s, a] = np.eye(S)[to] if to < S else start
            discount[s, a] = 0.9 * (to < S)
    reward = np.repeat(rng.standard_normal((S, 2, 1)), S, axis=2)
    m = mdp.FiniteMDP(transition, reward, discount, start)
    return mdp.PredictionProblem(m, rng.dirichlet([1, 1], S), rng.dirichlet([2, 2], S), rng.standard_normal((S, I)))


X, H = problem().features, np.random.default_rng(4).standard_normal((S, M))
NET = Unit(jnp.array([0.8, -0.6]), jnp.array([0.3, 1.2, -0.4]))
V = ValueFunction.of(lambda net: jax.vmap(net)(jnp.asarray(X)), NET)
W = np.array([0.9, -0.5, 0.2, 1.4, -0.3])
PROJECTIONS = {"given": H, "gradient": None, "wider": "wider", "all": np.eye(S)}


def nonlinear_problem(projection="gradient", lam=LAM, function=V):
    phi = np.hstack([V.jacobian(W), H[:, :1]]) if projection == "wider" else PROJECTIONS[projection]
    return NonlinearProblem(problem(), function, projection=phi, lam=lam)


def slope(objective, w, step=1e-6):
    return np.array([(objective(w + e) - objective(w - e)) / (2 * step) for e in step * np.eye(len(w))])


def resting(p, name, w):
    return nonlinear.expected_update(p, name, w, nonlinear.best_theta(p, w)).w


# ---------------------------------------------------------------- the function and its gradient


def test_a_network_is_differentiated_in_64_bits():
    np.testing.assert_allclose(V.start, [0.8, -0.6, 0.3, 1.2, -0.4], rtol=1e-7)
    np.testing.assert_allclose(V.values(W), 1.4 * np.tanh(X @ W[:2] + 0.2) - 0.3, rtol=1e-14)
    np.testing.assert_allclose(V.jacobian(W), slope(V.values, W).T, atol=1e-9)
    theta, c = np.random.default_rng(0).standard_normal(K), np.random.default_rng(1).standard_normal(S)
    np.testing.assert_allclose(V.bend(W, theta, c), slope(lambda w: c @ V.jacobian(w) @ theta, W), atol=1e-8)


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_error_is_the_projected_lambda_return_and_its_gradient_that_of_finite_differences(projection, lam):
    """E[delta^lam | s] as a sum over the steps of an episode, projected by least squares."""
    p, prob = nonlinear_problem(projection, lam), problem()
    carry, total, left = prob.discounted_transition, np.zeros(S), np.eye(S)
    for _ in range(S):
        total += left @ (prob.expected_reward + carry @ V.values(W) - V.values(W))
        left = left @ carry * lam
    phi, root = p.tangent(W).features, np.sqrt(prob.behavior_distribution)
    h = phi @ np.linalg.lstsq(root[:, None] * phi, root * total, rcond=None)[0]
    assert nonlinear.projected_bellman_error(p, W) == pytest.approx((root**2 * h**2).sum())
    numeric = slope(lambda w: nonlinear.projected_bellman_error(p, w), W)
    np.testing.assert_allclose(nonlinear.projected_bellman_gradient(p, W), numeric, atol=1e-7)


@pytest.mark.parametrize("huber", [0.0, 0.2])
@pytest.mark.parametrize("projection", ["given", "gradient"])
def test_robust_errors_have_gradients_too_although_the_bounds_move_with_h(projection, huber):
    p = nonlinear_problem(projection)
    best = p.tangent(W).best(huber)
    at_bound = np.isclose(np.abs(best.h), huber or 1.0, rtol=1e-5)
    assert 0 < at_bound.sum() < S
    numeric = slope(lambda w: nonlinear.projected_bellman_error(p, w, huber), W, step=1e-5)
    np.testing.assert_allclose(nonlinear.projected_bellman_gradient(p, W, huber), numeric, atol=1e-5)
    assert np.abs(numeric).max() > 0.01


# ---------------------------------------------------------------- special cases


@pytest.mark.parametrize("lam", LAMBDAS)
def test_a_linear_network_has_the_linear_pbe_and_its_fixed_point(lam):
    prob, w, theta = problem(), np.array([0.4, -1.1]), np.array([0.3, 0.8])
    as_network = ValueFunction.of(lambda u: jnp.asarray(X) @ u, jnp.zeros(I))
    A, b, C = exact.linear_system(prob, "behavior", lam)
    for function in (as_network, ValueFunction.linear(X)):
        p = nonlinear_problem(lam=lam, function=function)
        pbe = exact.projected_bellman_error(prob, X @ w, "behavior", lam=lam)
        assert nonlinear.projected_bellman_error(p, w) == pytest.approx(pbe)
        directions = {
            "td": b - A @ w,
            "tdc": b - A @ w - (C - A).T @ theta,
            "gtd2": A.T @ theta,
            "maei-tdc": b - A @ w - (C - A).T @ theta,
            "maei-gtd2": A.T @ theta,
        }
        for name, expected in directions.items():
            moved = nonlinear.expected_update(p, name, w, theta)
            np.testing.assert_allclose(moved.w, expected, atol=1e-12)
            np.testing.assert_allclose(moved.theta, 0 if name == "td" else b - A @ w - C @ theta, atol=1e-12)
        penalized = nonlinear.expected_update(p, "tdrc", w, theta, beta=0.4).theta
        np.testing.assert_allclose(penalized, b - A @ w - C @ theta - 0.4 * theta, atol=1e-12)
        for found in (
            nonlinear.stationary_points(p, np.zeros(I)),
            nonlinear.fixed_points(p, "tdrc", np.zeros(I)),
        ):
            np.testing.assert_allclose(found[0].weights, np.linalg.solve(A, b), atol=1e-6)


def test_without_lambda_it_is_the_nonlinear_pbe():
    p = nonlinear_problem(lam=0.0)
    known = exact.nonlinear_projected_bellman_error(problem(), V.values(W), "behavior", V.jacobian(W))
    assert nonlinear.projected_bellman_error(p, W) == pytest.approx(known)
    longer = exact.nonlinear_projected_bellman_error(problem(), V.values(W), "behavior", V.jacobian(W), lam=LAM)
    assert nonlinear.projected_bellman_error(nonlinear_problem(), W) == pytest.approx(longer)
    assert longer != pytest.approx(known)


# ---------------------------------------------------------------- whose gradient it is


@pytest.mark.parametrize("lam", LAMBDAS)
def test_which_algorithms_follow_the_gradient(lam):
    """Saddlepoint of any H that is given; the correction if H has the gradients; of these alone, with the curvature."""
    follow = {
        "given": {"gtd2"},
        "wider": {"gtd2", "tdc"},
        "all": {"gtd2", "tdc"},
        "gradient": {"maei-gtd2", "maei-tdc"},
    }
    for projection, names in follow.items():
        p = nonlinear_problem(projection, lam)
        half = -0.5 * nonlinear.projected_bellman_gradient(p, W)
        for name in ("gtd2", "tdc", "maei-gtd2", "maei-tdc"):
            if projection != "gradient" and name.startswith("maei"):
                continue
            apart = np.linalg.norm(resting(p, name, W) - half) / np.linalg.norm(half)
            assert apart < 1e-8 if name in names else apart > 0.01, (projection, name, apart)


def test_algorithms_rest_at_stationary_points_of_their_own_objective():
    """From a few starts: where the gradient is 0, the update is; where E[delta^lam grad v] = 0, every update is."""
    starts = W + 0.3 * np.random.default_rng(7).standard_normal((2, K))
    for projection, name in (("given", "gtd2"), ("gradient", "maei-tdc")):
        p = nonlinear_problem(projection)
        points = nonlinear.stationary_points(p, starts, tolerance=1e-6)
        assert points, projection
        for point in points:
            moved = nonlinear.expected_update(p, name, point.weights, point.theta)
            np.testing.assert_allclose(np.concatenate(moved), 0, atol=1e-6)
            assert np.abs(resting(p, name, point.weights + 0.1)).max() > 1e-4
    p = nonlinear_problem("gradient")
    for point in nonlinear.fixed_points(p, "td", starts):
        assert point.error < 1e-12
        for name in nonlinear.UPDATES:
            np.testing.assert_allclose(resting(p, name, point.weights), 0, atol=1e-6)


# ---------------------------------------------------------------- the algorithms themselves


@cache
def episodes():
    """Every way from every state to the end, with its chance under the behavior; (states, B), windows (n, B)."""
    prob, rows = problem(), []

    def go(path, chance, steps):
        s = path[-1]
        for a, to in enumerate((s + 1, s + 3)):
            here = (prob.mdp.reward[s, a, 0], 0.9 * (to < S), prob.ratios[s, a])
            share = chance * prob.behavior[s, a]
            if to < S:
                go([*path, to], share, [*steps, here])
            else:
                rows.append((path, share, [*steps, here]))

    for s in range(S):
        go([s], prob.behavior_distribution[s], [])
    states = np.array([[*path, *[0] * (S + 1 - len(path))] for path, _, _ in rows]).T
    told = np.array([[*steps, *[(0.0, 0.0, 1.0)] * (S - len(steps))] for _, _, steps in rows])
    return states, np.array([share for _, share, _ in rows]), *np.moveaxis(told, -1, 0).swapaxes(1, 2)


def module(w):
    return PerObservation(Unit(jnp.asarray(w[:2]), jnp.asarray(w[2:])))


@pytest.mark.parametrize(
    ("name", "projection"),
    [
        ("td", "given"),
        ("tdc", "given"),
        ("gtd2", "given"),
        ("tdc", "gradient"),
        ("maei-tdc", "gradient"),
        ("maei-gtd2", "gradient"),
    ],
)
def test_updates_by_lambda_returns_of_whole_episodes_have_this_expectation(name, projection):
    states, share, reward, discount, rho = episodes()
    assert share.sum() == pytest.approx(1)
    theta = np.random.default_rng(2).standard_normal(M if projection == "given" else K)
    with jax.enable_x64(True):
        net = module(W)
        h = jnp.asarray(theta) if projection == "given" else module(theta)
        window = Window(reward, discount, rho, np.full(reward.shape, LAM), share * len(share))
        phi = H[states[0]].T if projection == "given" else None
        basis = "features" if projection == "given" else "gradient"
        batch = jax.tree.map(jnp.asarray, Batch(np.moveaxis(X[states], -1, 0), window, phi))
        step = eqx.filter_jit(lambda params, batch: direction(ALGORITHMS[name], basis, params, batch))(
            Params(net, h), batch
        )
    moved = nonlinear.expected_update(nonlinear_problem(projection), name, W, theta)
    got = np.concatenate([step.v.module.u, step.v.module.rest])
    np.testing.assert_allclose(got, moved.w, atol=1e-12)
    if name != "td":
        on_h = step.h if projection == "given" else np.concatenate([step.h.module.u, step.h.module.rest])
        np.testing.assert_allclose(on_h, moved.theta, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: NonlinearProblem(problem(), ValueFunction.linear(np.eye(3))), r"of shape \(3,\); it should be \(7,\)"),
        (lambda: nonlinear.projected_bellman_error(nonlinear_problem(), np.ones(2)), "one vector of 5 weights"),
        (lambda: nonlinear.expected_update(nonlinear_problem(), "qrc", W, W), "there is no update 'qrc'"),
        (lambda: nonlinear.expected_update(nonlinear_problem(), "tdc", W, W[:2]), r"theta has shape \(2,\)"),
        (lambda: nonlinear.stationary_points(nonlinear_problem(), np.ones((1, 2))), r"\(starts, 5\)"),
    ],
)
def test_mistakes_are_told(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()
