"""Value functions of weights that need not be linear: values, their gradients, and the curvature, in 64 bits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers, Weights

PerPoint = Float[Array, " N"]
"""A number for each state, or for each state-action pair."""


@dataclass(frozen=True, eq=False)
class ValueFunction:
    """Values of N states (or of state-action pairs, row after row) as a smooth function of K weights.

    `linear` makes one of features and `of` one of a network; others are made of their derivatives:

    >>> square = ValueFunction(
    ...     values=lambda w: w[:1] ** 2,
    ...     jacobian=lambda w: 2 * w[None, :1],
    ...     bend=lambda w, theta, c: 2 * c @ theta[None, :1] + 0 * w,
    ...     start=np.ones(1),
    ... )
    >>> square.values(np.array([3.0])), square.jacobian(np.array([3.0]))
    (array([9.]), array([[6.]]))
    """

    values: Callable[[Weights], PerPoint]
    jacobian: Callable[[Weights], Float[Array, "N K"]]
    """dv/dw, a row for each value."""
    bend: Callable[[Weights, Weights, PerPoint], Weights] | None
    """(w, theta, c) -> sum_s c(s) Hess v(s) theta; None if v is linear."""
    start: Weights
    """Some weights: of a network those that it has."""
    features: Float[Array, "N K"] | None = None
    """Of a linear function."""

    @classmethod
    def linear(cls, features: Numbers) -> "ValueFunction":
        """The function X w of features X, a row for each value.

        >>> ValueFunction.linear(np.eye(2)).values(np.array([3.0, 4.0]))
        array([3., 4.])
        """
        x = as_floats(features, "features")
        return cls(lambda w: x @ w, lambda w: x, None, np.zeros(x.shape[-1]), x)

    @classmethod
    def of(cls, values: Callable[[Any], Any], module: Any) -> "ValueFunction":
        """The function that JAX differentiates: `values` takes a module (a tree of arrays) to the values of all states.

        The floating-point arrays of the module, one after the other, are the weights.

        >>> import jax.numpy as jnp
        >>> curve = ValueFunction.of(lambda w: jnp.tanh(w["a"] * jnp.array([1.0, 2.0])), {"a": jnp.array(0.5)})
        >>> curve.values(curve.start).round(4), curve.jacobian(curve.start).round(4).tolist()
        (array([0.4621, 0.7616]), [[0.7864], [0.8399]])
        """
        return _differentiated(cls, values, module)

    def checked(self, w: Numbers) -> Weights:
        """Weights, one vector of the right length."""
        w = as_floats(w, "w")
        if w.shape != self.start.shape:
            raise InputError(f"w has shape {w.shape}; it should be one vector of {len(self.start)} weights")
        return w


def _differentiated(make: type[ValueFunction], values: Callable[[Any], Any], module: Any) -> ValueFunction:
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    def in_64_bits(function: Callable[..., jax.Array]) -> Callable[..., Array]:
        compiled = jax.jit(function)

        def call(*numbers: Array) -> Array:
            with jax.enable_x64(True):
                return np.asarray(compiled(*(jnp.asarray(x, jnp.float64) for x in numbers)))

        return call

    with jax.enable_x64(True):
        arrays, static = eqx.partition(module, eqx.is_inexact_array)
        start, unravel = ravel_pytree(jax.tree.map(lambda x: jnp.asarray(x, jnp.float64), arrays))

    def flat(w: jax.Array) -> jax.Array:
        return jnp.ravel(values(eqx.combine(unravel(w), static)))

    def along(w: jax.Array, theta: jax.Array, c: jax.Array) -> jax.Array:
        return c @ jax.jvp(flat, (w,), (theta,))[1]

    return make(
        in_64_bits(flat), in_64_bits(jax.jacrev(flat)), in_64_bits(jax.grad(along)), np.asarray(start, dtype=float)
    )
