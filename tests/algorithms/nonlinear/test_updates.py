"""Every update of nonlinear prediction against gradients derived by hand, in 64 bits, with unequal odd sizes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe import InputError
from gpbe.algorithms.nonlinear import ALGORITHMS, NonlinearAlgorithm, find
from gpbe.algorithms.nonlinear.kernels import KERNELS, smoothed
from gpbe.algorithms.nonlinear.model import Params, second_weights, start
from gpbe.algorithms.nonlinear.step import Batch, Second, direction
from gpbe.algorithms.nonlinear.updates import Outputs, Window, directions, parts
from helpers.samples import few

I, F, B, M = 5, 7, 3, 4
LEARNED = ("tdc", "gtd2")
HUBER = 0.7


# ---------------------------------------------------------------- one hidden layer, by hand


class Net:
    """v(x) = u . relu(W x + b) + c in 64 bits, its gradient, and the Hessian of v times a direction."""

    def __init__(self, W, b, u, c):
        self.W, self.b, self.u, self.c = (np.asarray(a, dtype=float) for a in (W, b, u, c))

    def features(self, x):
        return np.maximum(self.W @ x + self.b, 0)

    def value(self, x):
        return self.u @ self.features(x) + self.c

    def gradient(self, x):
        on = (self.W @ x + self.b > 0).astype(float)
        return np.concatenate([np.outer(self.u * on, x).ravel(), self.u * on, self.features(x), [1.0]])

    def curvature(self, x, eta):
        """Only products of u with W and b have second derivatives."""
        on = (self.W @ x + self.b > 0).astype(float)
        to_w, to_b, to_u = eta[: F * I].reshape(F, I), eta[F * I : F * I + F], eta[F * I + F : F * I + 2 * F]
        return np.concatenate([np.outer(to_u * on, x).ravel(), to_u * on, on * (to_w @ x + to_b), [0.0]])


def net_of(module, row: int = 0) -> Net:
    layer, head = module.body.layers[0], module.head
    return Net(layer.weight, layer.bias, head.weight[row], head.bias[row])


def flat(module, row: int = 0) -> np.ndarray:
    """The parameters of one output in the order of `Net.gradient`."""
    layer, head = module.body.layers[0], module.head
    return np.concatenate([np.ravel(a) for a in (layer.weight, layer.bias, head.weight[row], head.bias[row])]).astype(
        float
    )


def random_params(basis, seed: int = 0) -> Params:
    """h is 0 at the start, which would hide most of an update; so every parameter is drawn anew."""
    rng = np.random.default_rng(seed)
    params = start((F,), I, basis, M, jax.random.key(seed))
    return jax.tree.map(
        lambda a: jnp.asarray(rng.standard_normal(a.shape), a.dtype) if eqx.is_inexact_array(a) else a, params
    )


def random_batch(n: int, seed: int = 1) -> Batch:
    rng = np.random.default_rng(seed)

    def draw(*shape, positive=False):
        a = rng.standard_normal(shape)
        return jnp.asarray(np.abs(a) if positive else a, jnp.float32)

    window = Window(
        draw(n, B), 0.3 + 0.2 * draw(n, B) ** 2, draw(n, B, positive=True), 0.6 + 0 * draw(n, B), draw(B) ** 2
    )
    second = Second(draw(I, B), draw(B), 0.3 + 0.2 * draw(B) ** 2, draw(B, positive=True))
    return Batch(draw(I, n + 1, B), window, draw(M, B), second)


def hand_made(name: str, basis: str, params: Params, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the update of one-step or longer returns, sample by sample, from the printed equations."""
    net, t = net_of(params.v), batch.window
    x, n = np.asarray(batch.x, dtype=float), t.reward.shape[0]
    r, g, rho, lam = (np.asarray(a, dtype=float) for a in (t.reward, t.discount, t.rho, t.lam))
    weight = np.asarray(t.weight, dtype=float)
    d_w, d_theta = 0.0, 0.0

    def error(i):
        """rho_0 (R + gamma ((1 - lam) v + lam (v + error of the rest)) - v), from the definition of the return."""

        def to_come(k):
            last = k == n - 1
            here, after = net.value(x[:, k, i]), net.value(x[:, k + 1, i])
            keep = 0.0 if last else lam[k, i] * to_come(k + 1)
            return rho[k, i] * (r[k, i] + g[k, i] * (after + keep) - here)

        return to_come(0)

    def later(i):
        """The gradient of the bootstrapped part of the return."""
        total, left = 0.0, 1.0
        for k in range(n):
            arrival = 0.0 if k == n - 1 else lam[k, i]
            left *= rho[k, i] * g[k, i]
            total = total + left * (1 - arrival) * net.gradient(x[:, k + 1, i])
            left *= arrival
        return total

    def auxiliary(s, i):
        """h(s), its gradient in theta, and in w (where it has one)."""
        if basis == "head":
            return net_of(params.v, 1).value(s), np.append(net.features(s), 1.0), 0.0
        if basis == "network":
            return net_of(params.h).value(s), net_of(params.h).gradient(s), 0.0
        if basis == "features":
            phi = np.asarray(batch.phi[:, i], dtype=float)
            return phi @ np.asarray(params.h, dtype=float), phi, 0.0
        if basis == "gradient":
            eta = flat(params.h)
            return net.gradient(s) @ eta, net.gradient(s), net.curvature(s, eta)
        return 0.0, np.zeros(0), 0.0

    def change(i, s, h, bend):
        delta, ahead, here = error(i), later(i), net.gradient(s)
        if name == "td":
            return delta * here
        if name == "residual-gradient":
            one = r[0, i] + g[0, i] * net.value(x[:, 1, i]) - net.value(s)
            return rho[0, i] * one * (here - g[0, i] * net.gradient(x[:, 1, i]))
        if name == "double-sampling":
            b = Second(*(np.asarray(a, dtype=float)[..., i] for a in batch.second))
            other = b.rho * (b.reward + b.discount * net.value(b.x) - net.value(s))
            return delta * here - other * ahead
        if name == "kbe":
            others = [j for j in range(B) if j != i]
            k = [np.exp(-((s - x[:, 0, j]) ** 2).sum() / (2 * 0.8**2)) for j in others]
            return np.mean([a * weight[j] * error(j) for a, j in zip(k, others, strict=True)]) * (here - ahead)
        if name.startswith("huber"):
            c = np.clip(h, -HUBER, HUBER)
            return c * (here - ahead) + (0 if name.endswith("gtd2") else (delta - h) * here)
        main = h * here - h * ahead if name.endswith("gtd2") else delta * here - h * ahead
        return main - (delta - h) * bend if name.startswith("maei") else main

    for i in range(B):
        s = x[:, 0, i]
        h, grad_h, bend = auxiliary(s, i)
        d_w = d_w + weight[i] * change(i, s, h, bend) / B
        d_theta = d_theta + weight[i] * (error(i) - h) * grad_h / B
    return np.asarray(d_w), np.asarray(d_theta)


