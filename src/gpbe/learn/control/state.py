"""What a run of control is: what its program depends on, its state, and what is recorded of it."""

from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control import Agent, Spec
from gpbe.learn.control.learning import Learning
from gpbe.nets import Layout, flat, layout_of


class Options(NamedTuple):
    """What the compiled program depends on, besides the environment."""

    agent: Agent
    spec: Spec
    learning: Learning
    hard: bool
    """Every setting has tau = 0, so that mellowmax need not be computed."""


class Episode(NamedTuple):
    """The returns of a run's episodes, as far as its record needs them."""

    so_far: Any
    """Return of the present episode."""
    first: Any
    """Return of the first episode to end since the last record; NaN if none has."""
    last: Any
    """Return of the last episode to end; NaN before the first."""
    fresh: Any
    """Did the latest step end an episode?"""


class Run(NamedTuple):
    """Everything that a run is: it can be stopped, stored and continued from this."""

    key: Any
    weights: Any
    optimizer: Any
    target: Any
    buffer: Any
    """None where nothing is replayed."""
    episode: Episode
    diverged_at: Any
    traces: Any = None
    """None where transitions are replayed (see `gpbe.learn.control.streaming`)."""
    scaling: Any = None
    """None unless observations or rewards are normalized (see `gpbe.learn.control.scaling`)."""


class Place(NamedTuple):
    """Where a run is in its environment."""

    observation: Any
    state: Any


class Record(NamedTuple):
    """What is recorded of one stretch of `every` steps."""

    first: Any
    at_end: Any
    """Return of the episode that ended exactly with the stretch; NaN if none did."""
    last: Any


class Outcome(NamedTuple):
    """The outcome of an action."""

    observation: Any
    """The one that was reached, also where the episode ends with it."""
    reward: Any
    terminated: Any
    truncated: Any


class Shape(NamedTuple):
    """How the weights make the agent's networks, and which of them are special."""

    layout: Layout
    penalized: Float[Array, " P"] | None
    """1 for each weight that beta penalizes; None if there are none."""
    actor: Float[Array, " P"] | None
    """1 for each weight of a policy; None if there are none."""
    size: int
    """How many weights there are."""

    def networks(self, weights: Any) -> Any:
        """The agent's networks with these weights, which are one vector or a tree of arrays."""
        vector = isinstance(weights, jax.Array)
        return self.layout.tree(weights) if vector else eqx.combine(weights, self.layout.static)


@cache
def shape_of(agent: Agent, spec: Spec) -> Shape:
    """Found by one compiled call that draws no weights; made step by step, networks would take seconds to compile."""

    def shape(key: PRNGKeyArray) -> tuple[Layout, Array, Array]:
        params = agent.start(spec, key)
        return layout_of(params), flat(agent.penalized(params)), flat(agent.actor(params))

    layout, *masks = eqx.filter_jit(shape)(jax.random.key(0))
    return Shape(layout, *(mask if np.asarray(mask).any() else None for mask in masks), size=masks[0].size)


def first_weights(options: Options, key: PRNGKeyArray) -> Any:
    """Weights that nothing was learned by: for mini-batches one vector, which their optimizers like better; for streams
    a tree of arrays, since large networks would take most of their time to copy parts of a vector.
    """
    params = options.agent.start(options.spec, key)
    return flat(params) if options.learning.replay else eqx.filter(params, eqx.is_inexact_array)


def measure(e: Episode, reward: Array, done: Array) -> Episode:
    total = e.so_far + reward
    first = jnp.where(done & jnp.isnan(e.first), total, e.first)
    return Episode(jnp.where(done, 0.0, total), first, jnp.where(done, total, e.last), done)
