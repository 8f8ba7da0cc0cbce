"""One compiled loop for every linear prediction algorithm: many settings and many runs in one call."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from gpbe.algorithms.linear import DIRECTIONS, Algorithm, Probabilities, Step, Trace, action_lambda, advance


class Stream(NamedTuple):
    """Transitions of one run, in the order in which they happened. Feature vectors are rows of a table."""

    features: Float[Array, "N K"]
    lam: Float[Array, " N"]
    """Multiplies the setting's trace parameter on arrival in each row: 1 unless it depends on the state."""
    now: Int[Array, " T"]
    next: Int[Array, " T"]
    reward: Float[Array, " T"]
    discount: Float[Array, " T"]
    """Of the transition itself; 0 ends an episode."""
    carried: Float[Array, " T"]
    """The discount with which traces go on from here: the same, or 0 if the next transition begins elsewhere."""
    target: Float[Array, " T"]
    """Probability of the action taken, under the target policy."""
    behavior: Float[Array, " T"]
    psi: Float[Array, " 2"]
    """Scales of AB-Trace."""


class Hypers(NamedTuple):
    """Numbers that may be swept: none of them changes the compiled program."""

    step_size: Any
    ratio: Any
    """Step size of h over that of w."""
    lam: Any
    beta: Any
    c_bar: Any
    rho_bar: Any
    followon_decay: Any
    power: Any
    delay: Any
    ridge: Any


class Metric(NamedTuple):
    """sqrt(|| rows w - target ||^2 + constant): every error of `gpbe.exact`, reduced to K rows."""

    rows: Float[Array, "M K"]
    target: Float[Array, " M"]
    constant: Float[Array, ""]

    def at(self, w: Array) -> Array:
        residual = (self.rows * w).sum(-1) - self.target
        return jnp.sqrt((residual**2).sum(-1) + self.constant)


class Options(NamedTuple):
    """What the compiled program depends on."""

    algorithm: Algorithm
    every: int
    adam: bool
    schedule: bool


class Tracker(NamedTuple):
    """What traces need to know of the past."""

    trace: Trace
    own: Trace
    """The trace as it would be if the target were the behavior; for HTD."""
    gamma: Any
    """Discount of the transition into the present state: 0 at the start of an episode."""
    chosen: Probabilities
    """Of the last action."""


class Sums(NamedTuple):
    """LSTD's: running means of rho e (x - gamma x')' and rho e R."""

    A: Any
    b: Any


class Learner(NamedTuple):
    w: Any
    h: Any
    """The second weights; LSTD keeps its sums here."""
    tracker: Tracker
    optimizer: Any
    time: Any
    diverged_at: Any
    """Transition after which some weight was first infinite or NaN; -1 while none is."""


class Result(NamedTuple):
    curves: tuple[Any, ...]
    weights: Any
    second_weights: Any
    diverged_at: Any


class Transition(NamedTuple):
    now: Any
    next: Any
    reward: Any
    discount: Any
    carried: Any
    target: Any
    behavior: Any


def transitions(stream: Stream) -> Transition:
    return Transition(*(getattr(stream, name) for name in Transition._fields))


def learn(options: Options, hypers: Hypers, stream: Stream, w0: Array, metrics: tuple[Metric, ...]) -> Result:
    """One run of one setting: a scan over the points of the curve, each a scan over `every` transitions."""
    points = stream.now.shape[0] // options.every
    xs = jax.tree.map(lambda a: a.reshape(points, options.every), transitions(stream))

    def point(learner: Learner, xs: Transition):
        learner, _ = jax.lax.scan(lambda l, x: (update(options, hypers, stream, l, x), None), learner, xs)
        if options.algorithm.update == "least-squares":
            w = solve_sums(hypers, learner)
            bad = (learner.diverged_at < 0) & ~jnp.isfinite(w.sum())
            learner = learner._replace(w=w, diverged_at=jnp.where(bad, learner.time, learner.diverged_at))
        return learner, tuple(metric.at(learner.w) for metric in metrics)

    learner, curves = jax.lax.scan(point, start(options, stream, w0), xs)
    second = w0 * 0 if options.algorithm.update == "least-squares" else learner.h
    return Result(curves, learner.w, second, learner.diverged_at)


def start(options: Options, stream: Stream, w0: Array) -> Learner:
    h = jnp.zeros_like(w0)
    if options.algorithm.update == "least-squares":
        h = Sums(jnp.zeros((len(w0), len(w0))), h)
    optimizer = optax.scale_by_adam().init((w0, h)) if options.adam else None
    return Learner(w0, h, start_tracker(stream, w0), optimizer, jnp.zeros((), jnp.int32), jnp.full((), -1, jnp.int32))


