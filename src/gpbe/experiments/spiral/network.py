"""The value function of Tsitsiklis and Van Roy's spiral, as a network of one weight."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gpbe.experiments.spiral.computation import ACROSS, EPSILON, FIRST, TURN


class Spiral(eqx.Module):
    """v(s; w) = (a(s) cos(turn w) - b(s) sin(turn w)) e^{epsilon w}."""

    w: jax.Array

    def __call__(self, state: jax.Array) -> jax.Array:
        a, b = jnp.asarray(FIRST, state.dtype), jnp.asarray(ACROSS, state.dtype)
        return state @ (a * jnp.cos(TURN * self.w) - b * jnp.sin(TURN * self.w)) * jnp.exp(EPSILON * self.w)


def make(key: jax.Array) -> Spiral:
    """A start anywhere on the first turn."""
    return Spiral(jax.random.uniform(key, (), maxval=2 * np.pi / TURN))
