"""Updates averaged over every transition: gradients of the exact objectives, at rest where an optimizer finds minima.

A value function with three weights on seven states, so that no objective is 0 by luck; in 64 bits.
"""

import itertools
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

from gpbe import exact, mdp
from gpbe.algorithms.nonlinear import ALGORITHMS
from gpbe.algorithms.nonlinear.kernels import KERNELS
from gpbe.algorithms.nonlinear.model import Params, PerObservation
from gpbe.algorithms.nonlinear.step import Batch, Second, direction
from gpbe.algorithms.nonlinear.updates import Window
from helpers.samples import few

STATES, ACTIONS, K = 7, 2, 3


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


class Curve(eqx.Module):
    """v(x) = w0 tanh(w1 x0 + w2) + w1 x1: nonlinear, smooth, and with a Hessian that is not 0."""

    w: jax.Array

    def __call__(self, x):
        return self.w[0] * jnp.tanh(self.w[1] * x[0] + self.w[2]) + self.w[1] * x[1]


class Line(eqx.Module):
    w: jax.Array

    def __call__(self, x):
        return self.w @ x


@cache
def problem() -> mdp.PredictionProblem:
    rng = np.random.default_rng(5)
    m = mdp.random_mdp(STATES, ACTIONS, 3, 0.8, rng=rng, termination=0.1)
    target, behavior = rng.dirichlet(np.ones(ACTIONS), STATES), rng.dirichlet(2 * np.ones(ACTIONS), STATES)
    return mdp.PredictionProblem(m, target, behavior, rng.standard_normal((STATES, K)))


def curve_values(w):
    x = problem().features
    return w[0] * np.tanh(w[1] * x[:, 0] + w[2]) + w[1] * x[:, 1]


def curve_jacobian(w):
    x = problem().features
    t = np.tanh(w[1] * x[:, 0] + w[2])
    bend = w[0] * (1 - t**2)
    return np.stack([t, bend * x[:, 0] + x[:, 1], bend], axis=1)


def expected(
    name, basis, w, theta=None, *, phi=None, weight=None, module=Curve, kernel="gaussian", n=1, lam=1.0, huber=None
):
    """Mean directions of w and theta under the behavior's stationary distribution, by enumeration."""
    p = problem()
    a, m, d = ALGORITHMS[name], p.mdp, p.behavior_distribution
    weight = np.ones(STATES) if weight is None else weight
    steps = [
        (s, b, s2)
        for s, b, s2 in itertools.product(range(STATES), range(ACTIONS), range(STATES))
        if m.transition[s, b, s2]
    ]
    paths = [(t,) for t in steps]
    for _ in range(n - 1):
        paths = [(*path, t) for path in paths for t in steps if t[0] == path[-1][2]]

    def chance(path):
        return np.prod([p.behavior[s, b] * m.transition[s, b, s2] for s, b, s2 in path])

    def gather(groups):
        """(groups, n, B) windows for groups of paths."""
        table = np.array(groups)  # groups, B, n, 3
        s, b, s2 = np.moveaxis(table, -1, 0)
        states = np.concatenate([s, s2[..., -1:]], axis=-1)
        turned = [np.swapaxes(x, 1, 2) for x in (m.reward[s, b, s2], m.discount[s, b, s2], p.ratios[s, b])]
        window = Window(*turned, lam + 0 * turned[0], weight[s[..., 0]])
        x = np.moveaxis(p.features[states], -1, 1).swapaxes(2, 3)
        return s[..., 0], x, window

    if name == "kbe":
        groups = [(i, j) for i in paths for j in paths]
        share = [d[i[0][0]] * chance(i) * d[j[0][0]] * chance(j) for i, j in groups]
        other = None
    elif name == "double-sampling":
        pairs = [(i, j) for i in paths for j in paths if i[0][0] == j[0][0]]
        groups = [(i,) for i, _ in pairs]
        share = [d[i[0][0]] * chance(i) * chance(j) for i, j in pairs]
        s, b, s2 = np.array([j[0] for _, j in pairs]).T
        other = Second(
            p.features[s2][:, :, None],
            m.reward[s, b, s2][:, None],
            m.discount[s, b, s2][:, None],
            p.ratios[s, b][:, None],
        )
    else:
        groups, other = [(i,) for i in paths], None
        share = [d[i[0][0]] * chance(i) for i in paths]
    first, x, window = gather(groups)
    h = None if theta is None else jnp.asarray(theta)
    if basis == "gradient":
        h = PerObservation(module(jnp.asarray(theta)))
    params = Params(PerObservation(module(jnp.asarray(w))), h)
    given = None if phi is None else np.moveaxis(phi[first], -1, 1)

    def one(x, window, given, other):
        step = direction(a, basis, params, Batch(x, window, given, other), kernel, 0.7, huber)
        return step.v.module.w, step.h.module.w if basis == "gradient" else step.h

    moves = jax.jit(jax.vmap(one))(*jax.tree.map(jnp.asarray, (x, window, given, other)))
    return tuple(None if move is None else np.asarray(share) @ np.asarray(move) for move in moves)


