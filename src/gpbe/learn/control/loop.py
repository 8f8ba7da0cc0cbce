"""One compiled loop for control: act, store, update, measure."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from gpbe.algorithms.control import Action, Hypers, Sampled, Streamed, Tracing
from gpbe.algorithms.control.maximum import Greedy, hard_max, mellowmax
from gpbe.envs import CompiledEnv
from gpbe.learn.control import forward, scaling, streaming
from gpbe.learn.control.chances import Chance, Chances
from gpbe.learn.control.optimizers import optimizer_of
from gpbe.learn.control.state import Episode, Options, Outcome, Place, Record, Run, Shape, measure, shape_of

__all__ = ["Options", "Outcome", "Place", "Record", "Run", "act", "learn", "shape_of", "start", "stretch", "update"]


def start(options: Options, observation: Array, weights: Any, key: PRNGKeyArray) -> Run:
    """A run that has seen nothing but its first observation."""
    learning = options.learning
    nan = jnp.float32(jnp.nan)  # typed, so that the program need not be compiled again for what it returns
    return Run(
        key=key,
        weights=weights,
        optimizer=optimizer_of(learning).init(weights),
        target=weights if learning.target_every else None,
        buffer=jnp.zeros((learning.buffer, 2 * observation.size + numbers_in(options))) if learning.replay else None,
        episode=Episode(jnp.zeros(()), nan, nan, jnp.zeros((), bool)),
        diverged_at=jnp.full((), -1, jnp.int32),
        traces=None if learning.replay else streaming.start(weights),
        scaling=scaling.start(learning, observation.size),
    )


def numbers_in(options: Options) -> int:
    """How many numbers are stored of a transition besides its observations."""
    return len(Sampled._fields) + (forward.MORE if isinstance(options.agent, Tracing) else 0)


def begin_stretch(run: Run) -> Run:
    """No episode has ended in it yet."""
    return run._replace(episode=run.episode._replace(first=jnp.float32(jnp.nan)))


def end_stretch(options: Options, time: Array, run: Run) -> tuple[Run, Record]:
    """Read the record off a run, and check all of its weights for infinity and NaN: not all of them affect actions."""
    e = run.episode
    finite = [jnp.isfinite(part).all() for part in jax.tree.leaves(run.weights)]
    bad = (run.diverged_at < 0) & ~jnp.stack(finite).all()
    run = run._replace(diverged_at=jnp.where(bad, time + options.learning.every, run.diverged_at))
    return run, Record(e.first, jnp.where(e.fresh, e.last, jnp.nan), e.last)


def stretch(
    options: Options,
    env: CompiledEnv,
    shape: Shape,
    hypers: Hypers,
    time: Array,
    chances: Chances,
    place: Place,
    run: Run,
) -> tuple[Place, Run, Record]:
    """`every` steps of one run in an environment that is compiled along."""
    steps = chances.steps._replace(time=time + jnp.arange(options.learning.every))

    def step(carry: Any, xs: Any) -> tuple[Any, None]:
        (place, run), (chance, key, reset) = carry, xs
        action = act(options, shape, run, place.observation, chance)
        stepped = env.step(key, place.state, action.chosen)
        outcome = Outcome(stepped.observation, stepped.reward, stepped.terminated, stepped.truncated)
        run = learn(options, shape, hypers, place.observation, action, outcome, chance, run)
        done = stepped.terminated | stepped.truncated
        old = (stepped.observation, stepped.state)
        return (Place(*jax.tree.map(lambda a, b: jnp.where(done, a, b), reset, old)), run), None

    (place, run), _ = jax.lax.scan(step, (place, begin_stretch(run)), (steps, chances.keys, chances.resets))
    return place, *end_stretch(options, time, run)


def act(options: Options, shape: Shape, run: Run, observation: Array, chance: Chance) -> Action:
    seen = scaling.seen_as(scaling.shown(run.scaling, observation.ravel()), observation.reshape(-1, 1))
    preferences = options.agent.preferences(shape.networks(run.weights), seen)[:, 0]
    return options.agent.act(preferences, chance.choice, chance.epsilon)


def learn(
    options: Options,
    shape: Shape,
    hypers: Hypers,
    observation: Array,
    action: Action,
    outcome: Outcome,
    chance: Chance,
    run: Run,
) -> Run:
    """Learn from one transition as it happens, or store it and learn from a mini-batch of stored ones."""
    present, done = hypers._replace(epsilon=chance.epsilon), outcome.terminated | outcome.truncated
    counted = scaling.see(run.scaling, observation.ravel(), outcome.reward, hypers.gamma, done)
    run = run._replace(scaling=scaling.shown(counted, outcome.observation.ravel()))
    if options.learning.replay:
        run = replay(options, shape, present, observation, action, outcome, chance, run)
    else:
        learned = streaming.learn(options, shape, present, observation, action, outcome, run)
        run = run._replace(weights=learned[0], optimizer=learned[1], traces=learned[2])
    bad = (run.diverged_at < 0) & ~action.finite
    return run._replace(
        scaling=counted,
        episode=measure(run.episode, outcome.reward, done),
        diverged_at=jnp.where(bad, chance.time, run.diverged_at),
    )


def replay(
    options: Options,
    shape: Shape,
    hypers: Hypers,
    observation: Array,
    action: Action,
    outcome: Outcome,
    chance: Chance,
    run: Run,
) -> Run:
    """Store one transition, and update from a mini-batch of stored ones."""
    agent, ends = options.agent, outcome.terminated
    if isinstance(agent, Tracing) and agent.time_limit == "end":
        ends = ends | outcome.truncated
    scalars = (action.chosen.astype(jnp.float32), outcome.reward, hypers.gamma * (1 - ends), action.probability)
    if isinstance(agent, Tracing):
        done = outcome.terminated | outcome.truncated
        scalars = (*scalars, action.greedy.astype(jnp.float32), done.astype(jnp.float32))
    row = jnp.concatenate([observation.ravel(), outcome.observation.ravel(), jnp.stack(scalars)])
    buffer = run.buffer.at[chance.time % options.learning.buffer].set(row)
    batch = buffer[chance.picks]
    weights, optimizer, target = jax.lax.cond(
        chance.time + 1 >= options.learning.batch,
        lambda: update(options, shape, hypers, run, batch, chance.time),
        lambda: (run.weights, run.optimizer, run.target),
    )
    return run._replace(weights=weights, optimizer=optimizer, target=target, buffer=buffer)


def read_rows(options: Options, run: Run, rows: Array) -> tuple[Array, Array, Sampled, list[Array]]:
    """Stored transitions as networks see them: S, S', the rest, and what is stored for traces besides."""
    columns = rows.T
    size = (columns.shape[0] - numbers_in(options)) // 2
    action, reward, discount, probability, *more = columns[2 * size :]
    action, reward = action.astype(jnp.int32), scaling.paid_as(run.scaling, reward)
    s, s_next = (scaling.seen_as(run.scaling, x) for x in (columns[:size], columns[size : 2 * size]))
    return s, s_next, Sampled(action, reward, discount, probability), more


