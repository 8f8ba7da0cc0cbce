"""Networks. A batch is a matrix whose columns are samples, the layout in which the products of a small network are
fastest on a CPU; the weights of a layer have a row for each output.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

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


def leaky_relu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """max(x, 0.01 x), made of `relu` for the sake of its derivative."""
    return 0.01 * x + 0.99 * relu(x)


Activation = Literal["relu", "leaky-relu"]
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": relu, "leaky-relu": leaky_relu}
"""Each takes c x to c times what it takes x to, for c > 0."""


class Style(NamedTuple):
    """How layers are made, besides their sizes. The defaults are the paper's; the rest is for learning by streams."""

    filters: int = 0
    """Filters of 3 x 3 that go over an image before all other layers; 0 for none: an image is flattened."""
    layer_norm: bool = False
    """Is what comes out of a layer brought to mean 0 and variance 1, before the activation?"""
    activation: str = "relu"
    """One of `ACTIVATIONS`."""
    sparsity: float = 0.0
    """The part of the weights into each unit that is 0 at the start. If it is above 0, the others are uniform within
    1 / sqrt(inputs) and biases are 0 (Elsayed et al. 2024)."""

    def activated(self, x: Float[Array, "F B"]) -> Float[Array, "F B"]:
        """What a layer gives to the next."""
        activation = ACTIVATIONS[self.activation]
        if not self.layer_norm:
            return activation(x)
        centered = x - x.mean(axis=0)[None]
        # The division comes last, as the activations allow. XLA does not repeat one where these features are multiplied
        # by something, as it would an activation; in an outer product, for each of its entries.
        return activation(centered) / jnp.sqrt((centered**2).mean(axis=0) + 1e-5)[None]


class Linear(eqx.Module):
    """x -> W x + b, with Xavier-uniform weights and biases N(0, 0.1), sparse weights (see `Style`), or all zeros."""

    weight: Float[Array, "O I"]
    bias: Float[Array, " O"]

    def __init__(self, inputs: int, outputs: int, key: PRNGKeyArray | None, sparsity: float = 0.0):
        if key is None:
            self.weight, self.bias = jnp.zeros((outputs, inputs)), jnp.zeros(outputs)
            return
        key_weight, key_bias = jax.random.split(key)
        bound = inputs**-0.5 if sparsity else (6 / (inputs + outputs)) ** 0.5
        self.weight = jax.random.uniform(key_weight, (outputs, inputs), minval=-bound, maxval=bound)
        if sparsity:
            order = jax.random.uniform(key_bias, (outputs, inputs)).argsort(axis=1)
            self.weight = jnp.where(order < math.ceil(sparsity * inputs), 0.0, self.weight)
            self.bias = jnp.zeros(outputs)
        else:
            self.bias = 0.1 * jax.random.normal(key_bias, (outputs,))

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "O B"]:
        return self.weight @ x + self.bias[:, None]


class Convolution(eqx.Module):
    """Filters of 3 x 3 over every place of an image that they fit on.

    It is one product with the patches of the image: XLA's own convolutions are slow on a CPU where, as here, each run
    has filters of its own.
    """

    filters: Linear
    """The filters, from the 9 C numbers of a patch."""
    image: tuple[int, ...] = eqx.field(static=True)
    """Height, width and channels C."""

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "F B"]:
        height, width, channels = self.image
        down, across, batch = height - 2, width - 2, x.shape[1]
        image = x.reshape(height, width, channels, batch)
        shifted = [image[i : i + down, j : j + across] for i in range(3) for j in range(3)]
        patches = jnp.moveaxis(jnp.stack(shifted), 3, 1).reshape(9 * channels, down * across * batch)
        return self.filters(patches).reshape(-1, batch)


def is_image(observation: Sequence[int]) -> bool:
    """Does an observation have height, width and channels, and room for a filter?

    >>> is_image((10, 10, 4)), is_image((4,))
    (True, False)
    """
    return len(observation) == 3 and min(observation[:2]) >= 3


def count_layers(observation: Sequence[int], hidden: Sequence[int], filters: int = 0) -> int:
    """How many weights a `Body` has, without making any.

    >>> count_layers((4,), (8, 2)), count_layers((5, 5, 2), (3,), filters=7)
    (58, 325)
    """
    inputs, convolved = math.prod(observation), 0
    if filters:
        height, width, channels = observation
        inputs, convolved = filters * (height - 2) * (width - 2), (9 * channels + 1) * filters
    return convolved + sum((a + 1) * b for a, b in pairwise((inputs, *hidden)))


class Body(eqx.Module):
    """Observations -> features: fully connected layers with an activation after each, and filters before them all.

    Without any, the observations are the features.
    """

    layers: tuple[Any, ...]
    style: Style = eqx.field(static=True)

    def __init__(self, observation: tuple[int, ...], hidden: tuple[int, ...], key: PRNGKeyArray, style: Style):
        self.style, inputs = style, math.prod(observation)
        keys = jax.random.split(key, len(hidden) + (style.filters > 0))
        layers: list[Any] = []
        if style.filters:
            height, width, channels = observation
            layers.append(Convolution(Linear(9 * channels, style.filters, keys[-1], style.sparsity), observation))
            inputs = style.filters * (height - 2) * (width - 2)
        for a, b, k in zip((inputs, *hidden), hidden, keys, strict=False):
            layers.append(Linear(a, b, k, style.sparsity))
        self.layers = tuple(layers)

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "F B"]:
        for layer in self.layers:
            x = self.style.activated(layer(x))
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


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _partly_detached(live: int, weight: Array, features: Array) -> Array:
    """W x: one product forwards and one for the weights backwards, where two heads would take two of each."""
    return weight @ features


@_partly_detached.defjvp
def _(live: int, primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (weight, features), (d_weight, d_features) = primals, tangents
    moved = jnp.pad(weight[:live] @ d_features, ((0, weight.shape[0] - live), (0, 0)))
    return weight @ features, d_weight @ features + moved


MakeBody = Callable[[PRNGKeyArray], Any]


def network(
    observation: tuple[int, ...],
    outputs: int,
    hidden: tuple[int, ...],
    key: PRNGKeyArray,
    body: MakeBody | None = None,
    detached: int = 0,
    style: Style = Style(),  # noqa: B008
) -> Network:
    """The paper's network, one in another style, or a body of the user's (see `OneByOne`); with the same heads.

    Detached outputs come last and are 0 at the start.

    >>> net = network((4,), outputs=2, hidden=(8, 8), key=jax.random.key(0), detached=2)
    >>> net(jnp.ones((4, 5))).shape
    (4, 5)
    """
    key_body, key_head = jax.random.split(key)
    made = Body(observation, hidden, key_body, style) if body is None else OneByOne(body(key_body), observation)
    one = jax.ShapeDtypeStruct((math.prod(observation), 1), jnp.float32)
    features = jax.eval_shape(made, one).shape[0]
    head = Linear(features, outputs, key_head, style.sparsity)
    if detached:
        zero = Linear(features, detached, None)
        head = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), head, zero)
    return Network(made, head, outputs)
