"""Settings and runs side by side, in one compiled call."""

from collections.abc import Callable
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

MetricAxes = tuple[tuple[bool, bool], ...]
"""Has each metric an axis of settings, and one of runs?"""
State = loop.Learner | least_squares.Solver
"""Where a run is between two transitions."""


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
    metric_axes: MetricAxes,
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

    def one(hypers: Hypers, stream: Stream, metrics: tuple[Metric, ...], _: None) -> Result:
        if options.algorithm.finite_sum:
            assert key is not None
            return finite_sum.learn(options, epochs, hypers, stream, w0, metrics, key)
        kind = kind_of(options)
        return kind.learn(options, hypers, stream, kind.start(options, stream, w0), metrics)[1]

    return _everywhere(one, metric_axes, hypers, streams, metrics, None, partial(summarize, average=average))


@partial(jax.jit, static_argnums=(0, 1))
def learn_stretch(
    options: Options,
    metric_axes: MetricAxes,
    hypers: Hypers,
    streams: Stream,
    w0: Weights,
    metrics: tuple[Metric, ...],
    before: State | None,
) -> tuple[State, Result]:
    """Learn all settings in all runs from a stretch of a longer stream: from the state before it to that after it."""

    def one(hypers: Hypers, stream: Stream, metrics: tuple[Metric, ...], state: State | None) -> tuple[State, Result]:
        kind = kind_of(options)
        return kind.learn(options, hypers, stream, state or kind.start(options, stream, w0), metrics)

    return _everywhere(one, metric_axes, hypers, streams, metrics, before, lambda found: found)


@partial(jax.jit, static_argnums=(1, 2))
def summarize_all(result: Result, average: bool, swept: bool) -> Learned:
    """What all settings learned, in a few numbers each."""
    each = partial(summarize, average=average)
    return jax.vmap(each)(result) if swept else each(result)


def kind_of(options: Options) -> Any:
    """The module that learns along a stream: its `start` and its `learn`."""
    return least_squares if options.algorithm.least_squares else loop


def _everywhere(
    one: Callable[..., Any],
    metric_axes: MetricAxes,
    hypers: Hypers,
    streams: Stream,
    metrics: tuple[Metric, ...],
    states: State | None,
    summarized: Callable[[Any], Any],
) -> Any:
    """Map `one` (it learns one setting in one run) over all settings and runs; summarize each setting's runs."""
    with_runs = {*Transition._fields, *(["features"] if streams.features.ndim > 2 else [])}
    has_runs: Any = Stream._make(0 if name in with_runs else None for name in Stream._fields)
    run_axes = tuple(0 if per_run else None for _, per_run in metric_axes)
    runs = jax.vmap(one, in_axes=(None, has_runs, run_axes, 0))

    def all_runs(hypers: Hypers, metrics: tuple[Metric, ...], states: State | None) -> Any:
        return summarized(runs(hypers, streams, metrics, states))

    swept = Hypers(*(0 if h.ndim else None for h in hypers))
    if all(axis is None for axis in swept):
        return all_runs(hypers, metrics, states)
    setting_axes = tuple(0 if per_setting else None for per_setting, _ in metric_axes)
    return jax.vmap(all_runs, in_axes=(swept, setting_axes, 0))(hypers, metrics, states)


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
