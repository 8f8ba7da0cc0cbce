"""Linear prediction in three steps: read what was asked, run all settings, assemble the answer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear import Algorithm, Hypers, find
from gpbe.algorithms.linear.expected import check_sensible
from gpbe.checks import LARGEST_LEARNED, as_floats, check_at_least, check_magnitude
from gpbe.errors import InputError
from gpbe.learn.grouping import padded_groups
from gpbe.learn.linear.loop import Options, Result, Weights
from gpbe.learn.linear.metrics import (
    METRICS,
    Measured,
    Metric,
    build_metrics,
    metric_of_log,
    robust_metrics,
    sums_of_log,
)
from gpbe.learn.linear.recorded import Recording, Stretches
from gpbe.learn.linear.side_by_side import Learned, MetricAxes, learn_all, learn_stretch, summarize_all
from gpbe.learn.linear.streams import simulated
from gpbe.learn.linear.tracking import Stream
from gpbe.learn.prediction import Asked, Curves, Prediction, check_optimizer, joined, summarized, without_padding
from gpbe.learn.robust import read_name
from gpbe.learn.settings import Settings, read_settings
from gpbe.mdp import PredictionProblem
from gpbe.mdp.log_source import Source
from gpbe.shapes import Array, Numbers

LANES = 1600
"""Runs times settings that one compiled call learns side by side."""
CURVE_BYTES = 2**27
"""What the curves of one compiled call may take; longer sweeps go through in several calls."""


class Plan(NamedTuple):
    """All that learning needs, checked."""

    options: Options
    settings: Settings
    stream: Stream | Stretches
    """All transitions; or, of a log that is too large for that, how to read them a stretch at a time."""
    w0: Weights
    names: tuple[str, ...]
    """The metrics that were asked for."""
    metrics: dict[str, Measured]
    """Those of them that the compiled loop measures."""
    robust: dict[str, Callable[[Array], Array]]
    """Those that are measured afterwards, from the weights at all points."""
    epochs: int

    @property
    def points(self) -> int:
        """How many points a curve has."""
        return self.epochs * rows_of(self.stream) // self.options.every


def predict_linear(asked: Asked, epochs: int = 1, initial_weights: Numbers | None = None) -> Prediction:
    """Learn weights of the problem's features."""
    plan = read(asked, epochs, initial_weights)
    return assemble(asked, plan, *run(asked, plan))


def read(asked: Asked, epochs: int = 1, initial_weights: Numbers | None = None) -> Plan:
    """Check everything that was asked, and gather the data."""
    a = find(asked.algorithm)
    settings = read_hyperparameters(a, asked)
    check_epochs(a, epochs)
    check_optimizer(asked.optimizer)
    if asked.optimizer == "adam" and (a.mirror_prox or a.finite_sum or a.least_squares):
        raise InputError("this algorithm chooses its own steps, which Adam would rescale; use sgd")
    names = asked.names(("rmsve", "rmspbe"), ("rmspbe",))
    named = {name: read_name(name, METRICS) for name in names}
    plain = tuple(name for name, metric in named.items() if metric.huber is None)
    robust = robust_metrics(asked, {name: metric for name, metric in named.items() if name not in plain})
    stream, metrics = gathered(a, asked, settings, plain)
    every = asked.spacing(rows_of(stream))
    schedule = bool(np.any(settings.numbers["power"]))
    return Plan(
        Options(a, every, asked.optimizer == "adam", schedule, keep_weights=bool(robust)),
        settings,
        stream,
        read_weights(
            asked.problem, stream.width if isinstance(stream, Stretches) else stream.features.shape[-1], initial_weights
        ),
        names,
        dict(zip(plain, metrics, strict=True)),
        robust,
        epochs,
    )


def read_hyperparameters(a: Algorithm, asked: Asked) -> Settings:
    """Check names and ranges against what a linear algorithm has."""
    settings = read_settings(a, asked.hyperparameters, Hypers._field_defaults, asked.name)
    if a.bootstrapping == "v-trace" and a.second_weights and np.any(np.isfinite(settings.numbers["rho_bar"])):
        raise InputError(
            "with rho_bar finite the ratios no longer average to 1, so there is no gradient to follow; use inf"
        )
    return settings


def rows_of(stream: Stream | Stretches) -> int:
    """How many transitions a run has."""
    return stream.rows if isinstance(stream, Stretches) else stream.now.shape[-1]


def gathered(
    a: Algorithm, asked: Asked, settings: Settings, names: tuple[str, ...]
) -> tuple[Stream | Stretches, list[Measured]]:
    """The transitions to learn from, if the algorithm can learn from them, and the metrics; of a log in one pass."""
    problem = asked.problem
    if isinstance(problem, PredictionProblem):
        return simulated_stream(a, asked, problem), build_metrics(asked, a, settings, names)
    if asked.runs != 1 or asked.state_lam is not None:
        raise InputError("a log is one run with one lam for all states; leave runs and state_lam out")
    log = problem if isinstance(problem, Recording) else Recording(problem)
    sums = [sums_of_log(log, asked.steps, a, settings, name) for name in names]
    with asked.reading(log) as advance:
        stream, systems = log.read(asked.steps, sums, a.finite_sum, advance)
    return stream, [metric_of_log(name, system) for name, system in zip(names, systems, strict=True)]


