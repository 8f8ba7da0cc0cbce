"""One compiled loop for control: act, store, update, measure."""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from gpbe.algorithms.control import Outputs, Sampled, gradient_correction
from gpbe.envs import CompiledEnv, Stepped
from gpbe.nets import Network
from gpbe.operators import hard_max, mellowmax
from gpbe.replay import draw_distinct


class Options(NamedTuple):
    """What the compiled program depends on."""

    corrected: bool
    hard: bool
    """Every setting has tau = 0, so that mellowmax need not be computed."""
    batch: int
    buffer: int
    every: int
    """Steps between records."""
    optimizer: str
    target_every: int
    """Updates between copies to the target network; 0 for none."""


class Hypers(NamedTuple):
    """Numbers that may be swept."""

    step_size: Any
    beta: Any
    tau: Any
    epsilon: Any
    epsilon_final: Any
    epsilon_steps: Any
    gamma: Any


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
    """The network's structure: weights are kept as one flat vector, which the optimizer likes."""

    unravel: Any
    static: Any

    def network(self, weights: Array) -> Network:
        return eqx.combine(self.unravel(weights), self.static)


def flatten(net: Network) -> tuple[Array, Shape]:
    arrays, static = eqx.partition(net, eqx.is_inexact_array)
    weights, unravel = ravel_pytree(arrays)
    return weights, Shape(unravel, static)


OPTIMIZERS = {
    "adam": lambda: optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
    "rmsprop": lambda: optax.scale_by_rms(decay=0.99, eps=1e-8),
    "sgd": optax.identity,
}


def start(options: Options, observation: Array, weights: Array, key: PRNGKeyArray) -> Run:
    """A run that has seen nothing but its first observation."""
    nan = jnp.full((), jnp.nan)
    return Run(
        key=key,
        weights=weights,
        optimizer=OPTIMIZERS[options.optimizer]().init(weights),
        target=weights if options.target_every else None,
        buffer=jnp.zeros((options.buffer, 2 * observation.size + 3)),
        episode=Episode(jnp.zeros(()), nan, nan, jnp.zeros((), bool)),
        diverged_at=jnp.full((), -1, jnp.int32),
    )


class Chance(NamedTuple):
    """The random numbers of one step, drawn for a whole stretch at once: that is most of their cost."""

    time: Any
    """Steps before this one. All runs share it, so the buffer's next row is one place, written in place."""
    explore: Any
    """Explore where this is below epsilon."""
    action: Any
    picks: Any
    """Positions of the mini-batch in the buffer."""


def draw_chances(options: Options, actions: int, hypers: Hypers, key: PRNGKeyArray, time: Array) -> Chance:
    key_explore, key_action, key_picks = jax.random.split(key, 3)
    times = time + jnp.arange(options.every)
    return Chance(
        time=times,
        explore=jax.random.uniform(key_explore, times.shape) < epsilon_at(hypers, times),
        action=jax.random.randint(key_action, times.shape, 0, actions),
        picks=draw_distinct(key_picks, jnp.minimum(times + 1, options.buffer), options.batch),
    )


def epsilon_at(hypers: Hypers, times: Array) -> Array:
    """From `epsilon` to `epsilon_final` along a line, over the first `epsilon_steps` steps."""
    part = jnp.minimum(times / jnp.maximum(hypers.epsilon_steps, 1), 1.0)
    return hypers.epsilon + part * (hypers.epsilon_final - hypers.epsilon)


def begin_stretch(options: Options, actions: int, hypers: Hypers, time: Array, run: Run) -> tuple[Run, Chance, Array]:
    """Draw a stretch's random numbers; also a key for the environment."""
    key, key_chances, key_env = jax.random.split(run.key, 3)
    chances = draw_chances(options, actions, hypers, key_chances, time)
    run = run._replace(key=key, episode=run.episode._replace(first=jnp.full((), jnp.nan)))
    return run, chances, key_env


def record(run: Run) -> Record:
    e = run.episode
    return Record(e.first, jnp.where(e.fresh, e.last, jnp.nan), e.last)


def stretch(
    options: Options, env: CompiledEnv, shape: Shape, hypers: Hypers, time: Array, place: Place, run: Run
) -> tuple[Place, Run, Record]:
    """`every` steps of one run in an environment that is compiled along."""
    run, chances, key_env = begin_stretch(options, env.actions, hypers, time, run)
    key_step, key_reset = jax.random.split(key_env)
    resets = jax.vmap(env.reset)(jax.random.split(key_reset, options.every))
    keys = jax.random.split(key_step, options.every)

    def step(carry, xs):
        (place, run), (chance, key, reset) = carry, xs
        action = act(shape, run.weights, place.observation, chance)
        stepped = env.step(key, place.state, action.chosen)
        run = learn(options, shape, hypers, place.observation, action, stepped, chance, run)
        done = stepped.terminated | stepped.truncated
        old = (stepped.observation, stepped.state)
        return (Place(*jax.tree.map(lambda a, b: jnp.where(done, a, b), reset, old)), run), None

    (place, run), _ = jax.lax.scan(step, (place, run), (chances, keys, resets))
    return place, run, record(run)


