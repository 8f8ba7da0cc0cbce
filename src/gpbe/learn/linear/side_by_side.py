"""Settings and runs side by side, in one compiled call."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gpbe.algorithms.linear import Hypers
from gpbe.learn.linear import finite_sum, least_squares, loop
from gpbe.learn.linear.loop import Options, Result, Weights
from gpbe.learn.linear.metrics import Metric
from gpbe.learn.linear.tracking import Stream, Transition
from gpbe.summary import points_in_last


class Learned(NamedTuple):
    """What all runs learned, with an axis of settings in front where something is swept.

    Curves that are not finite are infinite.
    """

    curves: tuple[Float[Array, "*runs points"], ...]
    """The curves of all runs, or their means."""
    errors: tuple[Float[Array, " points"], ...]
    """Standard errors over runs where only means are kept; NaN where a run is infinite."""
    areas: tuple[Float[Array, " runs"], ...]
    """Means of the curves."""
    finals: tuple[Float[Array, " runs"], ...]
    """Means of their last quarters."""
    history: Float[Array, "runs points K"] | None
    """The weights at every point, if they are kept."""
    weights: Float[Array, "runs K"]
    second_weights: Float[Array, "runs K"]
    diverged_at: Int[Array, " runs"]


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def learn_all(
    options: Options,
    metric_axes: tuple[tuple[bool, bool], ...],
    epochs: int,
    average: bool,
    hypers: Hypers,
    streams: Stream,
    w0: Weights,
    metrics: tuple[Metric, ...],
    key: PRNGKeyArray | None,
) -> Learned:
    """Learn all settings in all runs.

    Settings are along the first axis of the result (and of swept hyperparameters), runs along the second.
    `metric_axes` says of each metric whether its arrays have an axis of settings, and one of runs. `epochs` and
    `key` are for algorithms that go over a stored data set.
    """

    def all_runs(hypers: Hypers, metrics: tuple[Metric, ...]) -> Learned:
        return summarize(runs(hypers, streams, metrics), average)

    def one(hypers: Hypers, stream: Stream, metrics: tuple[Metric, ...]) -> Result:
        if options.algorithm.finite_sum:
            assert key is not None
            return finite_sum.learn(options, epochs, hypers, stream, w0, metrics, key)
        learn = least_squares.learn if options.algorithm.least_squares else loop.learn
        return learn(options, hypers, stream, w0, metrics)

    with_runs = {*Transition._fields, *(["features"] if streams.features.ndim > 2 else [])}
    has_runs: Any = Stream._make(0 if name in with_runs else None for name in Stream._fields)
    run_axes = tuple(0 if per_run else None for _, per_run in metric_axes)
    runs = jax.vmap(one, in_axes=(None, has_runs, run_axes))
    swept = Hypers(*(0 if h.ndim else None for h in hypers))
    if all(axis is None for axis in swept):
        return all_runs(hypers, metrics)
    setting_axes = tuple(0 if per_setting else None for per_setting, _ in metric_axes)
    return jax.vmap(all_runs, in_axes=(swept, setting_axes))(hypers, metrics)


def summarize(result: Result, average: bool) -> Learned:
    """What the runs of one setting learned, in a few numbers each."""
    curves = tuple(jnp.where(jnp.isfinite(c), c, jnp.inf) for c in result.curves)
    runs, points = curves[0].shape if curves else (1, 1)
    areas = tuple(c.mean(-1) for c in curves)
    finals = tuple(c[:, -points_in_last(points) :].mean(-1) for c in curves)
    errors = tuple(c.std(0, ddof=1) / runs**0.5 if runs > 1 else c[0] * jnp.nan for c in curves) if average else ()
    kept = tuple(c.mean(0) for c in curves) if average else curves
    return Learned(
        kept, errors, areas, finals, result.history, result.weights, result.second_weights, result.diverged_at
    )
