"""Transitions of a run, and the traces that are carried along them."""

from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gpbe.algorithms.linear import Algorithm, Hypers, Probabilities, Step, Trace, action_lambda, advance


class Stream(NamedTuple):
    """Transitions of one run, in the order in which they happened. Feature vectors are rows of a table."""

    features: Float[Array, "N K"]
    lam: Float[Array, " N"]
    """Multiplies the setting's trace parameter on arrival in each row: 1 unless it depends on the state."""
    now: Int[Array, " T"]
    next: Int[Array, " T"]
    reward: Float[Array, " T"]
    discount: Float[Array, " T"]
    """The discount of the transition itself; 0 ends an episode."""
    carried: Float[Array, " T"]
    """The discount with which traces go on from here: the same, or 0 if the next transition begins elsewhere."""
    target: Float[Array, " T"]
    """Probability of the action taken, under the target policy."""
    behavior: Float[Array, " T"]
    psi: Float[Array, " 2"]
    """Scales of AB-Trace."""


class Transition(NamedTuple):
    """One transition of a stream, or all of them; its fields are those of a stream that differ between runs."""

    now: Int[Array, ""]
    next: Int[Array, ""]
    reward: Float[Array, ""]
    discount: Float[Array, ""]
    carried: Float[Array, ""]
    target: Float[Array, ""]
    behavior: Float[Array, ""]


class Tracker(NamedTuple):
    """What traces need to know of the past."""

    trace: Trace
    own: Trace
    """The trace as it would be if the target were the behavior; for HTD."""
    gamma: Float[Array, ""]
    """Discount of the transition into the present state: 0 at the start of an episode."""
    chosen: Probabilities
    """The probability of the last action."""


def transitions(stream: Stream) -> Transition:
    """All transitions of a stream."""
    return Transition(*(getattr(stream, name) for name in Transition._fields))


def start_tracker(stream: Stream, w0: Float[Array, " K"]) -> Tracker:
    """The traces before the first transition."""
    trace = Trace(jnp.zeros_like(w0), jnp.zeros(()), jnp.zeros(()))
    certain = Probabilities(jnp.ones(()), jnp.ones(()), stream.psi[0], stream.psi[1])
    return Tracker(trace, trace, jnp.zeros(()), certain)


def observe(a: Algorithm, hypers: Hypers, stream: Stream, past: Tracker, t: Transition) -> tuple[Tracker, Step]:
    """Advance the traces to the present state, and gather what an update may use."""
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
