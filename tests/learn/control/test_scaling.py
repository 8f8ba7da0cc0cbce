"""Running scales of observations and rewards, against NumPy on all that was seen."""

import gymnasium
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


class Dawn(gymnasium.Env):
    """Noise, and a pixel that is lit for the first time at step 9; it keeps a record of all transitions."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.rows = []

    def _look(self):
        self.seen = np.array([self.rng.normal(5, 2), self.time in (9, 14)], np.float32)
        return self.seen

    def reset(self, seed=None, options=None):
        self.time, self.rng = 0, np.random.default_rng(seed)
        return self._look(), {}

    def step(self, action):
        self.time += 1
        before, reward = self.seen, float(self.rng.integers(-2, 3))
        self.rows.append((before, action, reward, self._look(), self.time == 20))
        return self.seen, reward, self.time == 20, False, {}


@pytest.mark.parametrize(("name", "options"), [("q-lambda", {}), ("q-learning", {"batch": 1, "buffer": 1})])
def test_what_is_new_is_on_its_own_scale(name, options):
    """Q-learning with linear q, by hand: S' counts when it is reached, not first when it is acted on.

    On the scale of what was seen before it, a pixel that is lit for the first time would be 10,000.
    """
    gamma, alpha = 0.9, 0.01
    common = {"hidden": (), "epsilon": 0.0, "gamma": gamma, "optimizer": "sgd", "normalize_observations": True}
    common |= {"steps": 30, "every": 30} | options | ({"lam": 0.0} if name == "q-lambda" else {})
    fresh = gpbe.train(Dawn(), name, step_size=1e-30, **common).agent()
    env = Dawn()
    learned = gpbe.train(env, name, step_size=alpha, **common).agent()
    w = np.column_stack([fresh.networks.q.head.weight, fresh.networks.q.head.bias]).astype(float)

    def sight(x, others):
        """An observation on the scale of others, and 1."""
        deviation = np.sqrt((np.var(others, axis=0, ddof=1) if len(others) > 1 else 1) + 1e-8)
        return np.append((x - np.mean(others, axis=0)) / deviation, 1.0)

    counted, largest = [], 0.0
    for s, a, r, s2, end in env.rows:
        counted.append(s.astype(float))
        assert a == (w @ sight(s, counted)).argmax()
        x, x2 = (sight(y, [*counted, s2.astype(float)]) for y in (s, s2))
        largest = max(largest, np.abs(x2).max())
        w[a] += alpha * (r + gamma * (not end) * (w @ x2).max() - w[a] @ x) * x
    got = np.column_stack([learned.networks.q.head.weight, learned.networks.q.head.bias])
    np.testing.assert_allclose(got, w, rtol=1e-4, atol=1e-4)
    assert largest < 5


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
