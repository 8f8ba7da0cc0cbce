"""What is wrong with an agent's values while it learns, measured on stored transitions.

This is a program of its own, run between two stretches: the one that learns is the same with it and without, and so is
what it learns, to the last bit.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from gpbe.algorithms.control import Hypers, Measurable
from gpbe.errors import InputError
from gpbe.learn.control import loop
from gpbe.learn.control.chances import epsilon_at
from gpbe.learn.control.state import Options, Run, shape_of
from gpbe.learn.grouping import remembered

MOST = 512
"""Transitions that are measured on: as much to compute as about ten updates of 32, and an error of some percent."""


class Measured(NamedTuple):
    """Errors of an agent's values, over transitions spread evenly over its buffer; one number for each lane."""

    delta: Any
    """Root mean square of the TD error."""
    h: Any
    """Root mean square of h(S, A), the estimate of the TD error's mean; 0 if none is learned."""
    loss: Any
    """Mean of 2 delta h - h^2, the saddlepoint form of the generalized PBE, from below; without h that of delta^2, the
    squared TD error."""


def check_measurable(options: Options) -> None:
    """Refuse to measure where there is nothing to measure by, or on."""
    if not isinstance(options.agent, Measurable):
        raise InputError("measure needs an agent that tells its errors (gpbe.algorithms.control.Measurable)")
    if not options.learning.replay:
        raise InputError("measure needs stored transitions, which traces have none of; leave it out, or replay=True")


def measure(options: Options, hypers: Hypers, time: int, run: Run) -> Measured:
    """The measures of lanes after so many steps."""
    found = _program(options)(hypers, np.int32(time), run._replace(key=None, optimizer=None))
    return Measured(*(np.asarray(x, float) for x in found))


@remembered
def _program(options: Options) -> Any:
    agent, shape = options.agent, shape_of(options.agent, options.spec)
    assert isinstance(agent, Measurable)

    def lane(hypers: Hypers, time: Array, run: Run) -> Measured:
        rows = min(MOST, options.learning.buffer)
        stored = jnp.minimum(time, options.learning.buffer)
        spread = (jnp.arange(rows) * (stored / rows)).astype(jnp.int32)
        s, s_next, sampled, _ = loop.read_rows(options, run, run.buffer[spread])
        target = shape.networks(run.target) if options.learning.target_every else None
        out = options.agent.outputs(shape.networks(run.weights), target, s, s_next)
        present, greedy = hypers._replace(epsilon=epsilon_at(hypers, time)), loop.maximum(options, hypers)
        delta, h = jax.vmap(lambda o, t: agent.errors(o, t, present, greedy), -1, -1)(out, sampled)
        squared = jnp.square(delta).mean()
        if h is None:
            return Measured(jnp.sqrt(squared), jnp.zeros(()), squared)
        return Measured(jnp.sqrt(squared), jnp.sqrt(jnp.square(h).mean()), (2 * delta * h - jnp.square(h)).mean())

    return jax.jit(jax.vmap(lane, in_axes=(0, None, 0)))
