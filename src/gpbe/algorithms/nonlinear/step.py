"""The update of all parameters from a batch: the outputs, the directions on them, and one pull-back."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.algorithms.nonlinear.kernels import Width, smoothed
from gpbe.algorithms.nonlinear.model import Basis, Params, evaluate
from gpbe.algorithms.nonlinear.table import Kernel, NonlinearAlgorithm
from gpbe.algorithms.nonlinear.updates import Outputs, Window, directions, parts


class Second(NamedTuple):
    """An independent transition from each window's first state, for double sampling."""

    x: Float[Array, "I B"]
    """Observations of its next state."""
    reward: Float[Array, " B"]
    discount: Float[Array, " B"]
    rho: Float[Array, " B"]


class Batch(NamedTuple):
    """Windows to learn from in one update."""

    x: Float[Array, "I m B"]
    """Observations of each window's states."""
    window: Window
    """Arrays (n, B), and the weight (B,)."""
    phi: Float[Array, "M B"] | None = None
    """Given features of H at the first states."""
    second: Second | None = None


def direction(
    algorithm: NonlinearAlgorithm,
    basis: Basis,
    params: Params,
    batch: Batch,
    kernel: Kernel = "gaussian",
    width: Width = 1.0,
    huber: Float[Array, ""] | float | None = None,
) -> Params:
    """The mean over the batch of how the parameters should change, before any penalty on h.

    `huber` is the bound on h, for algorithms that have one.
    """
    arrays, static = eqx.partition(params, eqx.is_inexact_array)
    inputs, states, count = batch.x.shape
    seen = batch.x.reshape(inputs, states * count)
    if batch.second is not None:
        seen = jnp.concatenate([seen, batch.second.x], axis=1)

    def outputs(arrays: Params) -> tuple[Array, Array]:
        out = evaluate(eqx.combine(arrays, static), basis, algorithm.curvature, seen, count, batch.phi)
        return out.v, out.h

    (v, h), pull_back = jax.vjp(outputs, arrays)
    by_window, rest = v[: states * count].reshape(states, count), v[states * count :]
    columns = Window(1, 1, 1, 1, 0)  # pyright: ignore
    if not algorithm.learns_h:
        h = _estimate(algorithm, batch, by_window, rest, kernel, width, columns)
    bound = huber if algorithm.bounded else None
    each = jax.vmap(lambda out, t: directions(out, t, algorithm.form, bound), (Outputs(1, 0), columns), Outputs(1, 0))  # pyright: ignore
    moves = each(Outputs(by_window, h), batch.window)
    d_v = jnp.concatenate([moves.v.ravel(), jnp.zeros_like(rest)]) / count
    d_h = moves.h / count if algorithm.learns_h else jnp.zeros_like(h)
    return pull_back((d_v, d_h))[0]


def _estimate(
    a: NonlinearAlgorithm,
    batch: Batch,
    v: Float[Array, "m B"],
    other: Float[Array, " N"],
    kernel: Kernel,
    width: Width,
    columns: Window,
) -> Float[Array, " B"]:
    """The value of h at the window's first state, for algorithms that compute it instead of learning it."""
    t = batch.window
    if a.h == "zero":
        return jnp.zeros_like(t.weight)
    if a.h == "same":
        return t.reward[0] + t.discount[0] * v[1] - v[0]
    if a.h == "second":
        s = batch.second
        assert s is not None, "double sampling needs second transitions"
        return s.rho * (s.reward + s.discount * other - v[0])
    errors = jax.vmap(parts, (1, columns))(v, t).error
    return smoothed(kernel, batch.x[:, 0], t.weight * errors, width)
