"""MinAtar's games as the benchmark has them: sticky actions, cutoffs, sizes of images and actions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe import envs
from gpbe.envs.domains import MINATAR, domain_of

SHAPES = {"Asterix": (4, 5), "Breakout": (4, 3), "Freeway": (7, 3), "Seaquest": (10, 6), "SpaceInvaders": (6, 4)}
"""Channels, and actions that differ (Young & Tian 2019)."""


@pytest.mark.parametrize("name", MINATAR)
def test_a_game_is_the_benchmarks(name):
    env, domain = envs.find(name), domain_of(name)
    channels, actions = SHAPES[name.removesuffix("-MinAtar")]
    assert (env.observation, env.actions) == ((10, 10, channels), actions)
    assert env.sticky == domain.sticky == 0.1
    assert env.params.max_steps_in_episode == (2500 if name.startswith("Freeway") else 100_000)


def paddles(sticky: float, actions: np.ndarray) -> np.ndarray:
    """Where Breakout's paddle is after each action, in many lanes; lanes whose episode ends go on as they are."""
    env = envs.find_compiled("Breakout-MinAtar", sticky=sticky)

    def lane(key, actions):
        key, first = jax.random.split(key)
        _, state = env.reset(first)

        def step(state, xs):
            stepped = env.step(*xs[:1], state, xs[1])
            return stepped.state, jnp.argmax(stepped.observation[9, :, 0])

        return jax.lax.scan(step, state, (jax.random.split(key, len(actions)), actions))[1]

    return np.asarray(jax.jit(jax.vmap(lane, (0, None)))(jax.random.split(jax.random.key(0), 4000), actions))


@pytest.mark.slow
def test_a_tenth_of_the_actions_repeat_the_one_before():
    """Left, then right: from column 4 it is at 3 or, if 0 (stay) stuck, at 4; then back at 4 unless left stuck."""
    moved = paddles(0.1, jnp.array([1, 2]))
    stuck = [(moved[:, 0] == 4).mean(), (moved[moved[:, 0] == 3, 1] == 2).mean()]
    np.testing.assert_allclose(stuck, 0.1, atol=5 * np.sqrt(0.09 / 3000))
    free = paddles(0.0, jnp.array([1, 2]))
    np.testing.assert_array_equal(free, np.broadcast_to([3, 4], free.shape))


@pytest.mark.slow
@pytest.mark.parametrize("name", MINATAR)
@pytest.mark.parametrize("algorithm", ["qrc", "qrc-lambda"])
def test_every_game_is_learned_in_with_replay_and_by_streams(name, algorithm):
    result = gpbe.train(name, algorithm, steps=400, every=200)
    assert result.diverged_at.tolist() == [-1]
    assert result.agent().act(np.zeros(envs.find(name).observation)) in range(envs.find(name).actions)
