"""`predict_net`: learn values with a network by any algorithm of the paper's section 7, in many runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from gpbe.algorithms.nonlinear import Params, ValueAlgorithm, find_value_algorithm, second_weights, start
from gpbe.errors import InputError
from gpbe.exact.weightings import Name
from gpbe.learn.nonlinear.checks import (
    check_counts,
    check_problem,
    check_steps,
    read_basis,
    read_buffer,
    read_kernel,
    read_length,
    read_net,
    read_ridge,
    read_rows,
    read_settings,
)
from gpbe.learn.nonlinear.data import read_data
from gpbe.learn.nonlinear.loop import Hypers, Learned, Options, learn_all
from gpbe.learn.nonlinear.metrics import check_metrics, measure, measure_log, measure_nonlinear, read_weighting
from gpbe.learn.predict import Prediction
from gpbe.mdp import Log, PredictionProblem
from gpbe.shapes import Array, Numbers

LANES = 512
"""Runs times settings that one compiled call learns side by side."""
RECORDED, AT_A_TIME = 2**28, 2**25
"""Numbers that are recorded over learning at most (1 GB), and by one compiled call if it has more than one setting."""


@dataclass(frozen=True, eq=False)
class NetPrediction(Prediction):
    """What was learned. `weights` are all parameters in one vector, `second_weights` the same with those of v at 0."""

    values: Array = field(default_factory=lambda: np.zeros(0))
    """([settings,] runs, points, N): of every state (for a log: of every row's state, then of every row's next)."""
    structure: Any = None

    def network(self, *index: int) -> Params:
        """The modules v and h of one run: `result.network(run)`, or `(setting, run)` where something was swept."""
        if len(index) != self.weights.ndim - 1:
            raise InputError(
                f"network takes {self.weights.ndim - 1} numbers, of {self.weights.shape[:-1]}; not {index}"
            )
        return self.structure(jnp.asarray(self.weights[index]))


def predict_net(
    problem: PredictionProblem | Log,
    algorithm: str | ValueAlgorithm = "tdrc",
    *,
    net: Any = (32, 32),
    basis: str | Numbers | None = None,
    ridge: Numbers | None = None,
    steps: int | None = None,
    runs: int = 1,
    seed: int = 0,
    metrics: tuple[str, ...] | str | None = None,
    weighting: Name | Numbers = "behavior",
    projection: Numbers | None = None,
    every: int = 1,
    average: bool = False,
    n: int | str = 1,
    state_lam: Numbers | None = None,
    batch: int | None = None,
    buffer: int | None = None,
    kernel: str | None = None,
    optimizer: str = "sgd",
    width: int | None = None,
    advance: Callable[[int], None] = lambda settings: None,
    **hyperparameters: Any,
) -> NetPrediction:
    """Learn the target policy's values with a network, from the behavior's transitions.

    Args:
        problem: a problem to simulate, whose features are the network's input; or a `Log`.
        algorithm: "td", "tdc", "tdrc", "gtd2" (the saddlepoint form), "maei-gtd2", "maei-tdc", "residual-gradient",
            "double-sampling" or "kbe", each also with "emphatic-" or "alternative-life-" before it.
        net: sizes of hidden layers, or a function from a random key to a module that takes an observation to a number.
        basis: of h: "head" (on v's last layer, detached), "network", "gradient" (of v), or features of H (S, M), for a
            log (T, M). The default is "head", and "gradient" for modules and Maei's algorithms, which have no other. h
            is 0 at the start, but as a network made by a function it is what that makes.
        ridge: a penalty for each given feature of H.
        steps: updates; all transitions of a log.
        runs: independent runs: of the data, which depend on problem and seed only, and of the network's first weights.
        seed: of data and networks.
        metrics: of "rmsve", "rmsbe", "rmspbe" (the nonlinear PBE), "rmsgpbe" (of `projection`) and "rmstde"; a log has
            the last two.
        weighting: of the states in the metrics.
        projection: features of H for "rmsgpbe"; those of `basis` if given there.
        every: updates between points of a curve.
        average: keep only means and standard errors over runs of the curves.
        n: transitions in a return, or "episode" for all to the episode's end; with `lam` below 1 it is a lambda-return.
            It is cut off after n transitions, at the end of the episode, or where a log breaks off or the data end.
        state_lam: multiplies lam on arrival in each state (in a log, at the end of each row).
        batch: windows drawn from a replay buffer for each update; online, from the latest, if left out.
        buffer: how many of the latest windows that buffer holds; 4000 if left out.
        kernel: of "kbe": "gaussian" (the default), "laplace", "linear", "quadratic" or "same", between observations.
        optimizer: "sgd", or "adam" on the algorithm's direction.
        width: units in each layer of a network of h's own; as v's if left out.
        advance: is told how many more settings are done.
        **hyperparameters: `step_size`, `ratio` (of h's step size to w's), `beta` (TDRC), `lam`, `bandwidth` (KBE),
            `power` and `delay` (step_size / (1 + t / delay)^power). One given as an array is swept.

    >>> from gpbe import mdp
    >>> walk = mdp.PredictionProblem(mdp.random_walk(5), target=[0.4, 0.6], behavior=[0.5, 0.5])
    >>> result = predict_net(walk, "tdrc", net=(8,), steps=400, runs=3, every=100, step_size=0.05)
    >>> result.curves["rmsve"].shape, result.values.shape
    ((3, 4), (3, 4, 5))
    """
    check_problem(problem)
    name, a = algorithm if isinstance(algorithm, str) else "this algorithm", find_value_algorithm(algorithm)
    length = read_length(a, n, state_lam)
    check_counts(batch=batch, buffer=buffer, width=width, runs=runs, steps=steps, every=every)
    settings = read_settings(a, hyperparameters, length, name)
    net = read_net(net)
    kind, phi = read_basis(a, net, basis, problem, width)
    penalties = read_ridge(ridge, phi)
    holds, kernel = read_buffer(a, batch, buffer), read_kernel(a, kernel)
    if optimizer not in ("sgd", "adam"):
        raise InputError(f"there is no optimizer {optimizer!r}; use sgd or adam")
    default = ("rmstde",) if isinstance(problem, Log) else ("rmsve", "rmspbe")
    names = default if metrics is None else (metrics,) if isinstance(metrics, str) else tuple(metrics)
    if projection is not None and "rmsgpbe" not in names:
        raise InputError("projection is for the metric rmsgpbe; name that in metrics, or leave projection out")
    rows, ridge = (phi, ridge) if projection is None else (read_rows(projection, "projection", problem), None)
    check_metrics(problem, names, rows)
    d = read_weighting(problem, weighting)

    data, longest, updates = read_data(problem, a, length, steps, runs, seed, state_lam, phi)
    check_steps(every, batch, updates)
    key_nets, key_picks = jax.random.split(jax.random.key(seed))
    given = 0 if phi is None else phi.shape[1]
    params = start_all(net, data.observations.shape[0], kind, given, width, jax.random.split(key_nets, runs))
    options = Options(
        algorithm=a,
        basis=kind,
        kernel=kernel,  # pyright: ignore
        n=longest,
        every=every,
        batch=batch or 1,
        buffer=holds,
        adam=optimizer == "adam",
        schedule=bool(np.any(settings.numbers["power"])),
        keep_weights="rmspbe" in names,
    )
    one = jax.tree.map(lambda x: x[0] if eqx.is_inexact_array(x) else x, params)
    arrays, static = eqx.partition(one, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(arrays)
    recorded = check_recorded(
        runs * (updates // every + 1),
        data.observations.shape[1],
        flat.size if options.keep_weights else 0,
        settings.count,
    )

    def curve(metric: str, learned: Learned) -> Array:
        penalty = 0.0 if ridge is None else ridge
        if isinstance(problem, Log):
            seen = None if rows is None else rows[:updates]
            return measure_log(problem.first(updates), metric, learned.values, seen, penalty)
        if metric == "rmspbe":
            return measure_nonlinear(problem, learned.values, d, one, learned.history, data.observations)
        return measure(problem, metric, learned.values, d, rows, penalty)

    keys = jax.random.split(key_picks, runs)
    parts, curve_parts = [], []
    for indices, count in chunks(settings.count, max(1, min(LANES // runs, AT_A_TIME // recorded))):
        hypers = Hypers(**settings.take(indices))
        learned = learn_all(options, hypers, data, params, penalties, keys, updates)
        learned = jax.tree.map(lambda x, k=count: np.asarray(x)[:k] if settings.swept else np.asarray(x), learned)
        curve_parts.append({metric: curve(metric, learned) for metric in names})
        parts.append(learned._replace(history=None))
        advance(count)
    whole, curves = (
        jax.tree.map(lambda *x: np.concatenate(x), *p) if len(p) > 1 else p[0] for p in (parts, curve_parts)
    )

    return NetPrediction(
        algorithm=algorithm if isinstance(algorithm, str) else "custom",
        steps=np.arange(every, updates + 1, every),
        **summarized({m: c[..., 1:] for m, c in curves.items()}, average),
        initial={m: c[..., 0].reshape(-1, runs)[0] for m, c in curves.items()},
        weights=whole.weights,
        second_weights=whole.weights * _second(one, kind),
        diverged_at=whole.diverged_at,
        settings=settings.values,
        values=whole.values[..., 1:, :],
        structure=lambda weights: eqx.combine(unravel(weights), static),
    )


def check_recorded(points: int, values: int, weights: int, settings: int) -> int:
    """How many numbers a setting records, if not so many that they do not fit in memory.

    Values stay for all settings; weights, which `rmspbe` needs, only until they are measured.
    """
    for name, kept in (("values", settings * points * values), ("weights, for rmspbe,", points * weights)):
        if kept > RECORDED:
            raise InputError(f"the {name} at all points of the curves are {kept:.2g} numbers; give a larger every")
    return points * max(values, weights)


def chunks(count: int, size: int) -> Iterator[tuple[Array, int]]:
    """Settings in groups of one size, so that all share one compiled program; the last is padded."""
    size = min(size, count)
    for first in range(0, count, size):
        yield np.minimum(np.arange(first, first + size), count - 1), min(size, count - first)


@eqx.filter_jit
def start_all(net: Any, inputs: int, basis: Any, given: int, width: int | None, keys: Any) -> Params:
    """First parameters of every run, along a first axis."""
    return eqx.filter_vmap(lambda key: start(net, inputs, basis, given, key, width))(keys)


def summarized(curves: dict[str, Array], average: bool) -> dict[str, dict[str, Array]]:
    """Curves ([settings,] runs, points) as a `Prediction` holds them."""
    with np.errstate(invalid="ignore"):
        errors = {m: _error(c) for m, c in curves.items()} if average else {}
        return {
            "curves": {m: c.mean(-2) for m, c in curves.items()} if average else curves,
            "errors": errors,
            "areas": {m: c.mean(-1) for m, c in curves.items()},
            "finals": {m: c[..., -max(1, c.shape[-1] // 4) :].mean(-1) for m, c in curves.items()},
        }


def _error(c: Array) -> Array:
    runs = c.shape[-2]
    return c.std(-2, ddof=1) / runs**0.5 if runs > 1 else np.full((*c.shape[:-2], c.shape[-1]), np.nan)


def _second(params: Params, basis: Any) -> Array:
    return np.asarray(ravel_pytree(second_weights(params, basis))[0])
