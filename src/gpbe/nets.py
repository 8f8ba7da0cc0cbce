"""Networks with a head for action values and a head for h (paper, figure on the network architecture)."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Linear(eqx.Module):
    """x -> x W + b, with Xavier-uniform weights and biases N(0, 0.1), or all zeros."""

    weight: Float[Array, "I O"]
    bias: Float[Array, " O"]

    def __init__(self, inputs: int, outputs: int, key: PRNGKeyArray | None):
        if key is None:
            self.weight, self.bias = jnp.zeros((inputs, outputs)), jnp.zeros(outputs)
            return
        key_weight, key_bias = jax.random.split(key)
        bound = (6 / (inputs + outputs)) ** 0.5
        self.weight = jax.random.uniform(key_weight, (inputs, outputs), minval=-bound, maxval=bound)
        self.bias = 0.1 * jax.random.normal(key_bias, (outputs,))

    def __call__(self, x: Float[Array, "... I"]) -> Float[Array, "... O"]:
        return x @ self.weight + self.bias


class Body(eqx.Module):
    """Observation -> features: fully connected layers with ReLU."""

    layers: tuple[Linear, ...]

    def __init__(self, inputs: int, hidden: tuple[int, ...], key: PRNGKeyArray):
        sizes = (inputs, *hidden)
        keys = jax.random.split(key, len(hidden))
        self.layers = tuple(Linear(a, b, k) for a, b, k in zip(sizes[:-1], sizes[1:], keys, strict=True))

    def __call__(self, x: Float[Array, "... I"]) -> Float[Array, "... F"]:
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return x


class Network(eqx.Module):
    """A body, and two linear heads on its features. The head for h never moves the body.

    The body takes a batch of observations; any Equinox module that does will serve.
    """

    body: Any
    q_head: Linear
    h_head: Linear

    def features(self, x: Float[Array, "B ..."]) -> Float[Array, "B F"]:
        return self.body(x)


def network(
    observation: tuple[int, ...],
    actions: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    body: Callable[[PRNGKeyArray], Any] | None = None,
) -> Network:
    """The paper's network, or a body of the user's with the paper's heads; h is 0 at the start."""
    key_body, key_head = jax.random.split(key)
    made = Body(observation[0], hidden, key_body) if body is None else body(key_body)
    shape = jax.eval_shape(made, jax.ShapeDtypeStruct((1, *observation), jnp.float32)).shape
    return Network(made, Linear(shape[-1], actions, key_head), Linear(shape[-1], actions, None))
