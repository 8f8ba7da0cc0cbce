"""`gpbe.predict`: learn values by any linear algorithm, over swept hyperparameters and many runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.linear import Algorithm, find
from gpbe.algorithms.linear.expected import check_sensible
from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.exact.weightings import Name
from gpbe.learn.linear.loop import Options
from gpbe.learn.linear.metrics import build_metrics
from gpbe.learn.linear.side_by_side import Learned, learn_all
from gpbe.learn.linear.streams import recorded, simulated
from gpbe.learn.settings import read_settings
from gpbe.mdp import Log, PredictionProblem
from gpbe.shapes import Array, Numbers

LANES = 1600
"""Runs times settings that one compiled call learns side by side."""
CURVE_BYTES = 2**27
"""What the curves of one compiled call may take; longer sweeps go through in several calls."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What was learned. With swept hyperparameters every array has a leading axis of settings."""

    algorithm: str
    steps: Array
    """Updates after which each point of a curve was measured, (points,)."""
    curves: Mapping[str, Array]
    """Each metric: ([settings,] runs, points), infinite where it is beyond what 32-bit floats can square (1.8e19); or,
    if only averages were kept, the mean over runs: ([settings,] points)."""
    errors: Mapping[str, Array]
    """Standard errors over runs, ([settings,] points), if only averages were kept."""
    areas: Mapping[str, Array]
    """Mean of each curve, ([settings,] runs): small means fast and good."""
    finals: Mapping[str, Array]
    """Mean of the last quarter of each curve, ([settings,] runs)."""
    initial: Mapping[str, Array]
    """Each metric before learning."""
    weights: Array
    """([settings,] runs, K)."""
    second_weights: Array
    diverged_at: Array
    """([settings,] runs): the update at which a weight became infinite or NaN, or -1."""
    settings: Mapping[str, Array] = field(default_factory=dict)
    """Swept hyperparameters, each (settings,)."""

    def best(self, metric: str, by: Literal["area", "final"] = "area") -> "Best":
        """The setting with the smallest mean over runs, and how sure that choice is."""
        if not self.settings:
            raise InputError("nothing was swept, so there is nothing to choose; give a hyperparameter as an array")
        if metric not in self.areas:
            raise InputError(f"{metric!r} was not measured; there are {', '.join(self.areas)}")
        scores = (self.areas if by == "area" else self.finals)[metric]
        mean, error = mean_and_error(scores)
        if not np.isfinite(mean).any():
            raise InputError("every setting has runs that diverged, so none is best; sweep smaller step sizes")
        index = int(mean.argmin())
        # Settings within two standard errors of the difference, run by run: the data are paired. Logarithms, so that
        # a setting that explodes in some runs does not pass for one that is merely uncertain.
        finite = np.isfinite(mean)
        logs = np.log(np.maximum(scores[finite], 1e-30))
        gaps, spread = mean_and_error(logs - np.log(np.maximum(scores[index], 1e-30)))
        rivals = np.flatnonzero(finite)[gaps <= 2 * np.nan_to_num(spread)]
        setting = {name: float(values[index]) for name, values in self.settings.items()}
        return Best(index, setting, float(mean[index]), float(error[index]), rivals)


@dataclass(frozen=True)
class Best:
    """A chosen setting, with its uncertainty."""

    index: int
    setting: Mapping[str, float]
    mean: float
    standard_error: float
    rivals: Array
    """Settings (itself included) that the runs cannot tell from it at two standard errors."""


