"""Robust errors of what was learned, at every point of the curves: Huber's Bellman errors, in 64 bits.

A metric's name may say the threshold, as in "rhpbe:0.5". The Huber PBE is a convex program a point (see
`gpbe.exact.conjugates`), so these are measured after learning, not in its compiled loop.
"""

from typing import NamedTuple

import numpy as np

from gpbe import exact
from gpbe.algorithms.linear.hyperparameters import Hypers
from gpbe.checks import check_known
from gpbe.errors import InputError
from gpbe.exact.conjugates import as_threshold, bounded_regression
from gpbe.exact.projections import weighted_basis
from gpbe.mdp import PredictionProblem
from gpbe.shapes import Array

ROBUST = {
    "rhbe": "root of the Huber BE, the mean Huber function of the Bellman error",
    "rhpbe": "root of the Huber PBE: that of rmspbe, with h bounded by the threshold",
    "rhgpbe": "root of the Huber PBE, with the given features of H",
}
"""The metrics that have a threshold: beyond it an error counts by its size, not by its square."""


class Named(NamedTuple):
    """A metric that was asked for."""

    base: str
    huber: float | None
    """The threshold of a robust one."""


def read_name(name: str, known: dict[str, str]) -> Named:
    """A metric by its name, with the threshold behind a colon if it is robust; 1 if it is not said.

    >>> read_name("rhpbe:0.5", ROBUST), read_name("rhbe", ROBUST).huber
    (Named(base='rhpbe', huber=0.5), 1.0)
    """
    base, colon, bound = str(name).partition(":")
    check_known(base, known, "metric")
    if base not in ROBUST:
        if colon:
            raise InputError(f"{base} has no threshold; write {base!r} alone, or one of {', '.join(ROBUST)}")
        return Named(base, None)
    if not colon:
        return Named(base, Hypers._field_defaults["huber"].default)
    try:
        return Named(base, as_threshold(float(bound)))
    except (ValueError, InputError):
        raise InputError(f"the threshold of {base} is {bound!r}; write a number above 0, as in '{base}:0.5'") from None


def measure_robust(
    problem: PredictionProblem, named: Named, values: Array, d: Array, projection: Array | None = None
) -> Array:
    """The root of a robust error of values (..., S); infinite where they are not finite.

    The features of H are (S, M), or another (..., S, M) for each of the values.
    """
    assert named.huber is not None, "only robust metrics have a threshold"
    flat = values.reshape(-1, values.shape[-1]).astype(float)
    finite = np.asarray(np.isfinite(flat).all(-1))
    with np.errstate(over="ignore"):
        errors = exact.expected_td_error(problem, np.where(finite[:, None], flat, 0.0))
    if named.base == "rhbe":
        size = np.abs(errors)
        within = np.minimum(size, named.huber)
        found = (d * within * (2 * size - within)).sum(-1)
    else:
        assert projection is not None, "a projected error has features of H"
        each = np.broadcast_to(projection, (*values.shape[:-1], *projection.shape[-2:]))
        found = _projected(errors, each.reshape(len(flat), *projection.shape[-2:]), d, named.huber)
    return np.where(finite, np.sqrt(np.maximum(found, 0.0)), np.inf).reshape(values.shape[:-1])


def _projected(errors: Array, features: Array, d: Array, huber: float) -> Array:
    """The Huber PBE of each row of errors. Where the bound is not reached, it is the PBE."""
    root = np.sqrt(d)
    basis = weighted_basis(features if features.strides[0] else features[:1], d)
    coordinates = np.swapaxes(basis, -1, -2) @ (root * errors)[..., None]
    h = (basis @ coordinates)[..., 0]
    found = (coordinates[..., 0] ** 2).sum(-1)
    for k in np.nonzero((np.abs(h) > root * huber).any(-1))[0]:
        found[k] = bounded_regression(errors[k], features[k], d, huber)[0].error
    return found