def start_tracker(stream: Stream, w0: Array) -> Tracker:
    trace = Trace(jnp.zeros_like(w0), jnp.zeros(()), jnp.zeros(()))
    certain = Probabilities(jnp.ones(()), jnp.ones(()), stream.psi[0], stream.psi[1])
    return Tracker(trace, trace, jnp.zeros(()), certain)


def observe(options: Options, hypers: Hypers, stream: Stream, past: Tracker, t: Transition) -> tuple[Tracker, Step]:
    """Advance the traces to the present state, and gather what an update may use."""
    a = options.algorithm
    psi = (stream.psi[0], stream.psi[1])
    chosen, last = Probabilities(t.target, t.behavior, *psi), past.chosen
    rule = partial(action_lambda, a.bootstrapping, hypers.lam, c_bar=hypers.c_bar, xp=jnp)
    decay = hypers.followon_decay if a.decayed_followon else None
    x, arrival = stream.features[t.now], stream.lam[t.now]

    trace, emphasis = advance(
        past.trace, x, past.gamma, last.target / last.behavior, rule(last) * arrival, a.prior, decay, jnp
    )
    own = past.own
    if a.update == "hybrid":
        lam = rule(Probabilities(last.behavior, last.behavior, *psi)) * arrival
        own, _ = advance(past.own, x, past.gamma, 1.0, lam, a.prior, decay, jnp)
    rho = t.target / t.behavior
    step = Step(
        x=x,
        x_next=stream.features[t.next],
        reward=t.reward,
        gamma=t.discount,
        rho=jnp.minimum(rho, hypers.rho_bar) if a.bootstrapping == "v-trace" else rho,
        lam=rule(chosen) * stream.lam[t.next],
        e=trace.e,
        emphasis=emphasis,
        e_behavior=own.e,
    )
    return Tracker(trace, own, t.carried, chosen), step


def update(options: Options, hypers: Hypers, stream: Stream, l: Learner, t: Transition) -> Learner:
    """One transition: advance the trace, find the direction, move the weights."""
    tracker, step = observe(options, hypers, stream, l.tracker, t)
    if options.algorithm.update == "least-squares":
        return l._replace(h=add(l, step), tracker=tracker, time=l.time + 1)
    alpha = hypers.step_size
    if options.schedule:
        alpha = alpha * (1 + l.time / hypers.delay) ** -hypers.power
    w, h, optimizer = move(options, hypers, step, alpha, l)
    finite = jnp.isfinite(w.sum() + h.sum())
    diverged_at = jnp.where((l.diverged_at < 0) & ~finite, l.time + 1, l.diverged_at)
    return Learner(w, h, tracker, optimizer, l.time + 1, diverged_at)


def move(options: Options, hypers: Hypers, step: Step, alpha: Any, l: Learner) -> tuple[Any, Any, Any]:
    """Go along the algorithm's direction, or along the one that it finds half-way (mirror-prox)."""
    a = options.algorithm

    def direction(w: Array, h: Array) -> tuple[Array, Array]:
        d_w, d_h = DIRECTIONS[a.update](step, w, h)
        return d_w, d_h - hypers.beta * h if a.regularized else d_h

    def along(d_w: Array, d_h: Array) -> tuple[Array, Array]:
        return l.w + alpha * d_w, l.h + alpha * hypers.ratio * d_h if a.second_weights else l.h

    d_w, d_h = direction(l.w, l.h)
    optimizer = l.optimizer
    if a.mirror_prox:
        d_w, d_h = direction(*along(d_w, d_h))
    if options.adam:
        scaled: Any
        scaled, optimizer = optax.scale_by_adam().update((d_w, d_h), optimizer)
        d_w, d_h = scaled
    return *along(d_w, d_h), optimizer


def add(l: Learner, t: Step) -> Sums:
    """LSTD's means with one more transition."""
    A = t.rho * t.e[:, None] * (t.x - t.gamma * t.x_next)[None, :]
    b = t.rho * t.reward * t.e
    return Sums(*(old + (new - old) / (l.time + 1) for old, new in zip(l.h, (A, b), strict=True)))


def solve_sums(hypers: Hypers, l: Learner) -> Array:
    """(A + ridge / t)^-1 b: the ridge stands for `ridge` transitions' worth of doubt."""
    eye = jnp.eye(len(l.w))
    return jnp.linalg.solve(l.h.A + eye * hypers.ridge / jnp.maximum(l.time, 1), l.h.b)
