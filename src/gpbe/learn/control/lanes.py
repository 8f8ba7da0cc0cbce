"""Runs side by side: lanes of one compiled program, each a run of a setting, driven through an environment."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from gpbe.algorithms.control import Action, Hypers
from gpbe.envs import CompiledEnv, HostEnv, HostEnvs
from gpbe.learn.control import chances, loop
from gpbe.learn.control.chances import Chance
from gpbe.learn.control.checkpoint import Checkpoint
from gpbe.learn.control.learning import Learning
from gpbe.learn.control.returns import returns_at_records
from gpbe.learn.control.scaling import deviation
from gpbe.learn.control.state import Options, Outcome, Place, Record, Run, first_weights, shape_of
from gpbe.learn.grouping import group_size, padded_groups, remembered

_compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1})
"""Half the time to compile of XLA's own level, 3, and the same speed: what is slow in a program is in its products."""


class State(NamedTuple):
    """State of all lanes between two stretches; enough to go on from."""

    place: Any
    """Where the run is: in a compiled environment a `Place`; on the host, what `HostEnvs.restore` asks for."""
    run: Run


class _Keys(NamedTuple):
    """The keys of a lane: for its networks, its environment and its learning."""

    net: Any
    env: Any
    run: Any


class Lanes:
    """A group of lanes in a compiled environment."""

    def __init__(self, options: Options, env: CompiledEnv, hypers: Hypers, seeds: Any):
        self._draw = _draw_program(options.learning, env)
        self._begin, self._stretch = _programs(options, env)
        self._hypers, self._seeds = hypers, seeds

    def begin(self) -> State:
        return State(*self._begin(self._seeds))

    def stretch(self, time: int, state: State) -> tuple[State, Record]:
        (place, run), now = state, np.int32(time)
        key, drawn = self._draw(self._hypers, now, run.key)
        place, run, record = self._stretch(self._hypers, now, drawn, place, run._replace(key=None))
        return State(place, run._replace(key=key)), jax.tree.map(np.asarray, record)

    def close(self) -> None:
        pass


@remembered
def _draw_program(learning: Learning, env: CompiledEnv) -> Any:
    return _compiled(jax.vmap(partial(chances.draw_in, env, learning), in_axes=(0, None, 0)))


@remembered
def _programs(options: Options, env: CompiledEnv) -> tuple[Any, Any]:
    shape = shape_of(options.agent, options.spec)

    def begin(seed: Any) -> tuple[Place, Run]:
        keys = _Keys(*jax.random.split(seed, 3))
        place = Place(*env.reset(keys.env))
        return place, loop.start(options, place.observation, first_weights(options, keys.net), keys.run)

    stretch = jax.vmap(partial(loop.stretch, options, env, shape), in_axes=(0, None, 0, 0, 0))
    return _compiled(jax.vmap(begin)), _compiled(stretch, donate_argnums=(3, 4))


class HostLanes:
    """A group of lanes in an environment on the host: one compiled call a step, for all of them."""

    def __init__(self, options: Options, env: HostEnv, hypers: Hypers, seeds: Any):
        self._options, self._hypers, self._seeds = options, hypers, seeds
        self._envs: HostEnvs = env.open(len(seeds))
        self._programs = _host_programs(options)

    def begin(self) -> State:
        env_seeds, run = self._programs.start(self._seeds)
        self._envs.reset(np.asarray(env_seeds).tolist())
        return State(self._envs.snapshot(), run)

    def stretch(self, time: int, state: State) -> tuple[State, Record]:
        _, draw, begin, act, step, end = self._programs
        observation = self._envs.restore(state.place)
        start, i = jnp.asarray(time, jnp.int32), jnp.asarray(0, jnp.int32)  # NumPy's would be sent at every step
        key, drawn = draw(self._hypers, start, state.run.key)
        run = begin(state.run._replace(key=None))  # a key is slow to pass around, and no step needs it
        action = act(drawn, run, observation)
        for _ in range(self._options.learning.every):
            stepped = self._envs.step(np.asarray(action.chosen))
            done = np.stack([stepped.reward, stepped.terminated, stepped.truncated], axis=-1, dtype=np.float32)
            lanes = len(done)
            seen = (stepped.observation.reshape(lanes, -1), stepped.following.reshape(lanes, -1))
            packed = np.concatenate([*seen, done], axis=1)  # one transfer
            i, run, action, observation = step(self._hypers, start, i, drawn, run, observation, action, packed)
        run, record = end(start, run._replace(key=key))
        return State(self._envs.snapshot(), run), jax.tree.map(np.asarray, record)

    def close(self) -> None:
        self._envs.close()