CASES = [
    *((n, name, basis) for n in (3, 1) for name in LEARNED for basis in ("head", "network", "gradient", "features")),
    (3, "huber-tdc", "head"),
    (1, "huber-gtd2", "features"),
    *((n, name, "gradient") for n in (3, 1) for name in ("maei-gtd2", "maei-tdc")),
    *((n, name, "none") for n in (3, 1) for name in ("td", "kbe")),
    (1, "residual-gradient", "none"),
    (1, "double-sampling", "none"),
]


@pytest.mark.parametrize(("n", "name", "basis"), few(CASES, (3,)))
def test_updates_are_those_derived_by_hand(n, name, basis):
    params, batch = random_params(basis), random_batch(n)
    if name != "double-sampling":
        batch = batch._replace(second=None)
    found = eqx.filter_jit(direction)(ALGORITHMS[name], basis, params, batch, "gaussian", 0.8, HUBER)
    d_w, d_theta = hand_made(name, basis, params, batch)
    scale = np.abs(d_w).max()
    np.testing.assert_allclose(flat(found.v), d_w, rtol=2e-5, atol=2e-6 * scale)
    if basis == "head":
        theta = np.append(found.v.head.weight[1], found.v.head.bias[1])
    elif basis == "none":
        assert found.h is None
        return
    else:
        theta = np.asarray(found.h) if basis == "features" else flat(found.h)
    np.testing.assert_allclose(theta, d_theta, rtol=2e-5, atol=2e-6 * np.abs(d_theta).max())


def test_h_starts_at_zero_and_its_parameters_are_told_from_those_of_v():
    for basis, count in (
        ("head", F + 1),
        ("network", F * I + 2 * F + 1),
        ("gradient", F * I + 2 * F + 1),
        ("features", M),
    ):
        params = start((F,), I, basis, M, jax.random.key(3))
        ones = jax.tree.leaves(second_weights(params, basis))
        assert sum(float(leaf.sum()) for leaf in ones) == count
        found = eqx.filter_jit(direction)(ALGORITHMS["gtd2"], basis, params, random_batch(1)._replace(second=None))
        np.testing.assert_array_equal(flat(found.v), 0)  # h = 0: the saddlepoint form stands still


# ---------------------------------------------------------------- returns