def predict(
    problem: PredictionProblem | Log,
    algorithm: str | Algorithm = "tdrc",
    *,
    steps: int | None = None,
    runs: int = 1,
    seed: int = 0,
    metrics: tuple[str, ...] | str | None = None,
    weighting: Name | Numbers = "behavior",
    every: int = 1,
    average: bool = False,
    epochs: int = 1,
    optimizer: str = "sgd",
    initial_weights: Numbers | None = None,
    state_lam: Numbers | None = None,
    net: Any = None,
    advance: Callable[[int], None] = lambda settings: None,
    **hyperparameters: Any,
) -> Prediction:
    """Learn the target policy's values from the behavior's transitions.

    Args:
        problem: a problem to simulate, or a `Log` of recorded transitions.
        algorithm: a name from `gpbe list algorithms`, or an `Algorithm` made of axes.
        steps: transitions to learn from; all of them for a log.
        runs: independent runs; the data depend on problem and seed only, so algorithms can be compared in pairs.
        seed: of the behavior's data.
        metrics: of "rmsve", "rmspbe", "rmsbe" and "distance" (to the algorithm's own fixed point).
        weighting: of the states in the metrics.
        every: updates between points of a curve.
        average: keep only means and standard errors over runs of the curves, which need little memory.
        epochs: passes over the data, for algorithms that go over a stored data set (SVRG, SAGA).
        optimizer: "sgd", or "adam" on the algorithm's direction.
        initial_weights: where w starts; the problem's own if left out.
        state_lam: multiplies lam on arrival in each state, for a trace parameter that depends on the state.
        net: sizes of hidden layers, for values that a network makes of the features; then see
            `gpbe.learn.nonlinear.predict_net` for what else can be given (`basis`, `n`, `batch`, `kernel` and so on).
        advance: is told how many more settings are done.
        **hyperparameters: `step_size`, `ratio` (of h's step size to w's), `lam`, `beta` (TDRC), `c_bar` and `rho_bar`
            (V-trace), `followon_decay` (ETD(lam, beta)), `power` and `delay` (step_size / (1 + t / delay)^power).
            One given as an array is swept; arrays must have one length (`gpbe.grid` makes products).

    >>> from gpbe import mdp
    >>> result = predict(mdp.boyan(), "tdrc", steps=2000, runs=5, step_size=[0.1, 0.2], metrics=("rmsve",))
    >>> result.curves["rmsve"].shape, result.weights.shape
    ((2, 5, 2000), (2, 5, 4))
    """
    if net is not None:
        common = {"steps": steps, "runs": runs, "seed": seed, "metrics": metrics, "weighting": weighting}
        common |= {"every": every, "average": average, "optimizer": optimizer, "state_lam": state_lam}
        linear_only = epochs != 1 or initial_weights is not None
        return _with_net(problem, algorithm, linear_only, common | hyperparameters | {"net": net, "advance": advance})
    a = find(algorithm)
    settings = read_settings(a, hyperparameters, algorithm if isinstance(algorithm, str) else "this algorithm")
    if isinstance(problem, Log):
        if runs != 1 or state_lam is not None:
            raise InputError("a log is one run with one lam for all states; leave runs and state_lam out")
        problem = problem if steps is None else problem.first(steps)
        stream, k = recorded(problem), problem.features.shape[-1]
    else:
        check_sensible(problem, a)
        if state_lam is not None and a.bootstrapping == "ab-trace":
            raise InputError("AB-Trace is scaled by one number for all states; leave state_lam out")
        steps = 1000 if steps is None else steps
        stream, k = simulated(problem, steps, runs, seed, state_lam), problem.features.shape[-1]
        if initial_weights is None:
            initial_weights = problem.initial_weights
    transitions = stream.now.shape[-1]
    if every < 1 or transitions % every:
        raise InputError(f"every is {every}; it should divide the {transitions} steps")
    if epochs < 1:
        raise InputError(f"epochs is {epochs}; it should be 1 or more")
    if epochs != 1 and not a.finite_sum:
        raise InputError("epochs are passes over a stored data set, which this algorithm does not make; use more steps")
    _check_optimizer(a, optimizer)
    metrics = (metrics,) if isinstance(metrics, str) else metrics
    names = metrics if metrics is not None else (("rmspbe",) if isinstance(problem, Log) else ("rmsve", "rmspbe"))
    built = build_metrics(problem, a, settings, names, weighting, state_lam)

    initial = np.zeros(k) if initial_weights is None else as_floats(initial_weights, "initial_weights")
    w0 = jnp.asarray(initial, jnp.float32)
    if w0.shape != (k,):
        raise InputError(f"initial_weights has shape {w0.shape}; it should be ({k},), one number a feature")
    options = Options(a, every, optimizer == "adam", bool(np.any(settings.numbers["power"])))
    axes = tuple((m.per_setting, m.per_run) for m in built)
    key = jax.random.key(seed)
    points = epochs * transitions // every
    parts = []
    for chunk, count in settings.chunks(_chunk_size(runs, points, len(names))):
        arrays = tuple(m.take(chunk.indices).metric for m in built)
        result = learn_all(options, axes, epochs, average, chunk.hypers, stream, w0, arrays, key)
        parts.append(jax.tree.map(lambda x, n=count: np.asarray(x)[:n] if settings.swept else np.asarray(x), result))
        advance(count)
    whole: Learned = jax.tree.map(lambda *x: np.concatenate(x), *parts) if len(parts) > 1 else parts[0]
    per_metric = ("curves", "errors", "areas", "finals")
    return Prediction(
        algorithm=algorithm if isinstance(algorithm, str) else "custom",
        steps=np.arange(every, epochs * transitions + 1, every),
        **{f: dict(zip(names, getattr(whole, f), strict=False)) for f in per_metric},
        initial={n: np.asarray(m.at(w0)) for n, m in zip(names, built, strict=True)},
        weights=whole.weights,
        second_weights=whole.second_weights,
        diverged_at=whole.diverged_at,
        settings=settings.values,
    )


def _check_optimizer(a: Algorithm, optimizer: str) -> None:
    if optimizer not in ("sgd", "adam"):
        raise InputError(f"there is no optimizer {optimizer!r}; use sgd or adam")
    if optimizer == "adam" and (a.mirror_prox or a.finite_sum or a.update == "least-squares"):
        raise InputError("this algorithm chooses its own steps, which Adam would rescale; use sgd")


def _with_net(problem: Any, algorithm: Any, linear_only: bool, options: Mapping[str, Any]) -> Prediction:
    from gpbe.learn.nonlinear import predict_net

    if linear_only:
        raise InputError("epochs and initial_weights are for linear values; leave them out with net")
    return predict_net(problem, algorithm, **options)


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Mean over the last axis and its standard error (NaN for one run, or where a run is infinite)."""
    n, scores = scores.shape[-1], np.asarray(scores, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return scores.mean(-1), scores.std(-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(scores.shape[:-1], np.nan)


def _chunk_size(runs: int, points: int, metrics: int) -> int:
    by_curves = CURVE_BYTES // max(1, 4 * runs * points * metrics)
    return max(1, min(LANES // runs, by_curves))
