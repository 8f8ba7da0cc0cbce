"""SVRG and SAGA (Du et al. 2017): the saddlepoint problem of the linear PBE over a stored data set.

min_w max_h of (1/n) sum_t [h.(b_t - A_t w) - h'C_t h / 2]. One term is a noisy direction; both methods subtract what
that term said at an earlier point and add what all terms said there, so the noise vanishes with the distance left.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gpbe.algorithms.linear import DIRECTIONS, Hypers, Step
from gpbe.learn.linear.loop import Options, Recorded, Result, Weights, recorded
from gpbe.learn.linear.metrics import Metric
from gpbe.learn.linear.tracking import Stream, observe, start_tracker, transitions

Pair = tuple[Float[Array, "... K"], Float[Array, "... K"]]
"""Something for w and the same for h."""


class Solver(NamedTuple):
    """The state of a run between two updates."""

    w: Weights
    h: Weights
    mean: Pair
    """Mean direction over the data at the reference."""
    reference: Pair
    """SVRG: the weights (w, h) of the last full pass. SAGA: the direction of each term when it was last used."""
    pending: tuple[Int[Array, ""] | int, Pair] | None
    """SAGA: the last term and its direction, not yet in the table. Written before the next one is read, the table is
    changed in place; read first, it would be copied at every update."""
    time: Int[Array, ""]
    diverged_at: Int[Array, ""]


def learn(
    options: Options,
    epochs: int,
    hypers: Hypers,
    stream: Stream,
    w0: Weights,
    metrics: tuple[Metric, ...],
    key: PRNGKeyArray,
) -> Result:
    """One run of one setting: `epochs` passes of as many updates as there are transitions.

    Each update is with a random one. All runs pick the same positions, each in its own data: the table is then written
    in place, ten times faster.
    """
    _, data = jax.lax.scan(
        lambda past, t: observe(options.algorithm, hypers, stream, past, t),
        start_tracker(stream, w0),
        transitions(stream),
    )
    n = stream.now.shape[0]
    one = partial(direction, options)
    everywhere = jax.vmap(one, in_axes=(0, None, None))
    saga = options.algorithm.variance_reduction == "saga"

    def full_pass(s: Solver) -> Solver:
        each = everywhere(data, s.w, s.h)
        mean = jax.tree.map(lambda d: d.mean(0), each)
        pending = (0, jax.tree.map(lambda d: d[0], each)) if saga else None
        return s._replace(mean=mean, reference=each if saga else (s.w, s.h), pending=pending)

    def epoch(s: Solver, key: PRNGKeyArray) -> tuple[Solver, Recorded]:
        if not saga:
            s = full_pass(s)
        picks = jax.random.randint(key, (n // options.every, options.every), 0, n)
        return jax.lax.scan(point, s, picks)

    def point(s: Solver, picks: Array) -> tuple[Solver, Recorded]:
        s, _ = jax.lax.scan(inner, s, picks)
        return s, recorded(options, metrics, s.w)

    def inner(s: Solver, i: Array) -> tuple[Solver, None]:
        term = jax.tree.map(lambda a: a[i], data)
        now = one(term, s.w, s.h)
        reference, pending = s.reference, None
        if s.pending is not None:
            last, its = s.pending
            reference = jax.tree.map(lambda r, d: r.at[last].set(d), reference, its)
            before, pending = jax.tree.map(lambda r: r[i], reference), (i, now)
        else:
            before = one(term, *reference)
        change = jax.tree.map(lambda a, b: a - b, now, before)
        w = s.w + hypers.step_size * (change[0] + s.mean[0])
        h = s.h + hypers.step_size * hypers.ratio * (change[1] + s.mean[1])
        mean = jax.tree.map(lambda m, c: m + c / n, s.mean, change) if saga else s.mean
        diverged = (s.diverged_at < 0) & ~jnp.isfinite(w.sum() + h.sum())
        diverged_at = jnp.where(diverged, s.time + 1, s.diverged_at)
        return Solver(w, h, mean, reference, pending, s.time + 1, diverged_at), None

    nothing = (w0, jnp.zeros_like(w0))
    solver = full_pass(
        Solver(w0, jnp.zeros_like(w0), nothing, nothing, None, jnp.zeros((), jnp.int32), jnp.full((), -1, jnp.int32))
    )
    solver, kept = jax.lax.scan(epoch, solver, jax.random.split(key, epochs))
    curves, history = jax.tree.map(lambda c: c.reshape(-1, *c.shape[2:]), kept)
    return Result(curves, history, solver.w, solver.h, solver.diverged_at)


def direction(options: Options, term: Step, w: Weights, h: Weights) -> Pair:
    """The direction of one term of the sum for (w, h)."""
    return DIRECTIONS[options.algorithm.update](term, w, h)
