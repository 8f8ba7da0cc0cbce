"""The ways to represent h, the second function that gradient methods learn beside values (paper, section 7).

h is a *head* on the detached features of the values' network, a *network* of its own, or linear in the *gradient* of
the values: theta . grad_w q. It is 0 everywhere before anything is learned.
"""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.nets.flat import Tree
from gpbe.nets.layers import Network

Basis = Literal["head", "network", "gradient"]


def start_second(basis: Basis, net: Tree, own: Callable[[], Tree]) -> Tree:
    """Weights of h besides those in the values' network `net`, or None; `own` makes a network of h's own."""
    if basis == "head":
        return None
    return marked(net) if basis == "gradient" else own()


def zero_at_start(net: Network) -> Network:
    """The same network with a head of zeros."""
    return eqx.tree_at(lambda n: n.head, net, marked(net.head))


def second_outputs(
    basis: Basis, net: Tree, h: Tree, out: Float[Array, "O B"], x: Float[Array, "I B"], curvature: bool = False
) -> Float[Array, "H B"]:
    """h at observations x, where all outputs of the values' network there are `out`."""
    if basis == "head":
        return out[net.live :]
    return h(x) if basis == "network" else along_gradient(net, h, x, curvature)


def along_gradient(net: Tree, theta: Tree, x: Float[Array, "I B"], curvature: bool) -> Float[Array, "O B"]:
    """theta . grad_w net(x), by a forward-mode product: no Jacobian is ever made.

    `theta` learns from it as from a linear function. Plain gradient features hold w still; with the curvature w moves
    *against* h: 2 [w] - w has the value of w and its derivative times -1, so that pulling back (delta - h) gives the
    -(delta - h) Hess net theta of Maei et al. (2009).
    """
    w, static = eqx.partition(net, eqx.is_inexact_array)
    held = jax.lax.stop_gradient(w)
    if curvature:
        held = jax.tree.map(lambda still, moving: 2 * still - moving, held, w)
    return jax.jvp(lambda w: eqx.combine(w, static)(x), (held,), (theta,))[1]


def marked(params: Tree, where: Callable[[Tree], Any] | None = None) -> Tree:
    """0 for every weight, 1 for those in the part that `where` picks."""
    arrays = eqx.filter(params, eqx.is_inexact_array)
    zeros = jax.tree.map(jnp.zeros_like, arrays)
    if where is None:
        return zeros
    return eqx.tree_at(where, zeros, jax.tree.map(jnp.ones_like, where(arrays)))


def marked_detached(params: Tree, which: Callable[[Tree], Network]) -> Tree:
    """1 for the rows of the detached outputs of the network that `which` picks; 0 for every other weight."""
    net = which(params)
    rows = jnp.arange(net.head.bias.shape[0]) >= net.live
    head = jax.tree.map(lambda x: jnp.broadcast_to(rows.reshape(-1, *[1] * (x.ndim - 1)), x.shape) * 1.0, net.head)
    return eqx.tree_at(lambda p: which(p).head, marked(params), head)


def marked_second(basis: str, params: Tree, which: Callable[[Tree], Any]) -> Tree:
    """1 for the weights of h, in a tree whose field `h` has them unless they are a head of the network of `which`."""
    return marked_detached(params, which) if basis == "head" else marked(params, lambda p: p.h)
