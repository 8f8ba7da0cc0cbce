"""The functions that learn: v, and h as a head on v's features, a network of its own, or linear in given features.

A batch of observations is a matrix whose columns are samples, as in `gpbe.nets`.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.errors import InputError
from gpbe.nets import marked, marked_second, network, second_outputs, start_second, zero_at_start

Basis = Literal["none", "head", "network", "gradient", "features"]
"""What h is linear in: v's last layer, detached; (it is a network); the gradient of v; features that are given."""
Make = Callable[[PRNGKeyArray], Any]


class Params(NamedTuple):
    v: Any
    """A module: observations (I, B) to outputs (1, B), or (2, B) if the second is the head of h."""
    h: Any
    """A module, one weight for each of v's, one for each given feature; None where v's module has h too."""


class PerObservation(eqx.Module):
    """A module that takes one observation (I,) to one number: the convention of Equinox."""

    module: Any

    def __call__(self, x: Float[Array, "I B"]) -> Float[Array, "1 B"]:
        return jax.vmap(lambda one: jnp.reshape(self.module(one), (1,)), 1, 1)(x)


def made(net: Make, inputs: int, key: PRNGKeyArray) -> PerObservation:
    """A user's module, if it is one number that it makes of an observation."""
    module = net(key)
    if not callable(module):
        raise InputError(f"net makes something of type {type(module).__name__}; it should make a module")
    out = eqx.filter_eval_shape(module, jax.ShapeDtypeStruct((inputs,), jnp.float32))
    if getattr(out, "size", 0) != 1:
        raise InputError(f"net's module takes an observation to {jax.tree.map(lambda x: x.shape, out)}; not one number")
    return PerObservation(module)


def start(
    net: tuple[int, ...] | Make, inputs: int, basis: Basis, given: int, key: PRNGKeyArray, width: int | None = None
) -> Params:
    """Parameters before learning. h is 0 everywhere, unless it is a module that the user's function makes: that starts
    as it is made, from another key than v's.

    Args:
        net: sizes of hidden layers, or a function from a key to a module that takes an observation to a number.
        inputs: length of an observation.
        basis: what h is made of.
        given: number of features of H, for the basis of given features.
        key: decides the weights.
        width: units in each hidden layer of a network of h's own, as many as v has if left out.
    """
    key_v, key_h = jax.random.split(key)

    def own() -> Any:
        if callable(net):
            return made(net, inputs, key_h)
        return zero_at_start(network((inputs,), 1, net if width is None else (width,) * len(net), key_h))

    head = 1 if basis == "head" else 0
    v = made(net, inputs, key_v) if callable(net) else network((inputs,), 1, net, key_v, detached=head)
    if basis in ("none", "features"):
        return Params(v, jnp.zeros(given) if basis == "features" else None)
    return Params(v, start_second(basis, v, own))


def values(params: Params, x: Float[Array, "I B"]) -> Float[Array, " B"]:
    return params.v(x)[0]


class Evaluated(NamedTuple):
    v: Float[Array, " N"]
    h: Any


def evaluate(
    params: Params, basis: Basis, curvature: bool, x: Float[Array, "I N"], first: int, phi: Array | None
) -> Evaluated:
    """v of every column, and h of the `first` ones. Given features `phi` (M, first) are of those."""
    out = params.v(x)
    if basis == "none":
        return Evaluated(out[0], jnp.zeros(first, out.dtype))
    if basis == "features":
        return Evaluated(out[0], params.h @ phi)
    return Evaluated(out[0], second_outputs(basis, params.v, params.h, out[:, :first], x[:, :first], curvature)[0])


def second_weights(params: Params, basis: Basis, ridge: Array | None = None) -> Params:
    """Which parameters are h's: 1 for those, 0 for v's; or a penalty for each of h's given features."""
    if basis == "none" or ridge is not None:
        return marked(params)._replace(h=ridge)
    return marked_second(basis, params, lambda p: p.v)
