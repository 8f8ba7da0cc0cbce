"""Values that an algorithm of `gpbe.predict` learns from a log, with an interval from resampled episodes.

The log and the resampled ones are learned side by side in one compiled call: they share the table of features, and
differ in the rows that they go through.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from gpbe.algorithms.nonlinear.model import values as network_values
from gpbe.errors import InputError
from gpbe.evaluation.asked import NetAsked
from gpbe.evaluation.intervals import around, percentiles
from gpbe.evaluation.result import Estimate
from gpbe.learn.linear import predict as linear
from gpbe.learn.linear.tracking import Stream, Transition
from gpbe.learn.nonlinear import predict as nonlinear
from gpbe.learn.nonlinear.checks import NetOptions, read_net
from gpbe.learn.prediction import Asked as Learning
from gpbe.mdp import Log
from gpbe.nets import layout_of, network
from gpbe.shapes import Array

if TYPE_CHECKING:
    from gpbe.evaluation.asked import Asked

RESAMPLES, NETWORK_RESAMPLES = 100, 20
"""Logs that are learned from beside the one that was recorded: by linear values, and by networks."""


@runtime_checkable
class Learned(Protocol):
    """Weights of each run, and what they say of states."""

    @property
    def weights(self) -> Float[Array, "runs P"]: ...

    def mean(self, run: int, x: Float[Array, "N K"], share: Float[Array, " N"]) -> float:
        """The mean value of states, each with its share."""
        ...


def learned(log: Log, name: str, asked: "Asked", block: int | None) -> Estimate:
    """The value of what was learned in one pass over the log; learned anew from logs of resampled episodes."""
    rng = np.random.default_rng(asked.seed)
    most = RESAMPLES if asked.net is None else NETWORK_RESAMPLES
    rows = np.stack([np.arange(len(log)), *resampled(log, block, min(most, asked.resamples), rng)])
    found = (learn_linear if asked.net is None else learn_networks)(log, name, asked, rows)
    values = mean_values(log, found, asked, rows)
    spread = percentiles(values[1:], asked.level) if asked.net is None else around(values[0], values[1:], asked.level)
    weights = found.weights[0] if asked.net is None else None
    interval = (spread.low, spread.high)
    return Estimate(name, float(values[0]), spread.error, interval, "bootstrap", weights, asked.net is not None)


def mean_values(log: Log, found: Learned, asked: "Asked", rows: Int[Array, "runs T"]) -> Float[Array, " runs"]:
    """The value that each run gives to the states asked for; those of a resampled log are resampled, too."""
    given = asked.where.features
    if given is not None:
        share = np.full(len(given), 1 / len(given))
        return np.array([found.mean(k, given, share) for k in range(len(rows))])
    counted = np.ones(len(log), dtype=bool)
    if asked.where.kind == "start":
        counted = ~np.concatenate([[False], log.continues[:-1]])
    x, values = log.features[counted], []
    for k, each in enumerate(rows):
        share = np.bincount(each, minlength=len(log))[counted]
        values.append(found.mean(k, x, share / share.sum()))
    return np.array(values)


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


def follows_on(rows: Int[Array, "runs T"]) -> Array:
    """Is the next row of a run that of the log?"""
    return np.concatenate([rows[:, 1:] == rows[:, :-1] + 1, np.zeros((len(rows), 1), dtype=bool)], axis=1)


class LinearRuns(NamedTuple):
    """Linear values of each run."""

    weights: Float[Array, "runs K"]

    def mean(self, run: int, x: Float[Array, "N K"], share: Float[Array, " N"]) -> float:
        return float((share @ x) @ self.weights[run])


def learn_linear(log: Log, name: str, asked: "Asked", rows: Int[Array, "runs T"]) -> LinearRuns:
    """Linear values of all runs."""
    learning = Learning(
        log, name, {"lam": asked.lam, **asked.hyperparameters}, seed=asked.seed, every=len(log), metrics=()
    )
    plan = linear.read(learning)
    check_single(plan.settings.swept)
    assert isinstance(plan.stream, Stream)  # of a log that is in memory
    plan = plan._replace(stream=taken(plan.stream, rows))
    found, _ = linear.run(learning._replace(runs=len(rows)), plan)
    return LinearRuns(np.asarray(found.weights, dtype=float))


def check_single(swept: bool) -> None:
    """An estimate is of one setting."""
    if swept:
        raise InputError("hyperparameters should be one number each; gpbe.predict sweeps them")


def taken(stream: Stream, rows: Int[Array, "runs T"]) -> Stream:
    """The stream of each resampled log; traces do not go on where the rows do not."""
    along = {name: np.asarray(getattr(stream, name))[0][rows] for name in Transition._fields}
    along["carried"] = np.where(follows_on(rows), along["carried"], 0).astype(np.float32)
    return stream._replace(**{name: jax.device_put(values) for name, values in along.items()})


class NetworkRuns(NamedTuple):
    """Values of each run's network."""

    weights: Float[Array, "runs P"]
    plan: nonlinear.Plan

    def mean(self, run: int, x: Float[Array, "N K"], share: Float[Array, " N"]) -> float:
        params = layout_of(self.plan.one).tree(jnp.asarray(self.weights[run]))
        return float(share @ np.asarray(network_values(params, jnp.asarray(x.T, jnp.float32)), dtype=float))


def learn_networks(log: Log, name: str, asked: "Asked", rows: Int[Array, "runs T"]) -> NetworkRuns:
    """Values of networks of all runs, each with first weights of its own."""
    assert asked.net is not None
    given = dict(asked.hyperparameters)
    options = {option: given.pop(option) for option in NetOptions._fields if option in given}
    optimizer = {"optimizer": given.pop("optimizer")} if "optimizer" in given else {}
    if asked.lam:
        given["lam"] = asked.lam
    learning = Learning(log, name, given, seed=asked.seed, every=len(log), metrics=(), **optimizer)
    wanted = NetOptions(net=made_net(asked.net, log.features.shape[1]), **options)
    plan = nonlinear.read(learning, wanted)
    check_single(plan.settings.swept)
    basis, width = plan.options.basis, 0 if plan.data.phi is None else plan.data.phi.shape[0]
    keys = jax.random.split(nonlinear.keys_of(asked.seed)[0], len(rows))
    inputs = plan.data.observations.shape[0]
    params = nonlinear.start_all(read_net(wanted.net), inputs, basis, width, wanted.width, keys)
    plan = plan._replace(params=params, data=resampled_data(plan.data, rows))
    found, _ = nonlinear.run(learning._replace(runs=len(rows)), plan)
    return NetworkRuns(np.asarray(found.weights), plan)


def made_net(net: NetAsked, inputs: int) -> Any:
    """What `gpbe.predict` takes for a network: sizes, or a function that makes a module of one number."""
    if net.body is None:
        return net.hidden

    def make(key: Any) -> Any:
        whole = network((inputs,), 1, (), key, net.body)
        return lambda one: whole(one[:, None])[0, 0]

    return make


def resampled_data(data: Any, rows: Int[Array, "runs T"]) -> Any:
    """The transitions of each resampled log; returns do not go on where the rows do not."""
    names = ("now", "next", "reward", "discount", "rho", "lam", "follows")
    along = {name: np.asarray(getattr(data, name))[0][rows] for name in names}
    on = follows_on(rows)
    along |= {"lam": np.where(on, along["lam"], 0).astype(np.float32), "follows": along["follows"] & on}
    return data._replace(**{name: jax.device_put(values) for name, values in along.items()})
