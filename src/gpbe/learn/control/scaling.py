"""Observations and rewards brought to one scale while they come in, as the methods for streams do it.

Observations by the mean and variance of each of their numbers, over all that were acted on so far, and the newest: one
that is not counted yet could lie at any number of deviations, 10,000 of them if a pixel is lit for the first time.
Rewards, without moving their mean, by the deviation of the discounted sum of rewards since the episode began (Elsayed
et al. 2024).
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.learn.control.learning import Learning

SMALL = 1e-8
"""Added to variances."""


class Moments(NamedTuple):
    """Running mean and sum of squared deviations (Welford)."""

    count: Any
    mean: Any
    squares: Any


class Scaling(NamedTuple):
    """What a run knows of the scale of what it sees."""

    observation: Moments | None
    reward: Moments | None
    """The moments of the discounted sums."""
    total: Any
    """The present discounted sum of rewards."""


def start(learning: Learning, size: int) -> Scaling | None:
    """Nothing seen yet; None if nothing is normalized."""
    if not (learning.normalize_observations or learning.normalize_rewards):
        return None
    zero = jnp.zeros(())
    seen = Moments(zero, jnp.zeros(size), jnp.zeros(size)) if learning.normalize_observations else None
    paid = Moments(zero, zero, zero) if learning.normalize_rewards else None
    return Scaling(seen, paid, zero)


def see(
    scaling: Scaling | None, observation: Float[Array, " I"], reward: Array, gamma: Array, done: Array
) -> Scaling | None:
    """One more observation that was acted on, and one more reward."""
    if scaling is None:
        return None
    seen = scaling.observation and added(scaling.observation, observation)
    total = gamma * scaling.total + reward
    paid = scaling.reward and added(scaling.reward, total)
    return Scaling(seen, paid, jnp.where(done, 0.0, total))


def shown(scaling: Scaling | None, observation: Float[Array, " I"]) -> Scaling | None:
    """The scale on which an observation is seen that has not been acted on yet: it counts, for now.

    >>> dark = Scaling(Moments(jnp.float32(9), jnp.zeros(1), jnp.zeros(1)), None, 0.0)  # nine times 0
    >>> lit = jnp.ones(1)
    >>> seen_as(dark, lit[:, None]).round(), seen_as(shown(dark, lit), lit[:, None]).round(2)
    (Array([[10000.]], dtype=float32), Array([[2.85]], dtype=float32))
    """
    if scaling is None or scaling.observation is None:
        return scaling
    return scaling._replace(observation=added(scaling.observation, observation))


def added(moments: Moments, x: Array) -> Moments:
    """The moments with one more sample.

    >>> some = Moments(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
    >>> for x in (1.0, 2.0, 6.0):
    ...     some = added(some, jnp.float32(x))
    >>> some.mean.item(), round(deviation(some).item() ** 2, 3)
    (3.0, 7.0)
    """
    count = moments.count + 1
    mean = moments.mean + (x - moments.mean) / count
    return Moments(count, mean, moments.squares + (x - moments.mean) * (x - mean))


def deviation(moments: Moments) -> Array:
    """The standard deviation; 1 before there are two samples."""
    variance = moments.squares / jnp.maximum(moments.count - 1, 1)
    return jnp.sqrt(jnp.where(moments.count < 2, 1.0, variance) + SMALL)


def seen_as(scaling: Scaling | None, x: Float[Array, "I B"]) -> Float[Array, "I B"]:
    """Observations as the networks see them."""
    if scaling is None or scaling.observation is None:
        return x
    return (x - scaling.observation.mean[:, None]) / deviation(scaling.observation)[:, None]


def paid_as(scaling: Scaling | None, reward: Array) -> Array:
    """Rewards as they are learned from."""
    return reward if scaling is None or scaling.reward is None else reward / deviation(scaling.reward)
