"""Drawing mini-batches from a ring buffer, without replacement."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray


def draw_distinct(key: PRNGKeyArray, sizes: Int[Array, " C"], batch: int) -> Int[Array, "C batch"]:
    """Draw `batch` distinct positions below the size of each of C buffers, every subset equally likely.

    Floyd's algorithm, over all C at once: the j-th draw is uniform below size - batch + j + 1, and where that was drawn
    before, size - batch + j is taken instead. Buffers smaller than `batch` get meaningless positions.

    >>> draw_distinct(jax.random.key(0), jnp.array([3, 5]), 3).sort(axis=1)[0]
    Array([0, 1, 2], dtype=int32)
    """
    uniforms = jax.random.uniform(key, (batch, sizes.shape[0]))
    # The buffers lie side by side in memory, so that all of the loop is vectorized.
    drawn = jnp.full((batch, sizes.shape[0]), -1, jnp.int32)

    def one(j: Int[Array, ""], drawn: Int[Array, "batch C"]) -> Int[Array, "batch C"]:
        last = jnp.maximum(sizes - batch + j, 0)
        pick = jnp.minimum((uniforms[j] * (last + 1)).astype(jnp.int32), last)
        seen = (drawn == pick[None]).any(axis=0)
        return drawn.at[j].set(jnp.where(seen, last, pick))

    return jax.lax.fori_loop(0, batch, one, drawn).T
