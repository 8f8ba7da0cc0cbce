"""LSTD(lambda) along a stream: running means of the linear system, solved at every point of the curve."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gpbe.algorithms.linear import Hypers, Step
from gpbe.learn.linear.loop import Options, Recorded, Result, Weights, by_point, recorded
from gpbe.learn.linear.metrics import Metric
from gpbe.learn.linear.tracking import Stream, Tracker, Transition, observe, start_tracker


class Means(NamedTuple):
    """Means over the transitions so far."""

    A: Float[Array, "K K"]
    """The sum of rho e (x - gamma x')'."""
    b: Weights
    """The sum of rho e R."""


class Solver(NamedTuple):
    """The state of a run between two transitions."""

    means: Means
    w: Weights
    tracker: Tracker
    time: Int[Array, ""]
    diverged_at: Int[Array, ""]


def start(options: Options, stream: Stream, w0: Weights) -> Solver:
    """A solver before the first transition."""
    nothing = Means(jnp.zeros((len(w0), len(w0))), jnp.zeros_like(w0))
    zero, never = jnp.zeros((), jnp.int32), jnp.full((), -1, jnp.int32)
    return Solver(nothing, w0, start_tracker(stream, w0), zero, never)


def learn(
    options: Options, hypers: Hypers, stream: Stream, solver: Solver, metrics: tuple[Metric, ...]
) -> tuple[Solver, Result]:
    """One run of one setting: a scan over the points of the curve, each a scan over `every` transitions."""

    def update(s: Solver, t: Transition) -> tuple[Solver, None]:
        tracker, step = observe(options.algorithm, hypers, stream, s.tracker, t)
        return s._replace(means=add(s.means, s.time, step), tracker=tracker, time=s.time + 1), None

    def point(s: Solver, xs: Transition) -> tuple[Solver, Recorded]:
        s, _ = jax.lax.scan(update, s, xs)
        w = solve(s.means, s.time, hypers.ridge)
        bad = (s.diverged_at < 0) & ~jnp.isfinite(w.sum())
        s = s._replace(w=w, diverged_at=jnp.where(bad, s.time, s.diverged_at))
        return s, recorded(options, metrics, w)

    last, kept = jax.lax.scan(point, solver, by_point(stream, options.every))
    return last, Result(*kept, last.w, jnp.zeros_like(last.w), last.diverged_at)


def add(means: Means, time: Int[Array, ""], t: Step) -> Means:
    """The means with one more transition."""
    A = t.rho * t.e[:, None] * (t.x - t.gamma * t.x_next)[None, :]
    b = t.rho * t.reward * t.e
    return Means(*(old + (new - old) / (time + 1) for old, new in zip(means, (A, b), strict=True)))


def solve(means: Means, time: Int[Array, ""], ridge: Float[Array, ""]) -> Weights:
    """The weights (A + ridge / t)^-1 b: the ridge stands for `ridge` transitions' worth of doubt."""
    return jnp.linalg.solve(means.A + jnp.eye(len(means.b)) * ridge / jnp.maximum(time, 1), means.b)
