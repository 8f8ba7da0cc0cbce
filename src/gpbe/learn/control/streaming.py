"""Learning by streams: from each transition once, when it happens, with traces and without a buffer.

What an agent says is the same as with replay, how outputs should move (`gpbe.algorithms.control.traces`); here that is
pulled back through the networks, added to the traces, and stepped along.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.algorithms.control import Action, Hypers
from gpbe.algorithms.control.maximum import hard_max, mellowmax
from gpbe.algorithms.control.traces import Streamed, Traced, Tracing
from gpbe.learn.control import scaling
from gpbe.learn.control.optimizers import optimizer_of
from gpbe.learn.control.state import Options, Outcome, Run, Shape


class Traces(NamedTuple):
    """What is carried from transition to transition."""

    z: Float[Array, " P"]
    """Of all weights."""
    z_h: Any
    """Of h itself."""
    lasting: Any
    """What is kept of both: 0 if they were cut off, or if a new episode has begun."""


def start(weights: Float[Array, " P"]) -> Traces:
    """No traces of anything."""
    return Traces(jnp.zeros_like(weights), jnp.zeros(()), jnp.zeros(()))


def learn(
    options: Options, shape: Shape, hypers: Hypers, observation: Array, action: Action, outcome: Outcome, run: Run
) -> tuple[Array, Any, Traces]:
    """Weights, the optimizer's state and traces after one transition."""
    agent: Any = options.agent
    ends = outcome.terminated | (outcome.truncated if agent.time_limit == "end" else False)
    reward = scaling.paid_as(run.scaling, outcome.reward)
    t = Streamed(action.chosen, reward, hypers.gamma * (1 - ends), action.greedy)
    pair = [scaling.seen_as(run.scaling, x.reshape(-1, 1)) for x in (observation, outcome.observation)]
    done = outcome.terminated | outcome.truncated
    return update(options, shape, hypers, run, *pair, t, done)


def update(
    options: Options, shape: Shape, hypers: Hypers, run: Run, s: Array, s_next: Array, t: Streamed, done: Array
) -> tuple[Array, Any, Traces]:
    """One transition: what it adds to the traces, and the step; the traces end where the episode does."""
    agent: Any = options.agent
    assert isinstance(agent, Tracing)

    def outputs(weights: Array) -> Any:
        out = agent.outputs(shape.layout.tree(weights), None, s, s_next)
        return jax.tree.map(lambda x: x[..., 0], out)

    out, pull_back = jax.vjp(outputs, run.weights)
    greedy = hard_max if options.hard else partial(mellowmax, tau=hypers.tau)
    z, z_h, lasting = run.traces
    traced: Traced = agent.traced(out, t, hypers, greedy, lasting * z_h)
    z = (lasting * traced.fade) * z + pull_back(traced.eligible)[0]
    gradient = -traced.delta * z
    if traced.directions is not None:
        gradient = gradient - pull_back(traced.directions)[0]
    if shape.penalized is not None:
        gradient = gradient + hypers.beta * shape.penalized * run.weights
    change, optimizer = optimizer_of(options.learning).update(gradient, run.optimizer, run.weights)
    step_size = agent.step_size(hypers, traced.delta, z)
    if shape.penalized is not None:
        step_size = step_size * (1 + (hypers.ratio - 1) * shape.penalized)
    kept = jnp.where(done, 0.0, traced.lasting)
    return run.weights - step_size * change, optimizer, Traces(z, traced.z_h, kept)
