"""Whole episodes of agents that no longer learn. Programs are compiled once for all weights of the same networks."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import Agent, Choice, Spec
from gpbe.envs import CompiledEnv, HostEnv
from gpbe.learn.control.state import shape_of
from gpbe.learn.grouping import remembered
from gpbe.shapes import Array
from gpbe.summary import standard_error
from gpbe.wording import counted


@dataclass(frozen=True)
class Evaluation:
    """Episodes of an agent that no longer learns."""

    returns: Array
    """Undiscounted, one an episode."""
    lengths: Array

    @property
    def mean(self) -> float:
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN for one episode."""
        return float(standard_error(self.returns))

    def __repr__(self) -> str:
        error = f" ± {self.standard_error:.2g}" if len(self.returns) > 1 else ""
        return f"<Evaluation: mean return {self.mean:.4g}{error} over {counted(len(self.returns), 'episode')}>"


def play(
    agent: Agent,
    spec: Spec,
    weights: Array,
    scale: Array | None,
    env: CompiledEnv | HostEnv,
    episodes: int,
    seed: int,
    sample: bool = False,
) -> Evaluation:
    """Episodes with greedy actions; or, where there is a policy, with actions that it samples."""
    if isinstance(env, HostEnv):
        return _play_host(agent, spec, weights, scale, env, episodes, seed, sample)
    keys = jax.random.split(jax.random.key(seed), episodes)
    returns, lengths = _episodes_program(agent, spec, env, sample)(jnp.asarray(weights), scale, keys)
    return Evaluation(np.asarray(returns, float), np.asarray(lengths))


def preferred(agent: Agent, spec: Spec, weights: Any, scale: Any, observation: Any) -> Any:
    """The preferences at one observation."""
    seen = observation.reshape(-1)
    if scale is not None:
        seen = (seen - scale[0].astype(seen.dtype)) / scale[1].astype(seen.dtype)
    return agent.preferences(shape_of(agent, spec).layout.tree(weights), seen[:, None])[:, 0]


@remembered
def preferences_program(agent: Agent, spec: Spec) -> Any:
    """A program from weights, scale and observations to the preferences at each."""
    shape_of(agent, spec)  # made before anything is traced
    return jax.jit(jax.vmap(partial(preferred, agent, spec), in_axes=(None, None, 0)))


def _choose(agent: Agent, preferences: Any, uniform: Any, sample: bool) -> Any:
    if not sample:
        return preferences.argmax(axis=-1)
    choice = Choice(jnp.zeros(uniform.shape, bool), uniform)
    return jax.vmap(agent.act, in_axes=(0, 0, None))(preferences, choice, jnp.zeros(())).chosen


@remembered
def _episodes_program(agent: Agent, spec: Spec, env: CompiledEnv, sample: bool) -> Any:
    shape_of(agent, spec)  # made before anything is traced

    def episode(weights: Any, scale: Any, key: Any) -> tuple[Any, Any]:
        key_reset, key = jax.random.split(key)
        observation, state = env.reset(key_reset)

        def step(carry: Any) -> Any:
            key, observation, state, total, length, _ = carry
            key, key_step, key_action = jax.random.split(key, 3)
            preferences = preferred(agent, spec, weights, scale, observation)
            uniform = jax.random.uniform(key_action)
            action = _choose(agent, preferences[None], uniform[None], sample)[0]
            s = env.step(key_step, state, action)
            return key, s.observation, s.state, total + s.reward, length + 1, s.terminated | s.truncated

        start = (key, observation, state, jnp.zeros(()), jnp.int32(0), jnp.zeros((), bool))
        *_, total, length, _ = jax.lax.while_loop(lambda carry: ~carry[-1], step, start)
        return total, length

    return jax.jit(jax.vmap(episode, in_axes=(None, None, 0)))


def _play_host(
    agent: Agent, spec: Spec, weights: Any, scale: Any, env: HostEnv, episodes: int, seed: int, sample: bool
) -> Evaluation:
    # One lane: several would have to wait for the longest episode, and an instance of the user's has no copies.
    returns, lengths = np.zeros(episodes), np.zeros(episodes, int)
    rng, values = np.random.default_rng(seed), preferences_program(agent, spec)
    with env.open(1) as envs:
        observation, number = envs.reset([seed]), 0
        while number < episodes:
            uniform = jnp.asarray(rng.uniform(size=1), jnp.float32)
            chosen = _choose(agent, values(weights, scale, observation), uniform, sample)
            stepped = envs.step(np.asarray(chosen))
            returns[number] += float(stepped.reward[0])
            lengths[number] += 1
            number += int(stepped.terminated[0] | stepped.truncated[0])
            observation = stepped.following
    return Evaluation(returns, lengths)
