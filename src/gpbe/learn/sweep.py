"""Settings and runs side by side, in one compiled call."""

from functools import partial
from typing import Any, cast

import jax
from jaxtyping import Array

from gpbe.learn import finite_sum, linear
from gpbe.learn.linear import Hypers, Metric, Options, Result, Stream


@partial(jax.jit, static_argnums=(0, 1, 2))
def learn_all(
    options: Options,
    metric_axes: tuple[tuple[bool, bool], ...],
    epochs: int,
    hypers: Hypers,
    streams: Stream,
    w0: Array,
    metrics: tuple[Metric, ...],
    key: Array,
) -> Result:
    """Settings along the first axis of the result (and of swept hyperparameters), runs along the second.

    `metric_axes` says of each metric whether its arrays have an axis of settings, and one of runs. `epochs` and
    `key` are for algorithms that go over a stored data set.
    """

    def one(hypers: Hypers, stream: Stream, metrics: tuple[Metric, ...]) -> Result:
        if options.algorithm.finite_sum:
            return finite_sum.learn(options, epochs, hypers, stream, w0, metrics, key)
        return linear.learn(options, hypers, stream, w0, metrics)

    has_runs: Any = Stream(*cast(Any, (0 if streams.features.ndim > 2 else None, None, 0, 0, 0, 0, 0, 0, None)))
    run_axes = tuple(0 if per_run else None for _, per_run in metric_axes)
    runs = jax.vmap(one, in_axes=(None, has_runs, run_axes))
    swept = Hypers(*(0 if h.ndim else None for h in hypers))
    if all(axis is None for axis in swept):
        return runs(hypers, streams, metrics)
    setting_axes = tuple(0 if per_setting else None for per_setting, _ in metric_axes)
    return jax.vmap(runs, in_axes=(swept, None, setting_axes))(hypers, streams, metrics)
