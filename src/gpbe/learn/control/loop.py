"""One compiled loop for control: act, store, update, measure."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control import Action, Agent, Choice, Hypers, Sampled, Spec
from gpbe.algorithms.control.maximum import hard_max, mellowmax
from gpbe.envs import CompiledEnv
from gpbe.learn.control.learning import Learning
from gpbe.learn.replay import draw_distinct
from gpbe.nets import Layout, flat, layout_of


class Options(NamedTuple):
    """What the compiled program depends on, besides the environment."""

    agent: Agent
    spec: Spec
    learning: Learning
    hard: bool
    """Every setting has tau = 0, so that mellowmax need not be computed."""


class Episode(NamedTuple):
    """What the record needs to know of returns."""

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
    episode: Episode
    diverged_at: Any


class Place(NamedTuple):
    """Where a run is in its environment."""

    observation: Any
    state: Any


class Record(NamedTuple):
    """Of one stretch of `every` steps."""

    first: Any
    at_end: Any
    """Return of the episode that ended exactly with the stretch; NaN if none did."""
    last: Any


class Shape(NamedTuple):
    """How the weights make the agent's networks, and which of them are special."""

    layout: Layout
    penalized: Float[Array, " P"] | None
    """1 for each weight that beta penalizes; None if there are none."""
    actor: Float[Array, " P"] | None
    """1 for each weight of a policy; None if there are none."""


@cache
def shape_of(agent: Agent, spec: Spec) -> Shape:
    """Found by one compiled call that draws no weights; made step by step, networks would take seconds to compile."""

    def shape(key: PRNGKeyArray) -> Shape:
        params = agent.start(spec, key)
        return Shape(layout_of(params), flat(agent.penalized(params)), flat(agent.actor(params)))

    layout, *masks = eqx.filter_jit(shape)(jax.random.key(0))
    return Shape(layout, *(mask if np.any(mask) else None for mask in masks))


OPTIMIZERS: Mapping[str, Callable[[], optax.GradientTransformation]] = {
    "adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
    "rmsprop": lambda: optax.scale_by_rms(decay=0.99, eps=1e-8),
    "sgd": optax.identity,
}


def start(options: Options, observation: Array, weights: Array, key: PRNGKeyArray) -> Run:
    """A run that has seen nothing but its first observation."""
    learning = options.learning
    nan = jnp.float32(jnp.nan)  # typed, so that the program need not be compiled again for what it returns
    return Run(
        key=key,
        weights=weights,
        optimizer=OPTIMIZERS[learning.optimizer]().init(weights),
        target=weights if learning.target_every else None,
        buffer=jnp.zeros((learning.buffer, 2 * observation.size + len(Sampled._fields))),
        episode=Episode(jnp.zeros(()), nan, nan, jnp.zeros((), bool)),
        diverged_at=jnp.full((), -1, jnp.int32),
    )


class Chance(NamedTuple):
    """The random numbers of one step, drawn for a whole stretch at once: that is most of their cost."""

    time: Any
    """Steps before this one: not drawn, but put in for the loop. All runs share it, so the buffer's next row is one
    place, written in place."""
    epsilon: Any
    choice: Choice
    picks: Any
    """Positions of the mini-batch in the buffer."""


class Chances(NamedTuple):
    """What is random in a stretch, in an environment that is compiled along."""

    steps: Chance
    keys: Any
    """Of the environment's steps."""
    resets: Any
    """Where a step that ends an episode leads to."""


def draw(
    learning: Learning, hypers: Hypers, time: Array, key: PRNGKeyArray
) -> tuple[PRNGKeyArray, Chance, PRNGKeyArray]:
    """A key for later, the random numbers of a stretch, and a key for the environment.

    They depend on no algorithm, and take half of the time to compile: a program of their own serves all algorithms.
    """
    key, key_chances, key_env = jax.random.split(key, 3)
    key_explore, key_action, key_picks = jax.random.split(key_chances, 3)
    times = time + jnp.arange(learning.every)
    epsilon = epsilon_at(hypers, times)
    explore = jax.random.uniform(key_explore, times.shape) < epsilon
    chance = Chance(
        time=None,
        epsilon=epsilon,
        choice=Choice(explore, jax.random.uniform(key_action, times.shape)),
        picks=draw_distinct(key_picks, jnp.minimum(times + 1, learning.buffer), learning.batch),
    )
    return key, chance, key_env


def draw_in(
    env: CompiledEnv, learning: Learning, hypers: Hypers, time: Array, key: PRNGKeyArray
) -> tuple[PRNGKeyArray, Chances]:
    """A key for later, and a stretch's chances in an environment."""
    key, steps, key_env = draw(learning, hypers, time, key)
    key_step, key_reset = jax.random.split(key_env)
    resets = jax.vmap(env.reset)(jax.random.split(key_reset, learning.every))
    return key, Chances(steps, jax.random.split(key_step, learning.every), resets)


