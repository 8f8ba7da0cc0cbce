"""The random numbers of a stretch of steps."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from gpbe.algorithms.control import Choice, Hypers
from gpbe.envs import CompiledEnv
from gpbe.learn.control.forward import stretches
from gpbe.learn.control.learning import Learning
from gpbe.learn.replay import draw_distinct


class Chance(NamedTuple):
    """The random numbers of one step, drawn for a whole stretch at once: that is most of their cost."""

    time: Any
    """Steps before this one: not drawn, but put in for the loop. All runs share it, so the buffer's next row is one
    place, written in place."""
    epsilon: Any
    choice: Choice
    picks: Any
    """Positions of the mini-batch in the buffer; None where nothing is replayed."""


class Chances(NamedTuple):
    """What is random in a stretch, in an environment that is compiled along."""

    steps: Chance
    keys: Any
    """Keys of the environment's steps."""
    resets: Any
    """Where a step that ends an episode leads to."""


def draw(
    learning: Learning, hypers: Hypers, time: Array, key: PRNGKeyArray
) -> tuple[PRNGKeyArray, Chance, PRNGKeyArray]:
    """A key for later, the random numbers of a stretch, and a key for the environment.

    They depend on no algorithm, and take half of the time to compile: a program of their own serves all algorithms.
    """
    key, key_chances, key_env = jax.random.split(key, 3)
    key_explore, key_action, key_picks = jax.random.split(key_chances, 3)
    times = time + jnp.arange(learning.every)
    epsilon = epsilon_at(hypers, times)
    explore = jax.random.uniform(key_explore, times.shape) < epsilon
    chance = Chance(
        time=None,
        epsilon=epsilon,
        choice=Choice(explore, jax.random.uniform(key_action, times.shape)),
        picks=draw_picks(learning, times, key_picks) if learning.replay else None,
    )
    return key, chance, key_env


def draw_picks(learning: Learning, times: Int[Array, " C"], key: PRNGKeyArray) -> Int[Array, "C batch"]:
    """Positions in the buffer at these times: distinct ones, or stretches that begin at distinct ones."""
    stored, length = jnp.minimum(times + 1, learning.buffer), learning.length
    if length == 1:
        return draw_distinct(key, stored, learning.batch)
    starts = draw_distinct(key, stored - length + 1, learning.batch // length)
    return stretches(times, starts, learning.buffer, length)


def draw_in(
    env: CompiledEnv, learning: Learning, hypers: Hypers, time: Array, key: PRNGKeyArray
) -> tuple[PRNGKeyArray, Chances]:
    """A key for later, and a stretch's chances in an environment."""
    key, steps, key_env = draw(learning, hypers, time, key)
    key_step, key_reset = jax.random.split(key_env)
    resets = jax.vmap(env.reset)(jax.random.split(key_reset, learning.every))
    return key, Chances(steps, jax.random.split(key_step, learning.every), resets)


def epsilon_at(hypers: Hypers, times: Array) -> Array:
    """The epsilon at each time: on a line from `epsilon` to `epsilon_final` over the first `epsilon_steps` steps."""
    part = jnp.minimum(times / jnp.maximum(hypers.epsilon_steps, 1), 1.0)
    return hypers.epsilon + part * (hypers.epsilon_final - hypers.epsilon)
