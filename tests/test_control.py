"""The parts of deep control, against hand-worked numbers and known values."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe.envs.probes import PROBES
from gpbe.learn import control
from gpbe.learn.returns import returns_at_records
from gpbe.nets import network
from gpbe.operators import hard_max, mellowmax
from gpbe.replay import draw_distinct

OPTIONS = control.Options(corrected=True, hard=True, batch=32, buffer=4000, every=500, optimizer="adam", target_every=0)
HYPERS = control.Hypers(
    step_size=2.0**-8, beta=1.0, tau=0.0, epsilon=0.2, epsilon_final=0.2, epsilon_steps=0.0, gamma=0.9
)


def as_arrays(hypers: control.Hypers) -> control.Hypers:
    return control.Hypers(*(jnp.float32(x) for x in hypers))


@pytest.mark.parametrize("tau", [1e-4, 0.1, 1.0, 30.0])
def test_mellowmax_is_its_formula_and_its_weights_its_gradient(tau):
    q = np.array([0.3, -1.2, 2.5, 2.4, 0.0])
    value, weights = mellowmax(jnp.asarray(q, jnp.float32), jnp.float32(tau))
    np.testing.assert_allclose(value, np.log(np.mean(np.exp(tau * q))) / tau, rtol=2e-5)
    np.testing.assert_allclose(weights, np.exp(tau * q) / np.exp(tau * q).sum(), rtol=1e-4, atol=1e-30)


def test_mellowmax_at_zero_is_the_hard_max():
    q = jnp.array([0.3, 2.5, 2.5])
    for soft, hard in zip(mellowmax(q, 0.0), hard_max(q), strict=True):
        np.testing.assert_array_equal(soft, hard)


def test_every_subset_is_drawn_equally_often():
    """Three of five: ten subsets, chi-square with nine degrees of freedom."""
    n = 20_000
    drawn = np.sort(np.asarray(draw_distinct(jax.random.key(0), jnp.full(n, 5), 3)), axis=1)
    assert (np.diff(drawn, axis=1) > 0).all()
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 10
    assert ((counts - n / 10) ** 2 / (n / 10)).sum() < 30


def test_update_is_the_papers_equations_by_hand():
    """One layer, unequal odd sizes, tau > 0: the plain-SGD update of QRC in float64, derived with pencil and paper."""
    rng = np.random.default_rng(4)
    b, inputs, f, a, tau, gamma, beta, alpha = 5, 3, 7, 3, 0.7, 0.9, 0.5, 0.1
    net = network((inputs,), a, (f,), jax.random.key(1))
    net = jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape), jnp.float32), net)
    weights, shape = control.flatten(net)
    obs, obs_next = rng.normal(size=(2, b, inputs))
    action, reward = rng.integers(0, a, size=b), rng.normal(size=b)
    discount = gamma * np.array([1, 0, 1, 1, 0])
    batch = jnp.asarray(np.column_stack([obs, obs_next, action, reward, discount]), jnp.float32)
    options = OPTIONS._replace(batch=b, optimizer="sgd", hard=False)
    hypers = as_arrays(HYPERS._replace(step_size=alpha, beta=beta, tau=tau, gamma=gamma))
    run = control.start(options, jnp.zeros(inputs), weights, jax.random.key(0))
    new, _, _ = control.update(options, shape, hypers, (inputs,), run, batch, jnp.int32(9))

    w1, b1 = (np.asarray(x, float) for x in (net.body.layers[0].weight, net.body.layers[0].bias))
    wq, bq = np.asarray(net.q_head.weight, float), np.asarray(net.q_head.bias, float)
    wh, bh = np.asarray(net.h_head.weight, float), np.asarray(net.h_head.bias, float)
    change = {k: np.zeros_like(v) for k, v in {"w1": w1, "b1": b1, "wq": wq, "bq": bq}.items()}
    change_h = {"wh": -beta * wh, "bh": -beta * bh}
    for i in range(b):
        x, y = np.maximum(obs[i] @ w1 + b1, 0), np.maximum(obs_next[i] @ w1 + b1, 0)
        q, q_next = x @ wq + bq, y @ wq + bq
        soft = np.exp(tau * q_next) / np.exp(tau * q_next).sum()
        delta = reward[i] + discount[i] * np.log(np.mean(np.exp(tau * q_next))) / tau - q[action[i]]
        h = x @ wh[:, action[i]] + bh[action[i]]
        for out, features, seen in (
            (delta * np.eye(a)[action[i]], x, obs[i]),
            (-discount[i] * h * soft, y, obs_next[i]),
        ):
            back = (wq @ out) * (features > 0)
            for name, part in {
                "wq": np.outer(features, out),
                "bq": out,
                "w1": np.outer(seen, back),
                "b1": back,
            }.items():
                change[name] += part / b
        change_h["wh"][:, action[i]] += (delta - h) * x / b
        change_h["bh"][action[i]] += (delta - h) / b
    after = shape.network(new)
    for got, old, name in (
        (after.body.layers[0].weight, w1, "w1"),
        (after.body.layers[0].bias, b1, "b1"),
        (after.q_head.weight, wq, "wq"),
        (after.q_head.bias, bq, "bq"),
    ):
        np.testing.assert_allclose(got, old + alpha * change[name], rtol=1e-4, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(after.h_head.weight, wh + alpha * change_h["wh"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(after.h_head.bias, bh + alpha * change_h["bh"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", PROBES, ids=lambda probe: getattr(probe, "__name__", getattr(probe, "name", "")))
def test_qrc_learns_the_known_values_of_probes(make):
    env = make() if callable(make) and not hasattr(make, "reset") else make
    key_net, key_env, key_run = jax.random.split(jax.random.key(0), 3)
    weights, shape = control.flatten(network(env.observation, env.actions, (17,), key_net))
    place = control.Place(*env.reset(key_env))
    run = control.start(OPTIONS, place.observation, weights, key_run)
    step = jax.jit(partial(control.stretch, OPTIONS, env, shape, as_arrays(HYPERS)))
    for k in range(16):
        place, run, _ = step(jnp.int32(500 * k), place, run)
    net = shape.network(run.weights)
    q = net.q_head(net.features(jnp.asarray(env.observations, jnp.float32)))
    np.testing.assert_allclose(q, env.q(0.9), atol=0.15)
    assert run.diverged_at == -1


def test_records_carry_the_return_of_their_episode():
    """Episodes end at steps 3 (return 1), 4 (return 2), 11 (return 3); recorded every 4; the last is unfinished."""
    nan = np.nan
    got = returns_at_records(np.array([1.0, nan, 3.0]), np.array([2.0, nan, nan]), np.array([2.0, 2.0, 3.0]))
    np.testing.assert_array_equal(got, [2.0, 3.0, 3.0])