def test_error_of_a_window_is_that_of_the_lambda_return_by_its_definition():
    """G = R + gamma ((1 - lam) v + lam G'), on-policy; the last arrival bootstraps."""
    rng = np.random.default_rng(0)
    v, r, g, lam = rng.standard_normal(5), rng.standard_normal(4), rng.uniform(0.5, 1, 4), rng.uniform(0, 1, 4)
    total = v[4]
    for k in range(3, -1, -1):
        mixed = v[4] if k == 3 else (1 - lam[k]) * v[k + 1] + lam[k] * total
        total = r[k] + g[k] * mixed
    t = Window(*(jnp.asarray(a, jnp.float32) for a in (r, g, np.ones(4), lam)), jnp.ones(()))
    found = parts(jnp.asarray(v, jnp.float32), t)
    assert float(found.error) == pytest.approx(total - v[0], rel=1e-5)

    def final(v):
        total = v[4]
        for k in range(3, -1, -1):
            total = r[k] + g[k] * (v[4] if k == 3 else (1 - lam[k]) * v[k + 1] + lam[k] * total)
        return total

    slope = [(final(v + e) - final(v - e)) / 2e-6 for e in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(found.bootstrap, slope[1:], rtol=1e-4)


def test_lam_one_is_an_n_step_return_and_lam_zero_a_single_step():
    v, r, g = jnp.array([0.5, -1.0, 2.0, 0.3]), jnp.array([1.0, 0.5, -0.2]), jnp.array([0.9, 0.8, 0.7])
    ones = jnp.ones(3)
    n_step = parts(v, Window(r, g, ones, ones, jnp.ones(())))
    assert float(n_step.error) == pytest.approx(1 + 0.9 * 0.5 - 0.72 * 0.2 + 0.504 * 0.3 - 0.5, rel=1e-5)
    np.testing.assert_allclose(n_step.bootstrap, [0, 0, 0.504], rtol=1e-6)
    one = parts(v, Window(r, g, ones, 0 * ones, jnp.ones(())))
    assert float(one.error) == pytest.approx(1 - 0.9 - 0.5, rel=1e-5)
    np.testing.assert_allclose(one.bootstrap, [0.9, 0, 0], rtol=1e-6)


def test_nothing_counts_after_the_end_of_an_episode():
    v, g = jnp.array([0.5, -1.0, 1e9, -1e9]), jnp.array([0.9, 0.0, 0.7])
    found = parts(v, Window(jnp.array([1.0, 2.0, 1e9]), g, jnp.ones(3), jnp.ones(3), jnp.ones(())))
    assert float(found.error) == pytest.approx(1 + 0.9 * 2 - 0.5, rel=1e-5)
    np.testing.assert_array_equal(found.bootstrap, [0, 0, 0])


def test_signs_of_the_longer_updates():
    """The printed appendix multiplies the bootstrapped gradient by h twice, and moves h away from the error."""
    v = jnp.array([0.0, 0.0, 0.0])
    t = Window(jnp.ones(2), jnp.full(2, 0.5), jnp.ones(2), jnp.ones(2), jnp.ones(()))
    for h in (0.5, 2.0):
        moves = directions(Outputs(v, jnp.asarray(h)), t, "saddlepoint")
        np.testing.assert_allclose(moves.v, [h, 0, -h * 0.25])
        assert float(moves.h) == pytest.approx(1.5 - h)


# ---------------------------------------------------------------- kernels and names


def test_kernels_are_positive_semidefinite_and_see_what_they_should():
    x = jnp.asarray(np.random.default_rng(0).standard_normal((I, 9)), jnp.float32)
    x = x.at[:, 8].set(x[:, 0])
    for name, kernel in KERNELS.items():
        k = np.asarray(kernel(x, x, 1.3), dtype=float)
        assert np.linalg.eigvalsh(k).min() > -1e-4, name
    same = np.asarray(KERNELS["same"](x, x, 1.0))
    assert same.sum() == 11


def test_smoothing_leaves_a_sample_out_of_its_own_estimate():
    x, errors = jnp.ones((2, 4)), jnp.array([1.0, 2.0, 3.0, 6.0])
    np.testing.assert_allclose(smoothed("same", x, errors, 1.0), [11 / 3, 10 / 3, 3, 2], rtol=1e-6)


def test_names_are_points_on_the_axes():
    assert ALGORITHMS["emphatic-tdrc"].weighting == "m"
    assert ALGORITHMS["tdrc"] == NonlinearAlgorithm(regularized=True)
    assert find(NonlinearAlgorithm(h="zero")).h == "zero"
    assert not ALGORITHMS["double-sampling"].long_returns


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"form": "saddle-point"}, "there is no form 'saddle-point'; did you mean 'saddlepoint'?"),
        ({"prior": "emphatics"}, "there is no prior 'emphatics'; did you mean 'emphatic'?"),
        ({"h": "zero", "curvature": True}, "the term of the curvature belongs to an h that learns"),
        ({"h": "kernel", "regularized": True}, "regularized shrinks an h that learns, not h = 'kernel'"),
        ({"h": "same", "bounded": True}, "bounded clips an h that learns, without the term of the curvature"),
        ({"curvature": True, "bounded": True}, "bounded clips an h that learns, without the term of the curvature"),
    ],
)
def test_axes_that_make_no_algorithm_are_refused(axes, message):
    algorithm = NonlinearAlgorithm()
    for name, value in axes.items():
        object.__setattr__(algorithm, name, value)  # the types of the tests would refuse a misspelled one first
    with pytest.raises(InputError, match=message):
        algorithm.__post_init__()
