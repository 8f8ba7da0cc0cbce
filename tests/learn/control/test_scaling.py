"""Running scales of observations and rewards, against NumPy on all that was seen."""

import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.learn.control import scaling
from gpbe.learn.control.learning import Learning


def test_scales_are_those_of_all_that_was_seen():
    rng, gamma = np.random.default_rng(0), 0.9
    seen, rewards, done = rng.normal(3, 2, size=(13, 5)), rng.normal(size=13), np.arange(13) == 6
    state = scaling.start(Learning(normalize_observations=True, normalize_rewards=True), 5)
    totals, total = [], 0.0
    for x, r, d in zip(seen, rewards, done, strict=True):
        state = scaling.see(state, jnp.asarray(x, jnp.float32), jnp.float32(r), jnp.float32(gamma), jnp.bool(d))
        totals.append(gamma * total + r)
        total = 0.0 if d else totals[-1]
    got = scaling.seen_as(state, jnp.asarray(seen.T, jnp.float32))
    want = (seen - seen.mean(axis=0)) / seen.std(axis=0, ddof=1)
    np.testing.assert_allclose(got, want.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaling.paid_as(state, jnp.float32(2.0)), 2 / np.std(totals, ddof=1), rtol=1e-4)


def test_nothing_is_scaled_unless_asked_for_or_before_two_samples():
    assert scaling.start(Learning(), 5) is None
    x = jnp.full((5, 1), 3.0)
    assert scaling.seen_as(None, x) is x
    fresh = scaling.start(Learning(normalize_observations=True), 5)
    np.testing.assert_allclose(scaling.seen_as(fresh, x), x)


@pytest.mark.slow
def test_an_agent_takes_its_scales_and_its_style_along(tmp_path):
    """Saved and loaded it acts as before; the mean of what it saw is what its environment shows."""
    style = {"layer_norm": True, "activation": "leaky-relu", "sparsity": 0.5}
    norms = {"normalize_observations": True, "normalize_rewards": True}
    result = gpbe.train("MountainCar-v0", "q-learning", steps=300, every=100, runs=2, hidden=(5,), **style, **norms)
    assert result.scale.shape == (2, 2, 2)
    assert (np.abs(result.scale[:, 0, 0] + 0.5) < 0.3).all()  # a car that stays in the valley, at -0.5
    agent = result.agent(1)
    loaded = gpbe.load(agent.save(tmp_path / "agent.npz"))
    assert loaded.spec.style == agent.spec.style
    np.testing.assert_array_equal(loaded.preferences([-0.4, 0.01]), agent.preferences([-0.4, 0.01]))
    mean, deviation = result.scale[1]
    plain = agent.networks.q(jnp.asarray(((np.array([-0.4, 0.01]) - mean) / deviation)[:, None], jnp.float32))[:, 0]
    np.testing.assert_allclose(agent.preferences([-0.4, 0.01]), plain, rtol=1e-5)
    assert loaded.evaluate(episodes=2).returns.shape == (2,)
