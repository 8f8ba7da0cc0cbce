"""One compiled loop for prediction with networks: many settings and many runs in one call."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from gpbe.algorithms.nonlinear import Hypers, Kernel, NonlinearAlgorithm
from gpbe.algorithms.nonlinear.model import Basis, Params, second_weights, values
from gpbe.algorithms.nonlinear.step import direction
from gpbe.algorithms.nonlinear.weights import state_weights
from gpbe.learn.nonlinear.data import AXES, Data, take
from gpbe.learn.replay import draw_distinct
from gpbe.nets import flat, layout_of


class Options(NamedTuple):
    """What the compiled program depends on."""

    algorithm: NonlinearAlgorithm
    basis: Basis
    kernel: Kernel
    n: int
    every: int
    batch: int
    """Windows in a batch; 1 without replay."""
    buffer: int
    """Latest windows that a batch is drawn from; 0 for the latest one, online."""
    adam: bool
    schedule: bool
    keep_weights: bool
    """Whether weights are kept at every point of the curves, for metrics that need the Jacobian."""


class Learner(NamedTuple):
    """The state of a run between two updates."""

    weights: Float[Array, " P"]
    """All parameters, those of v and those of h, as one vector."""
    optimizer: optax.OptState | None
    key: PRNGKeyArray
    diverged_at: Int[Array, ""]


class Learned(NamedTuple):
    """What was learned, with axes of settings (if any is swept) and runs in front."""

    values: Float[Any, "*axes points+1 N"]
    """The value of every observation, before learning and at each point."""
    history: Float[Any, "*axes points+1 P"]
    """The weights at the same points; None if they are not kept."""
    weights: Float[Any, "*axes P"]
    diverged_at: Int[Any, "*axes"]


@eqx.filter_jit
def learn_all(
    options: Options,
    hypers: Hypers,
    data: Data,
    params: Params,
    ridge: Float[Array, " M"] | None,
    keys: Key[Array, " runs"],
    steps: int,
) -> Learned:
    """Learn all settings in all runs: settings along the first axis if any is swept, runs along the next."""
    arrays, static = eqx.partition(params, eqx.is_inexact_array)

    def one(hypers: Hypers, data: Data, arrays: Params, key: PRNGKeyArray) -> Learned:
        return learn(options, hypers, data, eqx.combine(arrays, static), ridge, key, steps)

    runs = jax.vmap(one, in_axes=(None, AXES, 0, 0))
    swept = Hypers(*(0 if h.ndim else None for h in hypers))
    if all(axis is None for axis in swept):
        return runs(hypers, data, arrays, keys)
    return jax.vmap(runs, in_axes=(swept, None, None, None))(hypers, data, arrays, keys)


def learn(
    options: Options,
    hypers: Hypers,
    data: Data,
    params: Params,
    ridge: Float[Array, " M"] | None,
    key: PRNGKeyArray,
    steps: int,
) -> Learned:
    """One run of one setting: a scan over the points of the curve, each a scan over `every` updates."""
    start, layout = flat(params), layout_of(params)
    is_second = flat(second_weights(params, options.basis))
    penalty = hypers.beta * is_second if options.algorithm.regularized else 0 * is_second
    if ridge is not None:
        penalty = penalty + flat(second_weights(params, options.basis, ridge))

    lam = hypers.lam * data.lam
    counts = state_weights(options.algorithm.prior, options.n, data.discount, data.rho, lam, data.follows)

    def change(weights: Float[Array, " P"], at: Int[Array, " B"]) -> Float[Array, " P"]:
        batch = take(data, at, options.n, lam, counts)
        now = layout.tree(weights)
        step = direction(options.algorithm, options.basis, now, batch, options.kernel, hypers.bandwidth, hypers.huber)
        return flat(step) - penalty * weights

    def update(learner: Learner, xs: tuple[Array, Array]) -> tuple[Learner, None]:
        time, at = xs
        move, optimizer = change(learner.weights, at), learner.optimizer
        if optimizer is not None:
            move, optimizer = optax.scale_by_adam().update(move, optimizer)
        alpha = hypers.step_size * (1 + (hypers.ratio - 1) * is_second)
        if options.schedule:
            alpha = alpha * (1 + time / hypers.delay) ** -hypers.power
        weights = learner.weights + alpha * move
        bad = (learner.diverged_at < 0) & ~jnp.isfinite(weights.sum())
        after = Learner(weights, optimizer, learner.key, jnp.where(bad, time + 1, learner.diverged_at))
        if not options.buffer:
            return after, None
        enough = time + 1 >= options.batch
        return jax.tree.map(lambda new, old: jnp.where(enough, new, old), after, learner), None

    def record(weights: Float[Array, " P"]) -> tuple[Array, Array | None]:
        seen = values(layout.tree(weights), data.observations)
        return seen, weights if options.keep_weights else None

    def point(learner: Learner, times: Int[Array, " every"]) -> tuple[Learner, tuple[Array, Array | None]]:
        key, key_picks = jax.random.split(learner.key)
        learner, _ = jax.lax.scan(update, learner._replace(key=key), (times, positions(options, key_picks, times)))
        return learner, record(learner.weights)

    optimizer = optax.scale_by_adam().init(start) if options.adam else None
    learner = Learner(start, optimizer, key, jnp.full((), -1, jnp.int32))
    learner, later = jax.lax.scan(point, learner, jnp.arange(steps).reshape(-1, options.every))
    seen, history = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), record(start), later)
    return Learned(seen, history, learner.weights, learner.diverged_at)


def positions(options: Options, key: PRNGKeyArray, times: Int[Array, " every"]) -> Int[Array, "every B"]:
    """Which windows each update learns from: the latest, or distinct ones of the latest `buffer`."""
    if not options.buffer:
        return times[:, None]
    sizes = jnp.minimum(times + 1, options.buffer)
    return (times + 1 - sizes)[:, None] + draw_distinct(key, sizes, options.batch)