class Action(NamedTuple):
    chosen: Any
    finite: Any
    """Are the action values finite? If not, the weights are not either."""


def act(shape: Shape, weights: Array, observation: Array, chance: Chance) -> Action:
    """Epsilon-greedy."""
    net = shape.network(weights)
    q = net.q_head(net.features(observation[None]))[0]
    return Action(jnp.where(chance.explore, chance.action, q.argmax()), jnp.isfinite(q.sum()))


def learn(
    options: Options,
    shape: Shape,
    hypers: Hypers,
    observation: Array,
    action: Action,
    stepped: Stepped,
    chance: Chance,
    run: Run,
) -> Run:
    """Store one transition, and update from a mini-batch of stored ones."""
    discount = hypers.gamma * (1 - stepped.terminated)
    scalars = jnp.stack([action.chosen.astype(jnp.float32), stepped.reward, discount])
    row = jnp.concatenate([observation.ravel(), stepped.observation.ravel(), scalars])
    buffer = run.buffer.at[chance.time % options.buffer].set(row)
    batch = buffer[chance.picks]
    weights, optimizer, target = jax.lax.cond(
        chance.time + 1 >= options.batch,
        lambda: update(options, shape, hypers, observation.shape, run, batch, chance.time),
        lambda: (run.weights, run.optimizer, run.target),
    )
    episode = measure(run.episode, stepped.reward, stepped.terminated | stepped.truncated)
    bad = (run.diverged_at < 0) & ~action.finite
    diverged_at = jnp.where(bad, chance.time, run.diverged_at)
    return Run(run.key, weights, optimizer, target, buffer, episode, diverged_at)


def update(
    options: Options, shape: Shape, hypers: Hypers, observation: tuple[int, ...], run: Run, batch: Array, time: Array
):
    """One mini-batch: the mean of the directions, pulled back through the network, and the optimizer's step."""
    b, size = options.batch, (batch.shape[1] - 3) // 2
    both = jnp.concatenate([batch[:, :size], batch[:, size : 2 * size]]).reshape(2 * b, *observation)
    sampled = Sampled(batch[:, -3].astype(jnp.int32), batch[:, -2], batch[:, -1])

    def outputs(weights: Array) -> tuple[Array, Array]:
        net = shape.network(weights)
        x = net.features(both)  # one pass over [s; s']
        return net.q_head(x), net.h_head(jax.lax.stop_gradient(x[:b]))

    (q, h), pull_back = jax.vjp(outputs, run.weights)
    q_next = q[b:]
    if options.target_every:
        net = shape.network(run.target)
        q_next = net.q_head(net.features(both[b:]))
    operator = hard_max if options.hard else partial(mellowmax, tau=hypers.tau)
    directions = jax.vmap(partial(gradient_correction, operator=operator, corrected=options.corrected))(
        Outputs(q[:b], q_next, h), sampled
    )
    later = directions.q_next if not options.target_every else 0 * directions.q_next
    (gradient,) = pull_back((-jnp.concatenate([directions.q, later]) / b, -directions.h / b))
    if options.corrected:
        gradient = gradient + hypers.beta * only_h(shape, run.weights)
    change, optimizer = OPTIMIZERS[options.optimizer]().update(gradient, run.optimizer, run.weights)
    weights = run.weights - hypers.step_size * change
    target = run.target
    if options.target_every:
        target = jnp.where((time + 1) % options.target_every == 0, weights, target)
    return weights, optimizer, target


def only_h(shape: Shape, weights: Array) -> Array:
    """The weights with all but those of the head for h set to 0: the gradient of its penalty."""
    arrays = shape.unravel(weights)
    zero = jax.tree.map(jnp.zeros_like, arrays)
    flat, _ = ravel_pytree(eqx.tree_at(lambda n: n.h_head, zero, arrays.h_head))
    return flat


def measure(e: Episode, reward: Array, done: Array) -> Episode:
    total = e.so_far + reward
    first = jnp.where(done & jnp.isnan(e.first), total, e.first)
    return Episode(jnp.where(done, 0.0, total), first, jnp.where(done, total, e.last), done)