def slope(objective, w):
    return np.array([(objective(w + e) - objective(w - e)) / 2e-5 for e in 1e-5 * np.eye(len(w))])


def minimum(objective, start):
    found = optimize.minimize(
        objective, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-15, "xatol": 1e-9}
    )
    return optimize.minimize(objective, found.x, method="BFGS", options={"gtol": 1e-10}).x


def best_theta(w, phi, d=None, values=curve_values):
    d = problem().behavior_distribution if d is None else d
    return exact.maximizing_h(problem(), values(w), d, projection=phi).weights


W, FAR = np.array([0.7, -0.4, 0.5]), np.array([2.0, 1.5, -0.5])
H = np.random.default_rng(8).standard_normal((STATES, 4))


def objectives():
    p, d = problem(), problem().behavior_distribution
    x = jnp.asarray(p.features.T)

    def kbe(name):
        kernel = np.asarray(KERNELS[name](x, x, 0.7))
        return lambda w: exact.kernel_bellman_error(p, curve_values(w), d, (kernel + kernel.T) / 2)

    return {
        "nonlinear pbe": lambda w: exact.nonlinear_projected_bellman_error(p, curve_values(w), d, curve_jacobian(w)),
        "pbe": lambda w: exact.projected_bellman_error(p, curve_values(w), d, projection=H),
        "be": lambda w: exact.bellman_error(p, curve_values(w), d),
        "tde": lambda w: exact.td_error(p, curve_values(w), d),
        **{f"kbe {name}": kbe(name) for name in KERNELS},
    }


def update(case, w):
    """The expected update of w with h at its own optimum."""
    if case in ("maei-gtd2", "maei-tdc", "tdc gradient", "gtd2 gradient"):
        jacobian = curve_jacobian(w)
        return expected(case.removesuffix(" gradient"), "gradient", w, best_theta(w, jacobian))
    if case in ("gtd2 given", "tdc given"):
        return expected(case.removesuffix(" given"), "features", w, best_theta(w, H), phi=H)
    if case in ("gtd2 all", "tdc all"):
        eye = np.eye(STATES)
        return expected(case.removesuffix(" all"), "features", w, best_theta(w, eye), phi=eye)
    if case.startswith("kbe"):
        return expected("kbe", "none", w, kernel=case.removeprefix("kbe "))
    return expected(case, "none", w)


