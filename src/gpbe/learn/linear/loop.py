"""One compiled loop for every linear algorithm that moves its weights after each transition."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from gpbe.algorithms.linear import DIRECTIONS, Algorithm, Hypers, Step, bounded
from gpbe.learn.linear.metrics import Metric
from gpbe.learn.linear.tracking import Stream, Tracker, Transition, observe, start_tracker, transitions

Weights = Float[Array, " K"]


class Options(NamedTuple):
    """What the compiled program depends on."""

    algorithm: Algorithm
    every: int
    """Transitions between points of a curve."""
    adam: bool
    schedule: bool
    """Does the step size fall?"""
    keep_weights: bool = False
    """Are the weights kept at every point?"""


class Learner(NamedTuple):
    """The state of a run between two transitions."""

    w: Weights
    h: Weights
    tracker: Tracker
    optimizer: optax.OptState | None
    time: Int[Array, ""]
    diverged_at: Int[Array, ""]
    """Transition after which some weight was first infinite or NaN; -1 while none is."""


class Result(NamedTuple):
    """What a run leaves behind."""

    curves: tuple[Float[Array, " points"], ...]
    history: Float[Array, "points K"] | None
    """The weights at every point of the curves, if they are kept."""
    weights: Weights
    second_weights: Weights
    diverged_at: Int[Array, ""]


Recorded = tuple[tuple[Array, ...], Array | None]
"""The metrics at a point of the curves, or at all of them, and the weights where they are kept."""


def learn(
    options: Options, hypers: Hypers, stream: Stream, learner: Learner, metrics: tuple[Metric, ...]
) -> tuple[Learner, Result]:
    """One run of one setting: a scan over the points of the curve, each a scan over `every` transitions."""

    def point(learner: Learner, xs: Transition) -> tuple[Learner, Recorded]:
        learner, _ = jax.lax.scan(lambda l, x: (update(options, hypers, stream, l, x), None), learner, xs)
        return learner, recorded(options, metrics, learner.w)

    learner, kept = jax.lax.scan(point, learner, by_point(stream, options.every))
    return learner, Result(*kept, learner.w, learner.h, learner.diverged_at)


def recorded(options: Options, metrics: tuple[Metric, ...], w: Weights) -> Recorded:
    """What is kept of the weights at a point of the curves: their errors, and themselves if that is asked for."""
    return tuple(metric.at(w) for metric in metrics), w if options.keep_weights else None


def by_point(stream: Stream, every: int) -> Transition:
    """All transitions, those between two points of a curve along a second axis."""
    points = stream.now.shape[0] // every
    return jax.tree.map(lambda a: a.reshape(points, every), transitions(stream))


def start(options: Options, stream: Stream, w0: Weights) -> Learner:
    """A learner before the first transition."""
    h = jnp.zeros_like(w0)
    optimizer = optax.scale_by_adam().init((w0, h)) if options.adam else None
    return Learner(w0, h, start_tracker(stream, w0), optimizer, jnp.zeros((), jnp.int32), jnp.full((), -1, jnp.int32))


def update(options: Options, hypers: Hypers, stream: Stream, l: Learner, t: Transition) -> Learner:
    """One transition: advance the trace, find the direction, move the weights."""
    tracker, step = observe(options.algorithm, hypers, stream, l.tracker, t)
    alpha = hypers.step_size
    if options.schedule:
        alpha = alpha * (1 + l.time / hypers.delay) ** -hypers.power
    w, h, optimizer = move(options, hypers, step, alpha, l)
    finite = jnp.isfinite(w.sum() + h.sum())
    diverged_at = jnp.where((l.diverged_at < 0) & ~finite, l.time + 1, l.diverged_at)
    return Learner(w, h, tracker, optimizer, l.time + 1, diverged_at)


def move(
    options: Options, hypers: Hypers, step: Step, alpha: Float[Array, ""], l: Learner
) -> tuple[Weights, Weights, optax.OptState | None]:
    """Go along the algorithm's direction, or along the one that it finds half-way (mirror-prox).

    Where h is bounded, it is first moved to within the bound at the present state. The gradient correction is the
    saddlepoint form and h's own step; the move is part of that step, so w takes its share.
    """
    a = options.algorithm

    def within(h: Weights) -> Weights:
        return bounded(step, h, hypers.huber, jnp) if a.bounded else h

    def direction(w: Weights, h: Weights) -> tuple[Weights, Weights]:
        d_w, d_h = DIRECTIONS[a.update](step, w, h)
        return d_w, d_h - hypers.beta * h if a.regularized else d_h

    def along(d_w: Weights, d_h: Weights) -> tuple[Weights, Weights]:
        return w + alpha * d_w, h + alpha * hypers.ratio * d_h if a.second_weights else h

    h = within(l.h)
    w = l.w + (h - l.h) / hypers.ratio if a.bounded and a.update == "gradient-correction" else l.w
    d_w, d_h = direction(w, h)
    optimizer = l.optimizer
    if a.mirror_prox:
        half_w, half_h = along(d_w, d_h)
        d_w, d_h = direction(half_w, within(half_h))
    if optimizer is not None:
        scaled: Any
        scaled, optimizer = optax.scale_by_adam().update((d_w, d_h), optimizer)
        d_w, d_h = scaled
    return *along(d_w, d_h), optimizer