class _HostPrograms(NamedTuple):
    start: Any
    draw: Any
    begin: Any
    act: Any
    step: Any
    end: Any


@remembered
def _host_programs(options: Options) -> _HostPrograms:
    agent, spec, learning, _ = options
    shape = shape_of(agent, spec)
    size = int(np.prod(spec.observation))
    side = Chance(time=None, epsilon=0, choice=0, picks=0)  # pyright: ignore[reportArgumentType]

    def start(seed: Any) -> tuple[Array, Run]:
        keys = _Keys(*jax.random.split(seed, 3))
        run = loop.start(options, jnp.zeros(spec.observation), first_weights(options, keys.net), keys.run)
        return jax.random.bits(keys.env, dtype=jnp.uint32), run

    def draw(hypers: Hypers, time: Array, key: Any) -> tuple[Any, Chance]:
        return chances.draw(learning, hypers, time, key)[:2]

    def at(drawn: Chance, i: Any, time: Any) -> Chance:
        return jax.tree.map(lambda x: x[:, i], drawn)._replace(time=time)

    def act(chance: Chance, run: Run, observation: Array) -> Action:
        return loop.act(options, shape, run, observation, chance)

    lanes_act = jax.vmap(act, in_axes=(side, 0, 0))

    def learn(
        hypers: Hypers, chance: Chance, run: Run, observation: Array, action: Action, packed: Array
    ) -> tuple[Run, Array]:
        reached, following = (packed[k * size : (k + 1) * size].reshape(spec.observation) for k in (0, 1))
        reward, terminated, truncated = packed[2 * size :]
        outcome = Outcome(reached, reward, terminated > 0, truncated > 0)
        return loop.learn(options, shape, hypers, observation, action, outcome, chance, run), following

    def step(
        hypers: Hypers,
        time: Array,
        i: Array,
        drawn: Chance,
        run: Run,
        observation: Array,
        action: Action,
        packed: Array,
    ) -> tuple[Array, Run, Action, Array]:
        chance = at(drawn, i, time + i)
        run, following = jax.vmap(learn, in_axes=(0, side, 0, 0, 0, 0))(
            hypers, chance, run, observation, action, packed
        )
        later = at(drawn, jnp.minimum(i + 1, learning.every - 1), time + i + 1)
        return i + 1, run, lanes_act(later, run, following), following

    return _HostPrograms(
        start=_compiled(jax.vmap(start)),
        draw=_compiled(jax.vmap(draw, in_axes=(0, None, 0))),
        begin=_compiled(jax.vmap(loop.begin_stretch), donate_argnums=0),
        act=_compiled(lambda drawn, run, seen: lanes_act(at(drawn, 0, jnp.int32(0)), run, seen)),
        step=_compiled(step, donate_argnums=4),
        end=_compiled(jax.vmap(partial(loop.end_stretch, options), in_axes=(None, 0)), donate_argnums=1),
    )


def open_lanes(options: Options, env: CompiledEnv | HostEnv, hypers: Hypers, seeds: Any) -> Lanes | HostLanes:
    """A group of lanes, one for each of the seeds."""
    return (HostLanes if isinstance(env, HostEnv) else Lanes)(options, env, hypers, seeds)  # pyright: ignore


class Learned(NamedTuple):
    """What lanes learned."""

    returns: Float[np.ndarray, "L points"]
    weights: Float[np.ndarray, "L P"]
    diverged_at: Int[np.ndarray, " L"]
    scale: Float[np.ndarray, "L 2 I"] | None = None
    """Mean and deviation of each number of an observation, if they were normalized."""
    points: Int[np.ndarray, " L"] | None = None
    """How many returns were recorded; None if all were, because nobody stopped a lane."""


