"""Maximum operators over action values: hard max and mellowmax (paper, section 8.1)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Greedy(NamedTuple):
    """m(q) and its gradient dm/dq, which are the probabilities of a (soft) greedy choice."""

    value: Float[Array, ""]
    weights: Float[Array, " A"]


def hard_max(q: Float[Array, " A"]) -> Greedy:
    """max_a q(a); its subgradient picks one maximal action, the first."""
    return Greedy(q.max(), jax.nn.one_hot(q.argmax(), q.shape[0]))


def mellowmax(q: Float[Array, " A"], tau: Float[Array, ""] | float) -> Greedy:
    """Mellowmax at the temperature tau, tau log(mean exp(q / tau)); 0 is its limit, the hard max.

    Written so that a large tau, at which it is nearly the mean, loses no digits. The paper's formula (section 8.1) has
    the inverse temperature in place of tau: its tau is 1 / tau here, though its sweeps use it as a temperature.

    >>> q = jnp.array([1.0, 2.0])
    >>> mellowmax(q, 0.0).value.item(), round(mellowmax(q, 1e4).value.item(), 4)
    (2.0, 1.5)
    """
    hard = hard_max(q)
    safe = jnp.where(tau > 0, tau, 1.0)
    scaled = (q - hard.value) / safe
    value = hard.value + safe * jnp.log1p(jnp.expm1(scaled).mean())
    soft = Greedy(value, jax.nn.softmax(scaled))
    return Greedy(*(jnp.where(tau > 0, s, h) for s, h in zip(soft, hard, strict=True)))
