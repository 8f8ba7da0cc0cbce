"""The forward view of traces: lambda-returns over stretches of consecutive replayed transitions.

With weights that stay as they are, what traces give one transition at a time sums up to what each transition's own
lambda-return says: delta^lam_k = delta_k + gamma lam delta^lam_{k+1}, up to the end of the stretch or of the episode.
So the same `traced` of an agent says how outputs should move, and no trace of weights is kept.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gpbe.algorithms.control import Hypers, Streamed, Tracing
from gpbe.algorithms.control.maximum import Greedy

MORE = 2
"""What is stored of a transition besides: was its action greedy, and was it the last of its episode?"""


def stretches(times: Int[Array, " C"], starts: Int[Array, "C N"], buffer: int, length: int) -> Int[Array, "C batch"]:
    """Rows of a ring buffer: `length` consecutive ones from each start, which counts from the oldest.

    >>> stretches(jnp.array([6]), jnp.array([[0, 2]]), buffer=5, length=3)
    Array([[2, 3, 4, 4, 0, 1]], dtype=int32)
    """
    oldest = jnp.maximum(times + 1 - buffer, 0)
    rows = oldest[:, None, None] + starts[:, :, None] + jnp.arange(length)[None, None]
    return (rows % buffer).reshape(len(times), -1)


def directions(
    agent: Tracing,
    out: Any,
    t: Streamed,
    done: Float[Array, " B"],
    length: int,
    hypers: Hypers,
    greedy: Callable[[Array], Greedy],
) -> Any:
    """How each output should move, for a batch of stretches one after the other; the last axis is of the samples."""

    def split(x: Array) -> Array:
        """Stretches first, then their transitions, then the rest."""
        return jnp.moveaxis(x.reshape(*x.shape[:-1], -1, length), (-2, -1), (0, 1))

    def one(out: Any, t: Streamed, done: Array) -> Any:
        def step(carry: Any, xs: Any) -> Any:
            (z_h, lasting), (o, t, done) = carry, xs
            traced = agent.traced(o, t, hypers, greedy, lasting * z_h)
            link = lasting * traced.fade  # with which this TD error reaches the transition before
            return (traced.z_h, jnp.where(done > 0, 0.0, traced.lasting)), (traced, link)

        zero = jnp.zeros(())
        _, (traced, link) = jax.lax.scan(step, (zero, zero), (out, t, done))
        later = jnp.append(link[1:], 0.0)
        ahead = lambda after, xs: (xs[0] + xs[1] * after,) * 2  # noqa: E731
        _, returned = jax.lax.scan(ahead, zero, (traced.delta, later), reverse=True)
        still = jax.tree.map(jnp.zeros_like, out) if traced.directions is None else traced.directions
        reached = zip(still, traced.eligible, strict=True)
        return type(out)(*(d if e is None else d + returned[:, None] * e for d, e in reached))

    moved = jax.vmap(one)(*jax.tree.map(split, (out, t, done)))
    return jax.tree.map(lambda x: x.reshape(-1, x.shape[-1]).T, moved)