def maximum(options: Options, hypers: Hypers) -> Callable[[Array], Greedy]:
    """The maximum over actions: hard, or soft where a setting has a temperature."""
    return hard_max if options.hard else partial(mellowmax, tau=hypers.tau)


def update(
    options: Options, shape: Shape, hypers: Hypers, run: Run, batch: Array, time: Array
) -> tuple[Array, Any, Array | None]:
    """One mini-batch: the mean of the directions, pulled back through the networks, and the optimizer's step."""
    agent, learning = options.agent, options.learning
    s, s_next, sampled, more = read_rows(options, run, batch)
    target = shape.networks(run.target) if learning.target_every else None

    def outputs(weights: Array) -> Any:
        return agent.outputs(shape.networks(weights), target, s, s_next)

    out, pull_back = jax.vjp(outputs, run.weights)
    greedy = maximum(options, hypers)
    if isinstance(agent, Tracing):
        t, done = Streamed(*sampled[:3], more[0] > 0), more[1]
        directions = forward.directions(agent, out, t, done, learning.length, hypers, greedy)
    else:
        directions = jax.vmap(lambda o, t: agent.directions(o, t, hypers, greedy), -1, -1)(out, sampled)
    (gradient,) = pull_back(jax.tree.map(lambda d: -d / learning.batch, directions))
    if shape.penalized is not None:
        gradient = gradient + hypers.beta * shape.penalized * run.weights
    change, optimizer = optimizer_of(learning).update(gradient, run.optimizer, run.weights)
    step_size = hypers.step_size
    if shape.actor is not None:
        step_size = step_size * (1 + (hypers.nu - 1) * shape.actor)
    if isinstance(agent, Tracing) and shape.penalized is not None:
        step_size = step_size * (1 + (hypers.ratio - 1) * shape.penalized)
    weights = run.weights - step_size * change
    copied = run.target
    if learning.target_every:
        copied = jnp.where((time + 1) % learning.target_every == 0, weights, copied)
    return weights, optimizer, copied
