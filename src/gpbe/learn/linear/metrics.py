"""What is measured while learning: errors of `gpbe.exact`, reduced to one row a feature."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gpbe import exact, linalg
from gpbe.algorithms.linear import Algorithm, Limits, expected_system
from gpbe.algorithms.linear.least_squares import Sums, log_sums
from gpbe.errors import InputError
from gpbe.exact.traces import LinearSystem
from gpbe.exact.weightings import Name, as_weighting
from gpbe.learn.prediction import Asked
from gpbe.learn.robust import ROBUST, Named, measure_robust
from gpbe.learn.settings import Settings
from gpbe.mdp import PredictionProblem
from gpbe.mdp.log_source import Source
from gpbe.shapes import Array, Numbers

METRICS = {
    "rmsve": "root mean squared value error",
    "rmspbe": "root of the linear PBE (lambda 0)",
    "rmsbe": "root mean squared Bellman error",
    "distance": "distance of w to the algorithm's own fixed point",
    **{name: ROBUST[name] for name in ("rhpbe", "rhbe")},
}
FIXED_POINT = ("lam", *Limits._fields)
"""The hyperparameters that an algorithm's fixed point depends on."""


class Metric(NamedTuple):
    """An error sqrt(|| rows w - target ||^2 + constant): every error of `gpbe.exact`, reduced to K rows."""

    rows: Float[jax.Array, "*axes M K"]
    target: Float[jax.Array, "*axes M"]
    constant: Float[jax.Array, "*axes"]

    def at(self, w: Float[jax.Array | Array, " K"], xp: Any = jnp) -> Any:
        """The error of weights."""
        residual = (self.rows * xp.broadcast_to(w, self.rows.shape)).sum(-1) - self.target
        return xp.sqrt((residual**2).sum(-1) + self.constant)


@dataclass(frozen=True)
class Measured:
    """A metric and which leading axes its arrays have, in this order."""

    metric: Metric
    per_setting: bool = False
    per_run: bool = False

    def once(self, w: Float[Array, " K"]) -> Array:
        """The error of weights, by NumPy: for one number nothing needs to be compiled."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(Metric._make(map(np.asarray, self.metric)).at(w, np))

    def take(self, settings: Array) -> "Measured":
        """The same for some of the settings."""
        if not self.per_setting:
            return self
        return Measured(Metric(*(a[settings] for a in self.metric)), True, self.per_run)


def build_metrics(asked: Asked, a: Algorithm, settings: Settings, names: tuple[str, ...]) -> list[Measured]:
    """The metrics of a problem by name, ready for the compiled loop."""
    problem = asked.problem
    assert isinstance(problem, PredictionProblem)
    d = read_weighting(problem, asked.weighting)
    build = {"distance": partial(_distance, problem, a, settings, asked.state_lam)}
    return [build.get(name, partial(_error, problem, name.removeprefix("rms"), d))() for name in names]


def read_weighting(problem: PredictionProblem, weighting: Name | Numbers) -> Array:
    """How much each state counts, adding up to 1."""
    d = as_weighting(problem, weighting)
    if d.ndim > 1:
        raise InputError(f"the weighting has shape {d.shape}; it should be one number for each state")
    return d / d.sum()


def robust_metrics(asked: Asked, names: Mapping[str, Named]) -> dict[str, Callable[[Array], Array]]:
    """The robust errors by name, as functions of the weights (..., K) at all points."""
    problem = asked.problem
    if not names:
        return {}
    if not isinstance(problem, PredictionProblem):
        raise _not_of_a_log(next(iter(names)))
    if problem.features.ndim > 2:
        raise InputError("robust errors need one set of features; leave them out of the metrics")
    x, d = linalg.as_matrix(problem.features), read_weighting(problem, asked.weighting)

    def measured(named: Named, weights: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return measure_robust(problem, named, weights.astype(float) @ x.T, d, x)

    return {name: partial(measured, named) for name, named in names.items()}


def _error(problem: PredictionProblem, objective: str, d: Array) -> Measured:
    """An error of `gpbe.exact` under a weighting."""
    q = exact.quadratic(problem, objective, d)
    rows, target = linalg.system(q.operator, problem.features, q.target)
    return Measured(_reduced(rows, target), per_run=problem.features.ndim > 2)


def _reduced(rows: Array, target: Array) -> Metric:
    """The length || rows w - target ||^2 as K rows and a constant: the part of the target that no w reaches."""
    q, r = np.linalg.qr(rows)
    reached = (np.swapaxes(q, -1, -2) @ target[..., None])[..., 0]
    rest = target - (q @ reached[..., None])[..., 0]
    return Metric(*(jnp.asarray(x, jnp.float32) for x in (r, reached, (rest**2).sum(-1))))


def _distance(problem: PredictionProblem, a: Algorithm, settings: Settings, state_lam: Numbers | None) -> Measured:
    """The distance to the algorithm's fixed point, which may depend on the setting."""
    if problem.features.ndim > 2:
        raise InputError("the distance to the fixed point needs one set of features; leave it out of the metrics")
    matter = settings.values.keys() & FIXED_POINT

    def fixed_point(index: int) -> Array:
        lam, limits = _limits(settings, index)
        system = expected_system(
            problem, a, lam if state_lam is None else lam * np.asarray(state_lam, dtype=float), limits
        )
        return linalg.least_squares(system.A, system.b).solution

    points = np.stack([fixed_point(i) for i in range(settings.count)]) if matter else fixed_point(0)
    return _to_point(points, per_setting=bool(matter))


def _limits(settings: Settings, index: int) -> tuple[float, Limits]:
    """The trace parameter of a setting, and what limits its corrections."""
    h = settings.of(index)
    return h["lam"], Limits(**{name: h[name] for name in Limits._fields})


def _to_point(points: Array, per_setting: bool = False) -> Measured:
    """The distance to a point, or to one for each setting."""
    k = points.shape[-1]
    rows = np.broadcast_to(np.eye(k), (*points.shape[:-1], k, k))
    parts = (rows, points, np.zeros(points.shape[:-1]))
    return Measured(Metric(*(jnp.asarray(x, jnp.float32) for x in parts)), per_setting)


def sums_of_log(log: Source, steps: int | None, a: Algorithm, settings: Settings, name: str) -> Sums:
    """The sums over a log that a metric is made of: the PBE's, or those of the algorithm's own fixed point."""
    if name not in ("rmspbe", "distance"):
        raise _not_of_a_log(name)
    if name == "rmspbe":
        return Sums("td", lam=0.0)
    if settings.values.keys() & FIXED_POINT:
        raise InputError(
            "the distance to a log's fixed point needs one lam; sweep other hyperparameters, or use rmspbe"
        )
    return log_sums(log, a, *_limits(settings, 0), steps)


def metric_of_log(name: str, system: LinearSystem) -> Measured:
    """A metric from a log's own means: its LSTD solution, or the PBE with sampled A, b and C."""
    if name == "distance":
        return _to_point(linalg.least_squares(system.A, system.b).solution)
    if not system.C.any():
        raise InputError("every feature of the log is 0, so that nothing can be learned; give features that are not")
    root = np.linalg.cholesky(system.C + 1e-12 * np.trace(system.C) * np.eye(len(system.b)))
    return Measured(_reduced(np.linalg.solve(root, system.A), np.linalg.solve(root, system.b)))


def _not_of_a_log(name: str) -> InputError:
    return InputError(f"{name} needs the true dynamics, which a log does not have; use rmspbe or distance")