QUICK = ("maei-tdc", "gtd2 given", "residual-gradient")
GRADIENTS = {
    "maei-gtd2": "nonlinear pbe",
    "maei-tdc": "nonlinear pbe",
    "gtd2 given": "pbe",
    "gtd2 all": "be",
    "tdc all": "be",
    "residual-gradient": "tde",
    "double-sampling": "be",
    **{f"kbe {name}": f"kbe {name}" for name in KERNELS},
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_expected_updates_are_gradients_of_their_objectives(case):
    d_w, d_theta = update(case, W)
    np.testing.assert_allclose(d_w, -0.5 * slope(objectives()[GRADIENTS[case]], W), atol=1e-8)
    if d_theta is not None:
        np.testing.assert_allclose(d_theta, 0, atol=1e-10)


@pytest.mark.parametrize(
    "case", few((case for case in GRADIENTS if case not in ("kbe laplace", "kbe quadratic", "kbe same")), QUICK)
)
def test_expected_updates_vanish_where_an_optimizer_finds_the_minimum(case):
    objective = objectives()[GRADIENTS[case]]
    # From W the nonlinear PBE leads to a kink, w1 = 0, where two value gradients coincide and H loses a direction.
    w = minimum(objective, FAR if GRADIENTS[case] == "nonlinear pbe" else W)
    assert objective(w) < 0.9 * objective(W)
    np.testing.assert_allclose(update(case, w)[0], 0, atol=1e-6)
    assert np.abs(update(case, w + 0.1)[0]).max() > 1e-4


@pytest.mark.parametrize("case", ["tdc gradient", "gtd2 gradient"])
def test_without_the_curvature_gradient_features_do_not_follow_the_nonlinear_pbe(case):
    d_w, full = update(case, FAR)[0], -0.5 * slope(objectives()["nonlinear pbe"], FAR)
    assert np.linalg.norm(d_w - full) > 0.03 * np.linalg.norm(full)


def test_correction_follows_the_pbe_if_h_can_be_any_gradient_component_and_not_if_it_can_be_only_some():
    """The paper: it suffices that h be linear in the gradient of v, as a head on the last layer is. It does not.

    What is dropped is E[(h - delta) grad v], which is 0 at the best h if every component of grad v lies in H.
    """
    p, d = problem(), problem().behavior_distribution
    jacobian = curve_jacobian(W)

    def gap(phi):
        fixed = -0.5 * slope(lambda w: exact.projected_bellman_error(p, curve_values(w), d, projection=phi), W)
        found = expected("tdc", "features", W, best_theta(W, phi), phi=phi)[0]
        return np.linalg.norm(found - fixed) / np.linalg.norm(fixed)

    assert gap(np.concatenate([jacobian, H[:, :2]], axis=1)) < 1e-7
    assert gap(jacobian) < 1e-7
    assert gap(jacobian[:, :1]) > 0.05  # the "last layer", tanh(.): each such h is a linear function of grad v


def test_emphatic_weights_make_it_the_objective_under_the_followon_weighting():
    p = problem()
    f = exact.weighting(p, "followon")
    mean_weight = f / p.behavior_distribution
    theta = best_theta(W, H, f)
    d_w, d_theta = expected("gtd2", "features", W, theta, phi=H, weight=mean_weight)
    objective = lambda w: exact.projected_bellman_error(p, curve_values(w), f, projection=H)  # noqa: E731
    np.testing.assert_allclose(d_w, -0.5 * slope(objective, W), atol=1e-8)
    np.testing.assert_allclose(d_theta, 0, atol=1e-10)


@pytest.mark.parametrize(("lam", "n"), few([(1.0, 2), (1.0, 3), (0.6, 3)], (0.6,)))
def test_longer_returns_follow_the_gradient_of_their_own_pbe(lam, n):
    """G bootstraps from P^k v: n-step, or a lambda-return cut off at n. The objective is built from powers of P."""
    p, d = problem(), problem().behavior_distribution
    carry, r = p.discounted_transition, p.expected_reward
    root = np.sqrt(d)

    def residual(w):
        v, total, left = curve_values(w), np.zeros(STATES), np.eye(STATES)
        for _ in range(n):
            total = total + left @ (r + carry @ v - v)
            left = left @ carry * lam
        return total

    def pbe(w):
        basis, _ = np.linalg.qr(root[:, None] * H)
        return ((basis.T @ (root * residual(w))) ** 2).sum()

    theta = np.linalg.lstsq(root[:, None] * H, root * residual(W), rcond=None)[0]
    d_w, d_theta = expected("gtd2", "features", W, theta, phi=H, n=n, lam=lam)
    np.testing.assert_allclose(d_w, -0.5 * slope(pbe, W), atol=1e-8)
    np.testing.assert_allclose(d_theta, 0, atol=1e-10)

    everything = np.eye(STATES)
    d_w, d_theta = expected("tdc", "features", W, residual(W), phi=everything, n=n, lam=lam)
    np.testing.assert_allclose(d_w, -0.5 * slope(lambda w: (d * residual(w) ** 2).sum(), W), atol=1e-8)


@pytest.mark.parametrize("name", ["td", "tdc", "gtd2", "maei-tdc", "maei-gtd2"])
def test_a_linear_function_has_the_closed_forms_of_the_linear_algorithms(name):
    """b - A w, b - A w - (C - A)'h and A'h; h moves by b - A w - C h; there is no curvature."""
    p = problem()
    A, b, C = exact.linear_system(p, p.behavior_distribution)
    w, h = np.random.default_rng(3).standard_normal((2, K))
    d_w, d_h = expected(name, "none" if name == "td" else "gradient", w, None if name == "td" else h, module=Line)
    main = {"td": b - A @ w, "gtd2": A.T @ h, "maei-gtd2": A.T @ h}
    np.testing.assert_allclose(d_w, main.get(name, b - A @ w - (C - A).T @ h), atol=1e-12)
    if name != "td":
        np.testing.assert_allclose(d_h, b - A @ w - C @ h, atol=1e-12)
    fixed = np.linalg.solve(A, b)
    at_rest = expected(
        name, "none" if name == "td" else "gradient", fixed, None if name == "td" else 0 * h, module=Line
    )
    np.testing.assert_allclose(at_rest[0], 0, atol=1e-12)


# ---------------------------------------------------------------- robust losses


@pytest.mark.parametrize("name", ["huber-tdc", "huber-gtd2"])
def test_with_every_function_in_h_huber_updates_are_half_the_gradient_of_the_huber_be(name):
    w, d, every, tau = np.array([0.9, -0.7, 0.4]), problem().behavior_distribution, np.eye(STATES), 0.57
    errors = exact.expected_td_error(problem(), curve_values(w))
    assert 1 < (np.abs(errors) > tau).sum() < STATES - 1
    d_w, d_theta = expected(name, "features", w, errors, phi=every, huber=tau)
    gradient = slope(lambda w: exact.huber_bellman_error(problem(), curve_values(w), d, tau), w)
    np.testing.assert_allclose(d_w, -0.5 * gradient, atol=1e-8)
    np.testing.assert_allclose(d_theta, 0, atol=1e-12)
    squared = slope(lambda w: exact.bellman_error(problem(), curve_values(w), d), w)
    assert np.abs(gradient - squared).max() > 0.01


@pytest.mark.parametrize("name", ["huber-tdc", "huber-gtd2"])
def test_huber_updates_rest_at_the_exact_minimizer_of_the_huber_be(name):
    every, tau = np.eye(STATES), 0.1
    found = exact.robust_solution(problem(), "hbe", "behavior", huber=tau)
    errors = exact.expected_td_error(problem(), found.values)
    assert np.abs(errors).max() > 2 * tau
    d_w, _ = expected(name, "features", found.weights, errors, phi=every, module=Line, huber=tau)
    np.testing.assert_allclose(d_w, 0, atol=1e-6)
    plain, _ = expected(name.removeprefix("huber-"), "features", found.weights, errors, phi=every, module=Line)
    assert np.abs(plain).max() > 0.01


def test_in_a_smaller_h_a_clipped_regression_is_not_the_gradient_of_the_huber_pbe():
    """There the maximizing h is another function: the saddlepoint form at that one is half the gradient."""
    x, d, tau = problem().features, problem().behavior_distribution, 0.1
    w = np.array([0.9, -0.7, 0.4])
    gradient = slope(lambda w: exact.huber_projected_bellman_error(problem(), x @ w, d, tau), w)
    best = exact.bounded_h(problem(), x @ w, d, tau)
    d_w, _ = expected("huber-gtd2", "features", w, best.weights, phi=x, module=Line, huber=tau)
    np.testing.assert_allclose(d_w, -0.5 * gradient, atol=1e-6)
    regressed = exact.maximizing_h(problem(), x @ w, d).weights
    d_w, _ = expected("huber-gtd2", "features", w, regressed, phi=x, module=Line, huber=tau)
    assert np.abs(d_w + 0.5 * gradient).max() > 0.01 * np.abs(gradient).max()
