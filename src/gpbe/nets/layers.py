"""Networks. A batch is a matrix whose columns are samples, the layout in which the products of a small network are
fastest on a CPU; the weights of a layer have a row for each output.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


@jax.custom_jvp
def relu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """max(x, 0), whose derivative (0 at 0) is read off the bits of the output: a comparison would not be vectorized."""
    return jnp.maximum(x, 0.0)


@relu.defjvp
def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    y = relu(primals[0])
    width = 8 * y.dtype.itemsize
    as_bits = partial(jax.lax.bitcast_convert_type, new_dtype=jnp.dtype(f"int{width}"))
    positive = -as_bits(y) >> (width - 1)  # all bits where y > 0, none where it is 0
    return y, tangents[0] * jax.lax.bitcast_convert_type(positive & as_bits(jnp.ones((), y.dtype)), y.dtype)


class Linear(eqx.Module):
    """x -> W x + b, with Xavier-uniform weights and biases N(0, 0.1), or all zeros."""

    weight: Float[Array, "O I"]
    bias: Float[Array, " O"]

    def __init__(self, inputs: int, outputs: int, key: PRNGKeyArray | None):
        if key is None:
            self.weight, self.bias = jnp.zeros((outputs, inputs)), jnp.zeros(outputs)
            return
        key_weight, key_bias = jax.random.split(key)
        bound = (6 / (inputs + outputs)) ** 0.5
        self.weight = jax.random.uniform(key_weight, (outputs, inputs), minval=-bound, maxval=bound)
        self.bias = 0.1 * jax.random.normal(key_bias, (outputs,))

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "O B"]:
        return self.weight @ x + self.bias[:, None]


class Body(eqx.Module):
    """Observations -> features: fully connected layers with ReLU. No layers: the observations are the features."""

    layers: tuple[Linear, ...]

    def __init__(self, inputs: int, hidden: tuple[int, ...], key: PRNGKeyArray):
        sizes = (inputs, *hidden)
        keys = jax.random.split(key, len(hidden))
        self.layers = tuple(Linear(a, b, k) for a, b, k in zip(sizes[:-1], sizes[1:], keys, strict=True))

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "F B"]:
        for layer in self.layers:
            x = relu(layer(x))
        return x


class OneByOne(eqx.Module):
    """A module that takes one observation, in its own shape, to a vector of features: the convention of Equinox."""

    module: Any
    observation: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "F B"]:
        return jax.vmap(lambda one: self.module(one.reshape(self.observation)), 1, 1)(x)


class Network(eqx.Module):
    """A body, and one linear layer on its features.

    Only the first `live` outputs move the body: to the others, such as the head for h, the features are given.
    """

    body: Any
    head: Linear
    live: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "O B"]:
        features = self.body(x)
        if self.live == self.head.bias.shape[0]:
            return self.head(features)
        out: Any = _partly_detached(self.live, self.head.weight, features)
        return out + self.head.bias[:, None]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _partly_detached(live: int, weight: Array, features: Array) -> Array:
    """W x: one product forwards and one for the weights backwards, where two heads would take two of each."""
    return weight @ features


_partly_detached.defvjp(
    lambda live, weight, features: (weight @ features, (weight, features)),
    lambda live, kept, g: (g @ kept[1].T, kept[0][:live].T @ g[:live]),
)

MakeBody = Callable[[PRNGKeyArray], Any]


def network(
    observation: tuple[int, ...],
    outputs: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    body: MakeBody | None = None,
    detached: int = 0,
) -> Network:
    """The paper's network, or a body of the user's (see `OneByOne`) with the paper's heads.

    Detached outputs come last and are 0 at the start.

    >>> net = network((4,), outputs=2, hidden=(8, 8), key=jax.random.key(0), detached=2)
    >>> net(jnp.ones((4, 5))).shape
    (4, 5)
    """
    key_body, key_head = jax.random.split(key)
    inputs = 1
    for size in observation:
        inputs *= size
    made = Body(inputs, hidden, key_body) if body is None else OneByOne(body(key_body), observation)
    features = jax.eval_shape(made, jax.ShapeDtypeStruct((inputs, 1), jnp.float32)).shape[0]
    head = Linear(features, outputs, key_head)
    if detached:
        zero = Linear(features, detached, None)
        head = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), head, zero)
    return Network(made, head, outputs)