def simulated_stream(a: Algorithm, asked: Asked, problem: PredictionProblem) -> Stream:
    """Runs of a problem's behavior."""
    check_sensible(problem, a)
    if asked.state_lam is not None and a.bootstrapping == "ab-trace":
        raise InputError("AB-Trace is scaled by one number for all states; leave state_lam out")
    steps = 1000 if asked.steps is None else asked.steps
    return simulated(problem, steps, asked.runs, asked.seed, asked.state_lam)


def check_epochs(a: Algorithm, epochs: int) -> None:
    """Passes over the data are for algorithms that store them."""
    check_at_least(1, epochs=epochs)
    if epochs != 1 and not a.finite_sum:
        raise InputError("epochs are passes over a stored data set, which this algorithm does not make; use more steps")


def read_weights(problem: PredictionProblem | Source, k: int, given: Numbers | None) -> Weights:
    """Where the weights of k features start: as given, the problem's own start, or 0."""
    if given is None:
        given = problem.initial_weights if isinstance(problem, PredictionProblem) else np.zeros(k)
    checked = as_floats(given, "initial_weights")
    check_magnitude(checked, "initial_weights", LARGEST_LEARNED)
    w0 = jnp.asarray(checked, jnp.float32)
    if w0.shape != (k,):
        raise InputError(f"initial_weights has shape {w0.shape}; it should be ({k},), one number a feature")
    return w0


def run(asked: Asked, plan: Plan) -> tuple[Learned, Curves]:
    """Learn all settings, some in one compiled call, and measure what the loop does not."""
    settings, metrics = plan.settings, plan.metrics.values()
    axes = tuple((m.per_setting, m.per_run) for m in metrics)
    key = jax.random.key(asked.seed) if plan.options.algorithm.finite_sum else None
    parts, robust = [], []
    kept = len(metrics) + (len(plan.w0) if plan.robust else 0)
    rows = None if isinstance(asked.problem, PredictionProblem) else plan.epochs * rows_of(plan.stream)
    with asked.telling(settings.count, rows) as tell:
        for members, real in padded_groups(settings.count, settings_at_once(asked.runs, plan.points, kept)):
            hypers, taken = Hypers(**settings.take(members)), tuple(m.take(members).metric for m in metrics)
            if isinstance(plan.stream, Stretches):
                learned = by_stretches(
                    plan, plan.stream, axes, asked.average, hypers, taken, lambda n, real=real: tell(0, real * n)
                )
            else:
                learned = learn_all(
                    plan.options, axes, plan.epochs, asked.average, hypers, plan.stream, plan.w0, taken, key
                )
            learned = without_padding(learned, real, settings.swept)
            robust.append({name: measured(np.asarray(learned.history)) for name, measured in plan.robust.items()})
            parts.append(learned._replace(history=None))
            tell(real, 0 if isinstance(plan.stream, Stretches) else real * (rows or 0))
    return joined(parts), joined(robust)


def by_stretches(
    plan: Plan,
    stretches: Stretches,
    axes: MetricAxes,
    average: bool,
    hypers: Hypers,
    metrics: tuple[Metric, ...],
    advance: Callable[[int], None],
) -> Learned:
    """Learn some settings in one pass over a log that is too large to be kept; `advance` is told of rows."""
    state, told = None, list[Result]()
    for stream, every, asked_for in stretches.read(plan.options.every):
        options = plan.options._replace(every=every)
        state, result = learn_stretch(options, axes, hypers, stream, plan.w0, metrics, state)
        if asked_for:
            told.append(jax.tree.map(np.asarray, result))
        advance(stream.now.shape[-1])
    swept = any(np.ndim(each) for each in hypers)
    along = 1 + swept  # after settings and runs
    parts = [(each.curves, each.history) for each in told]
    curves, history = jax.tree.map(lambda *each: np.concatenate(each, along), *parts)
    return summarize_all(told[-1]._replace(curves=curves, history=history), average, swept)


def settings_at_once(runs: int, points: int, numbers: int) -> int:
    """How many settings one compiled call learns, which records so many numbers at a point."""
    by_curves = CURVE_BYTES // max(1, 4 * runs * points * numbers)
    return max(1, min(LANES // runs, by_curves))


def assemble(asked: Asked, plan: Plan, learned: Learned, robust: Curves) -> Prediction:
    """What was learned, by the names of the metrics."""
    every, afterwards = plan.options.every, summarized(robust, asked.average)
    w0 = np.asarray(plan.w0)
    initial = {name: m.once(w0) for name, m in plan.metrics.items()}
    initial |= {name: measured(w0) for name, measured in plan.robust.items()}
    per_metric: dict[str, Any] = {
        name: _in_order(plan.names, dict(zip(plan.metrics, getattr(learned, name), strict=False)) | afterwards[name])
        for name in ("curves", "errors", "areas", "finals")
    }
    return Prediction(
        algorithm=asked.algorithm if isinstance(asked.algorithm, str) else "custom",
        steps=np.arange(every, plan.points * every + 1, every),
        **per_metric,
        initial=_in_order(plan.names, initial),
        weights=np.asarray(learned.weights),
        second_weights=np.asarray(learned.second_weights),
        diverged_at=np.asarray(learned.diverged_at),
        settings=plan.settings.values,
        held=plan.settings.held(plan.options.algorithm.hyperparameters),
    )


def _in_order(names: tuple[str, ...], by_name: dict[str, Any]) -> dict[str, Any]:
    return {name: by_name[name] for name in names if name in by_name}
