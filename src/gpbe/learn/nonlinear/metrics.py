"""Errors of what was learned, at every point of the curves: the maths is that of `gpbe.exact`, in 64 bits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gpbe import exact
from gpbe.algorithms.nonlinear.model import Params
from gpbe.errors import InputError
from gpbe.exact.projections import weighted_basis
from gpbe.exact.weightings import Name, as_weighting
from gpbe.learn.robust import ROBUST, Named, measure_robust, read_name
from gpbe.mdp import Log, PredictionProblem
from gpbe.nets import layout_of
from gpbe.shapes import Array, Numbers

METRICS = {
    "rmsve": "root mean squared value error",
    "rmsbe": "root mean squared Bellman error",
    "rmspbe": "root of the nonlinear PBE: H is the span of the value gradients at the weights of that point",
    "rmsgpbe": "root of the generalized PBE, with the given features of H",
    "rmstde": "root mean squared TD error",
    **ROBUST,
}
GRADIENT = ("rmspbe", "rhpbe")
"""Those whose H is spanned by the value gradients."""
GIVEN = ("rmsgpbe", "rhgpbe")
"""Those whose H is given."""
NOISE = 1e-5
"""Gradients come in 32 bits: directions of H with singular values below this part of the largest are rounding."""
AT_ONCE = 2**24
"""Numbers in the Jacobians that are held at a time."""
LOG_METRICS = ("rmstde", "rmsgpbe")
"""Those that need no model."""


def read_metrics(problem: PredictionProblem | Log, names: tuple[str, ...]) -> dict[str, Named]:
    """Metrics by the names that they were asked for, if they can be measured."""
    for name in names:
        read_name(name, METRICS)
        if isinstance(problem, Log) and name not in LOG_METRICS:
            raise InputError(
                f"{name} needs every state of a problem, which a log does not have; use {' or '.join(LOG_METRICS)}"
            )
    return {name: read_name(name, METRICS) for name in names}


def read_weighting(problem: PredictionProblem | Log, weighting: Name | Numbers) -> Array:
    """How much each state counts in the metrics, adding up to 1; a log's rows count alike."""
    if isinstance(problem, Log):
        if not (isinstance(weighting, str) and weighting == "behavior"):
            raise InputError("the rows of a log count alike in its metrics; leave weighting out")
        return np.full(len(problem), 1 / len(problem))
    d = as_weighting(problem, weighting)
    if d.ndim > 1:
        raise InputError(f"the weighting has shape {d.shape}; it should be one number for each state")
    return d / d.sum()


def measure(
    problem: PredictionProblem,
    name: str,
    values: Array,
    d: Array,
    projection: Array | None = None,
    ridge: Numbers = 0.0,
) -> Array:
    """A metric of values (..., S); infinite where they are not finite. Features of H are for the PBEs."""
    finite = np.asarray(np.isfinite(values).all(-1))
    safe = np.where(finite[..., None], values, 0.0).astype(float)
    objective, options = name.removeprefix("rms").removeprefix("g"), {}
    if objective == "pbe":
        options = {"projection": projection, "ridge": ridge}
    with np.errstate(over="ignore"):
        error = np.sqrt(exact.quadratic(problem, objective, d, **options).at(safe))
    return np.where(finite, error, np.inf)


def measure_nonlinear(
    problem: PredictionProblem,
    metric: Named,
    values: Array,
    d: Array,
    params: Params,
    weights: Array,
    observations: Float[jax.Array, "I S"],
) -> Array:
    """The root of the nonlinear PBE, or of its Huber form, of values (..., S) that a network has at weights (..., P).

    Jacobians are made here, of the states of a finite problem, and never in learning; some points at a time.
    """
    flat, flat_values = weights.reshape(-1, weights.shape[-1]), values.reshape(-1, values.shape[-1])
    states = values.shape[-1]
    size = min(len(flat), max(1, AT_ONCE // (states * max(states, weights.shape[-1]))))
    errors = []
    for first in range(0, len(flat), size):
        rows = flat[first : first + size]
        block = jacobians(params, jnp.asarray(np.resize(rows, (size, rows.shape[1]))), observations)
        basis = compressed(np.asarray(block, dtype=float)[: len(rows)])
        some = flat_values[first : first + size]
        if metric.huber is not None:
            errors.append(measure_robust(problem, metric, some, d, basis))
        else:
            errors.append(measure(problem, metric.base, some, d, basis))
    return np.concatenate(errors).reshape(values.shape[:-1])


def measure_log(log: Log, name: str, values: Array, projection: Array | None = None, ridge: Numbers = 0.0) -> Array:
    """The root mean of rho delta^2 over a log, or the root of its PBE: how long rho delta is after a projection onto H.

    Values (..., 2 T) are of the log's states, then of its next states.
    """
    t, rho = len(log), log.target / log.behavior
    flat, errors = values.reshape(-1, 2 * t), []
    basis = weighted_basis(projection, np.full(t, 1 / t), ridge) if projection is not None else np.zeros((t, 0))
    with np.errstate(over="ignore", invalid="ignore"):
        for v in flat:  # one after the other: a log may be long
            delta = log.reward + log.discount * v[t:].astype(float) - v[:t]
            square = (rho * delta**2).mean() if name == "rmstde" else ((basis.T @ (rho * delta)) ** 2).sum() / t
            errors.append(np.sqrt(square))
    error = np.reshape(errors, values.shape[:-1])
    return np.where(np.isfinite(error), error, np.inf)


@eqx.filter_jit
def jacobians(
    params: Params, rows: Float[jax.Array, "R P"], observations: Float[jax.Array, "I S"]
) -> Float[jax.Array, "R S W"]:
    """The Jacobian dv/dw of every observation, for each vector of all parameters."""
    unravel, static = layout_of(params)

    def one(row: Float[jax.Array, " P"]) -> Float[jax.Array, "S W"]:
        arrays = unravel(row)

        def values(v: eqx.Module) -> Float[jax.Array, " S"]:
            return eqx.combine(arrays._replace(v=v), static).v(observations)[0]

        leaves = jax.tree.leaves(jax.jacrev(values)(arrays.v))
        return jnp.concatenate([leaf.reshape(observations.shape[1], -1) for leaf in leaves], axis=1)

    return jax.vmap(one)(rows)


def compressed(jacobian: Array) -> Array:
    """The span of dv/dw (..., S, P): columns U s of the singular value decomposition, without those that are noise."""
    safe = np.where(np.isfinite(jacobian).all((-1, -2), keepdims=True), jacobian, 0.0)
    scale = np.maximum(np.abs(safe).max((-1, -2), keepdims=True), np.finfo(float).tiny)
    safe = safe / scale
    squares, u = np.linalg.eigh(safe @ np.swapaxes(safe, -1, -2))
    kept = squares > NOISE**2 * squares[..., -1:]
    return u * np.sqrt(np.where(kept, squares, 0.0))[..., None, :]
