"""Learning by streams: from each transition once, when it happens, with traces and without a buffer.

What an agent says is the same as with replay, how outputs should move (`gpbe.algorithms.control.traces`); here that is
pulled back through the networks, added to the traces, and stepped along.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gpbe.algorithms.control import Action, Hypers
from gpbe.algorithms.control.maximum import hard_max, mellowmax
from gpbe.algorithms.control.traces import Streamed, Tracing
from gpbe.learn.control import scaling
from gpbe.learn.control.optimizers import optimizer_of
from gpbe.learn.control.state import Options, Outcome, Run, Shape


class Traces(NamedTuple):
    """What is carried from transition to transition."""

    z: Any
    """The trace of all weights, in their form: a tree of arrays, or one vector."""
    z_h: Any
    """The trace of h itself."""
    lasting: Any
    """What is kept of both: 0 if they were cut off, or if a new episode has begun."""


def tracing(options: Options) -> Tracing:
    """The agent, which `gpbe.learn.control.reading` has seen to have traces."""
    assert isinstance(options.agent, Tracing)
    return options.agent


def start(weights: Any) -> Traces:
    """No traces of anything."""
    return Traces(jax.tree.map(jnp.zeros_like, weights), jnp.zeros(()), jnp.zeros(()))


def learn(
    options: Options, shape: Shape, hypers: Hypers, observation: Array, action: Action, outcome: Outcome, run: Run
) -> tuple[Any, Any, Traces]:
    """Weights, the optimizer's state and traces after one transition."""
    agent = tracing(options)
    ends = outcome.terminated | (outcome.truncated if agent.time_limit == "end" else False)
    reward = scaling.paid_as(run.scaling, outcome.reward)
    t = Streamed(action.chosen, reward, hypers.gamma * (1 - ends), action.greedy)
    s, s_next = (scaling.seen_as(run.scaling, x.reshape(-1, 1)) for x in (observation, outcome.observation))
    return update(options, shape, hypers, run, s, s_next, t, outcome.terminated | outcome.truncated)


def update(
    options: Options, shape: Shape, hypers: Hypers, run: Run, s: Array, s_next: Array, t: Streamed, done: Array
) -> tuple[Any, Any, Traces]:
    """One transition: what it adds to the traces, and the step; the traces end where the episode does."""
    agent = tracing(options)

    def outputs(weights: Any) -> Any:
        out = agent.outputs(shape.networks(weights), None, s, s_next)
        return jax.tree.map(lambda x: x[..., 0], out)

    out, moved = jax.linearize(outputs, run.weights)

    def pulled_back(cotangents: Any) -> Any:
        """Pull cotangents of the outputs back to the weights; outputs whose cotangent is None are left out."""
        seen = [k for k, part in enumerate(cotangents) if part is not None]

        def those(weights: Any) -> list[Array]:
            each = moved(weights)  # once: each further call would be one more product with every layer
            return [each[k] for k in seen]

        return jax.linear_transpose(those, run.weights)([cotangents[k] for k in seen])[0]

    greedy = hard_max if options.hard else partial(mellowmax, tau=hypers.tau)
    z, z_h, lasting = run.traces
    traced = agent.traced(out, t, hypers, greedy, lasting * z_h)
    kept = lasting * traced.fade
    z = jax.tree.map(lambda z, new: kept * z + new, z, pulled_back(traced.eligible))
    gradient = jax.tree.map(lambda z: -traced.delta * z, z)
    if traced.directions is not None:
        gradient = jax.tree.map(jnp.subtract, gradient, pulled_back(traced.directions))
    second = marks(shape, run.weights)
    gradient = jax.tree.map(
        lambda g, mark, w: g + hypers.beta * mark * w if of(mark) else g, gradient, second, run.weights
    )
    change, optimizer = optimizer_of(options.learning).update(gradient, run.optimizer, run.weights)
    # All steps wait for the gradient of the first layer, which is the last to be known. The old weights are not needed
    # after it, and XLA writes the new ones over them; otherwise it would copy them first.
    known = jax.tree.leaves(gradient)[0].ravel()[0]
    alpha = agent.step_size(hypers, traced.delta, z) + 0 * known
    sizes = jax.tree.map(lambda mark: alpha * (1 + (hypers.ratio - 1) * mark) if of(mark) else alpha, second)
    weights = jax.tree.map(lambda w, size, g: w - size * g, run.weights, sizes, change)
    return weights, optimizer, Traces(z, traced.z_h, jnp.where(done, 0.0, traced.lasting))


def marks(shape: Shape, weights: Any) -> Any:
    """1 for the weights of h, 0 for others: in the form of the weights, but one number for an array of equal ones."""
    if shape.penalized is None:
        return jax.tree.map(lambda _: 0.0, weights)
    with jax.ensure_compile_time_eval():
        marked = shape.penalized if isinstance(weights, jax.Array) else shape.layout.unravel(shape.penalized)
        return jax.tree.map(lambda mark: float(mark.ravel()[0]) if mark.min() == mark.max() else mark, marked)


def of(mark: Any) -> bool:
    """Are there weights of h among those that are marked?"""
    return not (isinstance(mark, float) and mark == 0.0)
