"""Values that an algorithm of `gpbe.predict` learns from a log, with an interval from resampled episodes."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from gpbe.errors import InputError
from gpbe.evaluation.result import Estimate
from gpbe.learn.linear import predict as linear
from gpbe.learn.linear.tracking import Stream, Transition
from gpbe.learn.prediction import Asked as Learning
from gpbe.mdp import Log
from gpbe.shapes import Array

if TYPE_CHECKING:
    from gpbe.evaluation.evaluate import Asked

RESAMPLES = 100
"""Logs that are learned from beside the one that was recorded."""


def learned(log: Log, name: str, asked: "Asked", block: int | None, hyperparameters: dict[str, Any]) -> Estimate:
    """The value of the weights after one pass over the log; learned anew from logs of resampled episodes.

    All runs are learned side by side in one compiled call: they share the table of features, and differ in the rows
    that they go through.
    """
    if "lam" not in hyperparameters:
        hyperparameters = hyperparameters | {"lam": asked.lam}
    learning = Learning(log, name, hyperparameters, seed=asked.seed, every=len(log), metrics=(), average=False)
    plan = linear.read(learning)
    if plan.settings.swept:
        raise InputError("hyperparameters should be one number each; gpbe.predict sweeps them")
    rng = np.random.default_rng(asked.seed)
    rows = np.stack([np.arange(len(log)), *resampled(log, block, min(RESAMPLES, asked.resamples), rng)])
    plan = plan._replace(stream=taken(plan.stream, log, rows))
    found = linear.run(learning._replace(runs=len(rows)), plan)
    weights = np.asarray(found.weights, dtype=float)
    x = _at(log, asked)
    # The starting states of the resampled episodes vary too.
    values = np.array([x_k @ w for x_k, w in zip(_each_at(log, asked, rows, x), weights, strict=True)])
    others = values[1:][np.isfinite(values[1:])]
    tails = [(1 - asked.level) / 2, (1 + asked.level) / 2]
    low, high = np.quantile(others, tails) if len(others) == len(rows) - 1 else (np.nan, np.nan)
    error = float(others.std(ddof=1)) if len(others) > 1 else np.nan
    return Estimate(name, float(values[0]), error, (float(low), float(high)), "bootstrap", weights[0])


def resampled(log: Log, block: int | None, count: int, rng: np.random.Generator) -> list[Array]:
    """Rows of logs as long as this one, made of episodes (or blocks) that are drawn with replacement."""
    if block is None:
        starts = np.flatnonzero(~np.concatenate([[False], log.continues[:-1]]))
    else:
        starts = np.arange(0, len(log), block)
    units = np.split(np.arange(len(log)), starts[1:])
    found = []
    for _ in range(count):
        rows, total = [], 0
        while total < len(log):
            unit = units[rng.integers(len(units))]
            rows.append(unit)
            total += len(unit)
        found.append(np.concatenate(rows)[: len(log)])
    return found


def taken(stream: Stream, log: Log, rows: Array) -> Stream:
    """The stream of each resampled log; traces do not go on where the rows do not."""
    along = {name: np.asarray(getattr(stream, name))[0][rows] for name in Transition._fields}
    follows = np.concatenate([rows[:, 1:] == rows[:, :-1] + 1, np.zeros((len(rows), 1), dtype=bool)], axis=1)
    along["carried"] = np.where(follows, along["carried"], 0).astype(np.float32)
    return stream._replace(**{name: jax.device_put(values) for name, values in along.items()})


def _at(log: Log, asked: "Asked") -> Array:
    if asked.where.features is not None:
        return asked.where.features
    return log.features[_starts(log)].mean(0) if asked.where.kind == "start" else log.features.mean(0)


def _starts(log: Log) -> Array:
    return ~np.concatenate([[False], log.continues[:-1]])


def _each_at(log: Log, asked: "Asked", rows: Array, x: Array) -> list[Array]:
    if asked.where.features is not None:
        return [x] * len(rows)
    if asked.where.kind != "start":
        return [log.features[each].mean(0) for each in rows]
    starts = _starts(log)
    return [log.features[each[starts[each]]].mean(0) for each in rows]
