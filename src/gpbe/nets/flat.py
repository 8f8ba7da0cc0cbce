"""Networks as one flat vector of weights, which an optimizer likes better than a tree of small arrays."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

Tree = Any
"""A tree of modules, whose floating-point arrays are the weights."""


class Layout(NamedTuple):
    """How a vector of weights makes the tree that it was made from, or one like it."""

    unravel: Callable[[Array], Tree]
    static: Tree
    """All that is no weight."""

    def tree(self, weights: Float[Array, " P"]) -> Tree:
        """The tree with these weights."""
        return eqx.combine(self.unravel(weights), self.static)


def layout_of(tree: Tree) -> Layout:
    """How the vectors of this tree's weights are laid out."""
    arrays, static = eqx.partition(tree, eqx.is_inexact_array)
    return Layout(ravel_pytree(arrays)[1], static)


def flat(tree: Tree) -> Float[Array, " P"]:
    """All weights of a tree as one vector.

    >>> import jax.numpy as jnp
    >>> tree = {"a": jnp.ones((2, 1)), "b": jnp.zeros(1), "name": "net"}
    >>> flat(tree), layout_of(tree).tree(2 * flat(tree))["name"]
    (Array([1., 1., 0.], dtype=float32), 'net')
    """
    return ravel_pytree(eqx.filter(tree, eqx.is_inexact_array))[0]
