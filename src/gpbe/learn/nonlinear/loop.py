"""One compiled loop for prediction with networks: many settings and many runs in one call."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

from gpbe.algorithms.nonlinear import (
    Basis,
    Params,
    ValueAlgorithm,
    direction,
    second_weights,
    state_weights,
    values,
)
from gpbe.algorithms.nonlinear.kernels import Kernel
from gpbe.learn.nonlinear.data import AXES, Data, take
from gpbe.learn.replay import draw_distinct


class Options(NamedTuple):
    """What the compiled program depends on."""

    algorithm: ValueAlgorithm
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
    """At every point of the curves, for metrics that need the Jacobian."""


class Hypers(NamedTuple):
    """Numbers that may be swept: none of them changes the compiled program."""

    step_size: Any
    ratio: Any
    beta: Any
    lam: Any
    bandwidth: Any
    power: Any
    delay: Any


class Learner(NamedTuple):
    weights: Any
    """All parameters, those of v and those of h, as one vector."""
    optimizer: Any
    key: Any
    diverged_at: Any


class Learned(NamedTuple):
    """With axes of settings (if any is swept) and runs in front."""

    values: Any
    """(points + 1, N): of every observation, before learning and at each point."""
    history: Any
    """(points + 1, P), or nothing."""
    weights: Any
    diverged_at: Any


@eqx.filter_jit
def learn_all(
    options: Options, hypers: Hypers, data: Data, params: Params, ridge: Any, keys: Any, steps: int
) -> Learned:
    """Settings along the first axis of the result if hyperparameters are swept, runs along the next."""
    arrays, static = eqx.partition(params, eqx.is_inexact_array)

    def one(hypers: Hypers, data: Data, arrays: Params, key: Any) -> Learned:
        return learn(options, hypers, data, eqx.combine(arrays, static), ridge, key, steps)

    runs = jax.vmap(one, in_axes=(None, AXES, 0, 0))
    swept = Hypers(*(0 if h.ndim else None for h in hypers))
    if all(axis is None for axis in swept):
        return runs(hypers, data, arrays, keys)
    return jax.vmap(runs, in_axes=(swept, None, None, None))(hypers, data, arrays, keys)


def learn(options: Options, hypers: Hypers, data: Data, params: Params, ridge: Any, key: Any, steps: int) -> Learned:
    """One run of one setting: a scan over the points of the curve, each a scan over `every` updates."""
    arrays, static = eqx.partition(params, eqx.is_inexact_array)
    start, unravel = ravel_pytree(arrays)
    is_second, _ = ravel_pytree(second_weights(params, options.basis))
    penalty = hypers.beta * is_second if options.algorithm.regularized else 0 * is_second
    if ridge is not None:
        penalty = penalty + ravel_pytree(second_weights(params, options.basis, ridge))[0]

    lam = hypers.lam * data.lam
    counts = state_weights(options.algorithm.prior, options.n, data.discount, data.rho, lam, data.follows)

    def change(weights: Any, at: Any) -> Any:
        batch = take(data, at, options.n, lam, counts)
        now = eqx.combine(unravel(weights), static)
        step = direction(options.algorithm, options.basis, now, batch, options.kernel, hypers.bandwidth)
        return ravel_pytree(step)[0] - penalty * weights

    def update(learner: Learner, xs: tuple[Any, Any]) -> tuple[Learner, None]:
        time, at = xs
        move, optimizer = change(learner.weights, at), learner.optimizer
        if options.adam:
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

    def record(weights: Any) -> tuple[Any, Any]:
        seen = values(eqx.combine(unravel(weights), static), data.observations)
        return seen, weights if options.keep_weights else None

    def point(learner: Learner, times: Any) -> tuple[Learner, Any]:
        key, key_picks = jax.random.split(learner.key)
        learner, _ = jax.lax.scan(update, learner._replace(key=key), (times, positions(options, key_picks, times)))
        return learner, record(learner.weights)

    optimizer = optax.scale_by_adam().init(start) if options.adam else None
    learner = Learner(start, optimizer, key, jnp.full((), -1, jnp.int32))
    learner, later = jax.lax.scan(point, learner, jnp.arange(steps).reshape(-1, options.every))
    seen, history = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), record(start), later)
    return Learned(seen, history, learner.weights, learner.diverged_at)


def positions(options: Options, key: Any, times: Any) -> Any:
    """Which windows each update learns from: the latest, or distinct ones of the latest `buffer`."""
    if not options.buffer:
        return times[:, None]
    sizes = jnp.minimum(times + 1, options.buffer)
    return (times + 1 - sizes)[:, None] + draw_distinct(key, sizes, options.batch)