def epsilon_at(hypers: Hypers, times: Array) -> Array:
    """From `epsilon` to `epsilon_final` along a line, over the first `epsilon_steps` steps."""
    part = jnp.minimum(times / jnp.maximum(hypers.epsilon_steps, 1), 1.0)
    return hypers.epsilon + part * (hypers.epsilon_final - hypers.epsilon)


def begin_stretch(run: Run) -> Run:
    """No episode has ended in it yet."""
    return run._replace(episode=run.episode._replace(first=jnp.float32(jnp.nan)))


def end_stretch(options: Options, time: Array, run: Run) -> tuple[Run, Record]:
    """What happened; also a look at all weights, since actions do not depend on all of them."""
    e = run.episode
    bad = (run.diverged_at < 0) & ~jnp.isfinite(run.weights).all()
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
        action = act(options, shape, run.weights, place.observation, chance)
        stepped = env.step(key, place.state, action.chosen)
        outcome = Outcome(stepped.observation, stepped.reward, stepped.terminated, stepped.truncated)
        run = learn(options, shape, hypers, place.observation, action, outcome, chance, run)
        done = stepped.terminated | stepped.truncated
        old = (stepped.observation, stepped.state)
        return (Place(*jax.tree.map(lambda a, b: jnp.where(done, a, b), reset, old)), run), None

    (place, run), _ = jax.lax.scan(step, (place, begin_stretch(run)), (steps, chances.keys, chances.resets))
    return place, *end_stretch(options, time, run)


def act(options: Options, shape: Shape, weights: Array, observation: Array, chance: Chance) -> Action:
    preferences = options.agent.preferences(shape.layout.tree(weights), observation.reshape(-1, 1))[:, 0]
    return options.agent.act(preferences, chance.choice, chance.epsilon)


class Outcome(NamedTuple):
    """Of an action."""

    observation: Any
    """The one that was reached, also where the episode ends with it."""
    reward: Any
    terminated: Any
    truncated: Any


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
    """Store one transition, and update from a mini-batch of stored ones."""
    discount = hypers.gamma * (1 - outcome.terminated)
    scalars = Sampled(action.chosen.astype(jnp.float32), outcome.reward, discount, action.probability)
    row = jnp.concatenate([observation.ravel(), outcome.observation.ravel(), jnp.stack(scalars)])
    buffer = run.buffer.at[chance.time % options.learning.buffer].set(row)
    batch = buffer[chance.picks]
    present = hypers._replace(epsilon=chance.epsilon)
    weights, optimizer, target = jax.lax.cond(
        chance.time + 1 >= options.learning.batch,
        lambda: update(options, shape, present, run, batch, chance.time),
        lambda: (run.weights, run.optimizer, run.target),
    )
    episode = measure(run.episode, outcome.reward, outcome.terminated | outcome.truncated)
    bad = (run.diverged_at < 0) & ~action.finite
    diverged_at = jnp.where(bad, chance.time, run.diverged_at)
    return Run(run.key, weights, optimizer, target, buffer, episode, diverged_at)


def update(
    options: Options, shape: Shape, hypers: Hypers, run: Run, batch: Array, time: Array
) -> tuple[Array, Any, Array | None]:
    """One mini-batch: the mean of the directions, pulled back through the networks, and the optimizer's step."""
    agent, learning, columns = options.agent, options.learning, batch.T
    size = (columns.shape[0] - len(Sampled._fields)) // 2
    action, *others = columns[2 * size :]
    sampled = Sampled(action.astype(jnp.int32), *others)
    target = shape.layout.tree(run.target) if learning.target_every else None

    def outputs(weights: Array) -> Any:
        return agent.outputs(shape.layout.tree(weights), target, columns[:size], columns[size : 2 * size])

    out, pull_back = jax.vjp(outputs, run.weights)
    greedy = hard_max if options.hard else partial(mellowmax, tau=hypers.tau)
    directions = jax.vmap(lambda o, t: agent.directions(o, t, hypers, greedy), -1, -1)(out, sampled)
    (gradient,) = pull_back(jax.tree.map(lambda d: -d / learning.batch, directions))
    if shape.penalized is not None:
        gradient = gradient + hypers.beta * shape.penalized * run.weights
    change, optimizer = OPTIMIZERS[learning.optimizer]().update(gradient, run.optimizer, run.weights)
    step_size = hypers.step_size
    if shape.actor is not None:
        step_size = step_size * (1 + (hypers.nu - 1) * shape.actor)
    weights = run.weights - step_size * change
    copied = run.target
    if learning.target_every:
        copied = jnp.where((time + 1) % learning.target_every == 0, weights, copied)
    return weights, optimizer, copied


def measure(e: Episode, reward: Array, done: Array) -> Episode:
    total = e.so_far + reward
    first = jnp.where(done & jnp.isnan(e.first), total, e.first)
    return Episode(jnp.where(done, 0.0, total), first, jnp.where(done, total, e.last), done)
