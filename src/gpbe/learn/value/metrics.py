"""Errors of what was learned, at every point of the curves: the maths is that of `gpbe.exact`, in 64 bits."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from gpbe import exact
from gpbe.errors import InputError
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import Log, PredictionProblem
from gpbe.types import Array, Numbers

METRICS = {
    "rmsve": "root mean squared value error",
    "rmsbe": "root mean squared Bellman error",
    "rmspbe": "root of the nonlinear PBE: H is the span of the value gradients at the weights of that point",
    "rmsgpbe": "root of the generalized PBE, with the given features of H",
    "rmstde": "root mean squared TD error",
}
NOISE = 1e-5
"""Gradients come in 32 bits: directions of H with singular values below this part of the largest are rounding."""
AT_ONCE = 2**24
"""Numbers in the Jacobians that are held at a time."""


def check_metrics(problem: PredictionProblem | Log, names: tuple[str, ...], projection: Numbers | None) -> None:
    for name in names:
        if name not in METRICS:
            raise InputError(f"there is no metric {name!r}; the metrics are {', '.join(METRICS)}")
        if isinstance(problem, Log) and name != "rmstde":
            raise InputError(f"{name} needs the true dynamics, which a log does not have; use rmstde")
        if name == "rmsgpbe" and projection is None:
            raise InputError("rmsgpbe needs the features of H: give projection, one row a state")


def measure(
    problem: PredictionProblem,
    name: str,
    values: Array,
    weighting: Name | Numbers,
    projection: Numbers | None = None,
    ridge: Numbers = 0.0,
    gradients: Callable[[], Array] = lambda: np.zeros(0),
) -> Array:
    """A metric of values (..., S); infinite where they are not finite. `gradients` gives bases (..., S, S) of H."""
    d = as_weighting(problem, weighting)
    d = d / d.sum(-1, keepdims=True)
    finite = np.asarray(np.isfinite(values).all(-1))
    safe = np.where(finite[..., None], values, 0.0).astype(float)
    options: dict[str, Any] = {}
    if name == "rmspbe":
        options["projection"] = gradients()
    elif name == "rmsgpbe":
        options |= {"projection": projection, "ridge": ridge}
    objective = {"rmsgpbe": "pbe"}.get(name, name.removeprefix("rms"))
    with np.errstate(over="ignore"):
        error = np.sqrt(exact.quadratic(problem, objective, d, **options).at(safe))
    return np.where(finite, error, np.inf)


def measure_log(log: Log, values: Array) -> Array:
    """Root mean of rho delta^2 over a log; values are of its states, then of its next states."""
    t = len(log)
    with np.errstate(over="ignore", invalid="ignore"):
        delta = log.reward + log.discount * values[..., t:].astype(float) - values[..., :t]
        error = np.sqrt((log.target / log.behavior * delta**2).mean(-1))
    return np.where(np.isfinite(error), error, np.inf)


def gradient_basis(params: Any, weights: Array, observations: Any) -> Array:
    """For each row of `weights` (..., P) a matrix (S, S) whose columns span the gradients of v, over states.

    Jacobians are made here, of the states of a finite problem, and never in learning.
    """
    flat = weights.reshape(-1, weights.shape[-1])
    size = min(len(flat), max(1, AT_ONCE // (observations.shape[1] * weights.shape[-1])))
    parts = []
    for first in range(0, len(flat), size):
        rows = flat[first : first + size]
        block = jacobians(params, jnp.asarray(np.resize(rows, (size, rows.shape[1]))), observations)
        parts.append(_compressed(np.asarray(block, dtype=float)[: len(rows)]))
    basis = np.concatenate(parts)
    return basis.reshape(*weights.shape[:-1], *basis.shape[1:])


@eqx.filter_jit
def jacobians(params: Any, rows: Any, observations: Any) -> Any:
    """dv/dw of every observation, for each vector of all parameters."""
    arrays, static = eqx.partition(params, eqx.is_inexact_array)
    _, unravel = ravel_pytree(arrays)

    def one(row: Any) -> Any:
        arrays = unravel(row)

        def values(v: Any) -> Any:
            return eqx.combine(arrays._replace(v=v), static).v(observations)[0]

        leaves = jax.tree.leaves(jax.jacrev(values)(arrays.v))
        return jnp.concatenate([leaf.reshape(observations.shape[1], -1) for leaf in leaves], axis=1)

    return jax.vmap(one)(rows)


def _compressed(jacobian: Array) -> Array:
    """Columns U s of the singular value decomposition, without those that are noise."""
    safe = np.where(np.isfinite(jacobian).all((-1, -2), keepdims=True), jacobian, 0.0)
    scale = np.maximum(np.abs(safe).max((-1, -2), keepdims=True), np.finfo(float).tiny)
    safe = safe / scale
    squares, u = np.linalg.eigh(safe @ np.swapaxes(safe, -1, -2))
    kept = squares > NOISE**2 * squares[..., -1:]
    return u * np.sqrt(np.where(kept, squares, 0.0))[..., None, :]