class Seen(NamedTuple):
    """What those who watch a group of lanes are shown after each stretch."""

    lanes: Int[np.ndarray, " G"]
    """Their numbers; of a padded group only the real ones."""
    steps: int
    """That each lane has behind it."""
    record: Record
    run: Run
    """The state for now: what comes next overwrites it."""
    hypers: Hypers


Watch = Callable[[Seen], bool]
"""Is shown a group of lanes, and says whether it should stop."""
Advance = Callable[[int, float], None]
"""Is told how many more steps (of all lanes) are done, and the mean of the last returns."""


def learn_lanes(
    options: Options,
    env: CompiledEnv | HostEnv,
    numbers: Mapping[str, np.ndarray],
    runs: Int[np.ndarray, " L"],
    steps: int,
    seed: int,
    kept: Checkpoint | None = None,
    advance: Advance = lambda steps, recent: None,
    watch: Watch | None = None,
) -> Learned:
    """Group after group of lanes; memory does not grow with their number, but for what is learned.

    `numbers` has every hyperparameter of every lane, `runs` the number of each lane's run: with the seed, that decides
    all that is random in it. What `watch` is shown it cannot change; it can only stop a group.
    """
    kept = Checkpoint(None, {}) if kept is None else kept
    lanes, every = len(runs), options.learning.every
    points = steps // every
    seeds = jax.vmap(partial(jax.random.fold_in, jax.random.key(seed)))(jnp.asarray(runs, jnp.uint32))
    records = Record(*(np.full((lanes, points), np.nan, np.float32) for _ in Record._fields))
    returns, done = np.full((lanes, points), np.nan), np.full(lanes, points)
    weights, diverged_at, scales = [], [], []
    for number, (members, real) in enumerate(padded_groups(lanes, side_by_side(options, env, lanes))):
        hypers = Hypers(**{k: jnp.asarray(v[members], jnp.float32) for k, v in numbers.items()})
        group = open_lanes(options, env, hypers, seeds[members])
        try:
            state, first = kept.begin(number, group.begin, members, records)
            advance(first * every * real, math.nan)
            for k in range(first, points):
                state, record = group.stretch(k * every, state)
                for whole, part in zip(records, record, strict=True):
                    whole[members, k] = part
                kept.keep(number, k + 1, members, records, state, finished=k + 1 == points)
                advance(every * real, _mean(record.last))
                seen = Seen(members[:real], (k + 1) * every, record, state.run, hypers)
                if watch is not None and watch(seen) and k + 1 < points:
                    done[members] = k + 1
                    kept.keep(number, k + 1, members, records, state, finished=True)
                    break
        finally:
            group.close()
        known = done[members[0]]
        returns[members, :known] = returns_at_records(*(whole[members, :known] for whole in records))
        weights.append(weight_vectors(state.run.weights)[:real])
        diverged_at.append(np.asarray(state.run.diverged_at)[:real])
        if options.learning.normalize_observations:
            scales.append(scales_of(state.run.scaling.observation)[:real])
    scale, stopped = np.concatenate(scales) if scales else None, done if (done < points).any() else None
    return Learned(returns, np.concatenate(weights), np.concatenate(diverged_at), scale, stopped)


LARGE = 20_000
"""Weights beyond which a run fills a core's cache by itself: two layers of 128 are about as fast either way."""


def side_by_side(options: Options, env: CompiledEnv | HostEnv, lanes: int) -> int:
    """How many lanes a group has: one where the network is large, unless the environment steps all lanes at once."""
    together = isinstance(env, HostEnv) and env.together
    large = shape_of(options.agent, options.spec).size > LARGE
    return 1 if large and not together else group_size(lanes)


def weight_vectors(weights: Any) -> Float[np.ndarray, "L P"]:
    """The weights of each lane as one vector, in the order of `gpbe.nets.flat`."""
    return np.concatenate([np.asarray(part).reshape(len(part), -1) for part in jax.tree.leaves(weights)], axis=1)


def scales_of(moments: Any) -> Float[np.ndarray, "L 2 I"]:
    return np.stack([np.asarray(moments.mean), np.asarray(jax.vmap(deviation)(moments))], axis=1)


def _mean(returns: Float[np.ndarray, " L"]) -> float:
    finite = returns[np.isfinite(returns)]
    return float(finite.mean()) if finite.size else math.nan
