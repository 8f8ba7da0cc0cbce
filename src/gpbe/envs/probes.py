"""Environments so small that their optimal action values are known: what a learner must get right, one thing at a time.

A learner that fails one of them has a particular fault, which its docstring names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from gpbe.envs.compiled import Stepped


class Place(NamedTuple):
    state: Int[Array, ""]
    time: Int[Array, ""]


@dataclass(frozen=True, eq=False)
class Probe:
    """A few states, and deterministic steps between them: tables by state S and action A."""

    name: str
    observations: Float[np.ndarray, "S K"]
    """What is shown at each state."""
    following: Int[np.ndarray, "S A"]
    rewards: Float[np.ndarray, "S A"]
    ends: Bool[np.ndarray, "S A"]
    values: Callable[[float], Any]
    starts: tuple[int, ...] = (0,)
    """Where episodes begin, equally often."""
    cutoff: int = 1000

    @property
    def observation(self) -> tuple[int, ...]:
        return self.observations.shape[1:]

    @property
    def actions(self) -> int:
        return self.rewards.shape[1]

    def q(self, gamma: float) -> Float[np.ndarray, "S A"]:
        """The optimal action values at each of `observations`; gamma must be below 1 where nothing ends."""
        return np.broadcast_to(np.asarray(self.values(gamma), float), self.rewards.shape)

    def reset(self, key: PRNGKeyArray) -> tuple[Float[Array, "..."], Place]:
        state = jax.random.choice(key, jnp.asarray(self.starts, jnp.int32))
        return self._show(state), Place(state, jnp.zeros((), jnp.int32))

    def step(self, key: PRNGKeyArray, state: Place, action: Int[Array, ""]) -> Stepped:
        here = (state.state, action)
        following = jnp.asarray(self.following, jnp.int32)[here]
        terminated = jnp.asarray(self.ends)[here]
        place = Place(following, state.time + 1)
        truncated = (place.time >= self.cutoff) & ~terminated
        return Stepped(
            self._show(following), place, jnp.asarray(self.rewards, jnp.float32)[here], terminated, truncated
        )

    def _show(self, state: Int[Array, ""]) -> Float[Array, "..."]:
        return jnp.asarray(self.observations, jnp.float32)[state]


def constant() -> Probe:
    """q = 1. Fails: the reward is not learned at all, or values are bootstrapped beyond a termination."""
    return _probe("constant", [[1.0]], [[0, 0, 0]], [[1, 1, 1]], ends=True, values=lambda _: 1.0)


def observed() -> Probe:
    """q = the observation, -1 or 1. Fails: the observation does not reach the value, or not the right one."""
    values = [[-1.0], [1.0]]
    return _probe("observed", values, [[0, 0], [1, 1]], [[-1, -1], [1, 1]], True, lambda _: values, starts=(0, 1))


def delayed() -> Probe:
    """q = gamma, then 1. Fails: bootstrapping or discounting."""
    ends = [[False], [True]]
    return _probe("delayed", np.eye(2), [[1, 1], [1, 1]], [[0, 0], [1, 1]], ends, lambda gamma: [[gamma], [1.0]])


def acted() -> Probe:
    """q = (0, 1). Fails: the value of one action is learned at another."""
    return _probe("acted", [[1.0]], [[0, 0]], [[0, 1]], ends=True, values=lambda _: [[0.0, 1.0]])


def chosen() -> Probe:
    """q = (-gamma, gamma, 0), and then what was chosen. Fails: the maximum over the next actions.

    The first action leads to a state that only costs; the second to one where one action pays and the others cost.
    """
    following = [[1, 2, 0], [1, 1, 1], [2, 2, 2]]
    rewards = [[0, 0, 0], [-1, -1, -1], [-1, -1, 1]]
    ends = [[False, False, True], [True] * 3, [True] * 3]
    return _probe("chosen", np.eye(3), following, rewards, ends, lambda gamma: [[-gamma, gamma, 0], *rewards[1:]])


def endless() -> Probe:
    """q = (gamma, 1) / (1 - gamma). Fails: a cutoff is taken for an end, or the jump to a new episode for a step.

    From the first state to the second, which pays 1 for ever; but episodes are cut off after 3 steps.
    """
    rewards = [[0, 0], [1, 1]]
    values = lambda gamma: [[gamma / (1 - gamma)], [1 / (1 - gamma)]]  # noqa: E731
    return _probe("endless", np.eye(2), [[1, 1], [1, 1]], rewards, ends=False, values=values, cutoff=3)


def _probe(name, observations, following, rewards, ends, values, starts=(0,), cutoff=1000) -> Probe:
    rewards = np.asarray(rewards, float)
    ends = np.broadcast_to(np.asarray(ends, bool), rewards.shape)
    return Probe(name, np.asarray(observations, float), np.asarray(following), rewards, ends, values, starts, cutoff)


PROBES = (constant, observed, delayed, acted, chosen, endless)
"""All of them, in the order in which to mend a learner that fails them."""
