"""Gymnasium environments: stepped on the host, a copy for each lane (each run of each setting)."""

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from gpbe.errors import InputError

Observations = Float[np.ndarray, "L ..."]
"""One for each lane."""


class HostStepped(NamedTuple):
    """One step of every lane. `observation` to `truncated` are a transition; `following` is not part of it."""

    observation: Observations
    """The one that was reached, also where the episode ends with it."""
    reward: Float[np.ndarray, " L"]
    terminated: Bool[np.ndarray, " L"]
    truncated: Bool[np.ndarray, " L"]
    following: Observations
    """What to act on next: `observation`, or the first of a new episode where this one has ended."""


class Snapshot(NamedTuple):
    """Where lanes are."""

    seeds: Int[np.ndarray, " L"]
    episodes: Int[np.ndarray, " L"]
    """How many have ended in each lane."""
    actions: Int[np.ndarray, "L T"]
    """The actions of the present episodes; -1 beyond their ends."""
    observation: Observations


@dataclass(frozen=True, eq=False)
class HostEnv:
    """What is known of a Gymnasium environment before copies of it are opened."""

    name: str
    observation: tuple[int, ...]
    actions: int
    make: Callable[[], Any]
    given: Any = None
    """The user's own instance, which becomes the first lane and is left open."""

    def open(self, lanes: int) -> "HostEnvs":
        """Open as many copies; use it in a `with` statement, or close it."""
        given, made = [] if self.given is None else [self.given], []
        try:
            while len(given) + len(made) < lanes:
                made.append(self.make())
            self._check_alike([*given, *made])
        except BaseException:
            _close(made)
            raise
        return HostEnvs(self, [*given, *made], made)

    def _check_alike(self, envs: Sequence[Any]) -> None:
        if len({id(env.unwrapped) for env in envs}) < len(envs):
            raise InputError(f"{self.name} gave the same environment twice; it should make a new one at every call")
        for lane, env in enumerate(envs):
            shape, actions = _observation(env, self.name), _actions(env, self.name)
            if (shape, actions) != (self.observation, self.actions):
                expected = f"observations {self.observation} and {self.actions} actions"
                raise InputError(f"{self.name}: lane {lane} has {shape} and {actions}; it should have {expected}")


class HostEnvs:
    """Lanes of one environment, each seeded on its own; an ended episode is followed by a new one at once.

    What ends an episode is the environment's own business: its time limit is kept, and truncates. Observations are
    float32, of their own shape; bytes (uint8, as of images) are divided by 255, and labels (a Discrete space) become
    one-hot vectors.

    Every episode is seeded on its own, from its lane's seed and its number. Gymnasium has no way to ask an environment
    for its state, so what `snapshot` keeps is how to come back to it: the number of the episode and its actions.

    >>> with find_host("CartPole-v1").open(lanes=2) as envs:
    ...     start = envs.reset(seeds=[3, 4])
    ...     stepped = envs.step(np.array([0, 1]))
    >>> start.shape, stepped.reward
    ((2, 4), array([1., 1.], dtype=float32))
    """

    def __init__(self, env: HostEnv, envs: Sequence[Any], owned: Sequence[Any]):
        self.name, self.observation, self.actions, self.lanes = env.name, env.observation, env.actions, len(envs)
        self._envs, self._owned = list(envs), list(owned)
        self._first_actions = [int(env.action_space.start) for env in envs]
        self._encoders = [_encoder(env.observation_space) for env in envs]

    def reset(self, seeds: Sequence[int] | Int[np.ndarray, " L"]) -> Observations:
        """New episodes everywhere; later ones follow from the same seeds."""
        self._seeds = [int(seed) for seed in seeds]
        self._episodes = [0] * self.lanes
        self._history: list[list[int]] = [[] for _ in range(self.lanes)]
        self._present = self._empty()
        for lane in range(self.lanes):
            self._present[lane] = self._begin(lane)
        return self._present

    def _begin(self, lane: int) -> Float[np.ndarray, "..."]:
        """The next episode of a lane."""
        seed = np.random.SeedSequence([self._seeds[lane], self._episodes[lane]]).generate_state(1)[0]
        self._history[lane] = []
        result = self._envs[lane].reset(seed=int(seed))
        if not isinstance(result, tuple) or len(result) != 2:
            raise self._wrong("reset gave", result, "(observation, info)")
        return self._encode(lane, result[0])

    def _read(self, lane: int, result: Any) -> tuple[Float[np.ndarray, "..."], float, bool, bool]:
        """What a step gave, if it is what Gymnasium says a step gives."""
        if not isinstance(result, tuple) or len(result) != 5:
            raise self._wrong("step gave", result, "(observation, reward, terminated, truncated, info)")
        observation, reward, terminated, truncated, _ = result
        try:
            reward, ends = float(reward), (bool(terminated), bool(truncated))
        except (TypeError, ValueError):
            reward, ends = nan, (False, False)
        if not isfinite(reward):
            raise self._wrong("step gave the reward", result[1], "a finite number")
        return self._encode(lane, observation), reward, *ends

    def _wrong(self, what: str, given: Any, should: str) -> InputError:
        return InputError(f"{self.name}: {what} {repr(given)[:80]}; it should be {should}")

    def step(self, actions: Int[np.ndarray, " L"]) -> HostStepped:
        """Actions count from 0, wherever the environment's own begin."""
        # New arrays at every step: JAX may keep the memory of the old ones instead of copying it.
        reached, reward = self._empty(), np.zeros(self.lanes, np.float32)
        terminated, truncated = np.zeros(self.lanes, bool), np.zeros(self.lanes, bool)
        for lane, (env, action) in enumerate(zip(self._envs, actions.tolist(), strict=True)):
            result = env.step(self._first_actions[lane] + action)
            self._history[lane].append(action)
            reached[lane], reward[lane], terminated[lane], truncated[lane] = self._read(lane, result)
        following = reached.copy()
        for lane in np.flatnonzero(terminated | truncated).tolist():
            self._episodes[lane] += 1
            following[lane] = self._begin(lane)
        self._present = following
        # A time limit that is reached by the last step of an episode has cut nothing off.
        return HostStepped(reached, reward, terminated, truncated & ~terminated, following)

    def snapshot(self) -> Snapshot:
        """Enough to come back to where the lanes are now."""
        longest = max(map(len, self._history))
        actions = np.full((self.lanes, longest), -1, np.int32)
        for lane, history in enumerate(self._history):
            actions[lane, : len(history)] = history
        seeds, episodes = (np.array(x, np.int64) for x in (self._seeds, self._episodes))
        return Snapshot(seeds, episodes, actions, self._present)

    def restore(self, at: Snapshot) -> Observations:
        """Come back to where a snapshot was taken; costs nothing if the lanes are still there."""
        if getattr(self, "_present", None) is at.observation:
            return at.observation
        self._seeds, self._episodes = at.seeds.tolist(), at.episodes.tolist()
        self._history = [[] for _ in range(self.lanes)]
        present = self._empty()
        for lane, env in enumerate(self._envs):
            present[lane] = self._begin(lane)
            for action in at.actions[lane][at.actions[lane] >= 0].tolist():
                self._history[lane].append(action)
                present[lane] = self._encode(lane, env.step(self._first_actions[lane] + action)[0])
        if not np.array_equal(present, at.observation, equal_nan=True):
            raise InputError(
                f"{self.name} does not come back to where it was, given the same seed and actions; "
                "it cannot be continued in the middle of an episode"
            )
        self._present = at.observation
        return at.observation

    def close(self) -> None:
        """Close the copies that were made here."""
        _close(self._owned)

    def __enter__(self) -> "HostEnvs":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _empty(self) -> Observations:
        return np.empty((self.lanes, *self.observation), np.float32)

    def _encode(self, lane: int, observation: Any) -> Float[np.ndarray, "..."]:
        try:  # A wrong shape would otherwise be broadcast.
            return np.asarray(self._encoders[lane](observation), np.float32).reshape(self.observation)
        except (TypeError, ValueError, IndexError):
            should = f"numbers of shape {self.observation}"
            raise self._wrong("an observation is", observation, should) from None


def find_host(env: Any) -> HostEnv:
    """The environment behind a registered id, an instance, or a function without arguments that makes one.

    An instance is one lane. More are made from its `spec`, which Gymnasium keeps for environments from `make`.

    >>> env = find_host("LunarLander-v3")
    >>> env.name, env.observation, env.actions
    ('LunarLander-v3', (8,), 4)
    """
    import gymnasium

    if isinstance(env, gymnasium.Env):
        name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        return HostEnv(name, _observation(env, name), _actions(env, name), partial(_copy, env, name), given=env)
    name = env if isinstance(env, str) else getattr(env, "__name__", type(env).__name__)
    make = partial(_make, env, name)
    sample = make()
    try:
        return HostEnv(name, _observation(sample, name), _actions(sample, name), make)
    finally:
        sample.close()


def _make(env: Any, name: str) -> Any:
    import gymnasium

    make = partial(_by_id, env) if isinstance(env, str) else env
    with warnings.catch_warnings():
        # Box2D's types warn when they are first imported; where warnings are errors, that kills the process.
        warnings.filterwarnings("ignore", "builtin type .* has no __module__", DeprecationWarning)
        try:
            made = make()
        except (gymnasium.error.Error, ImportError) as error:
            raise InputError(f"Gymnasium could not make {name}: {_one_line(error)}") from error
        except Exception as error:
            if not isinstance(env, str):  # a function of the user's, who wants to see where it went wrong
                raise
            raise InputError(f"Gymnasium could not make {name}: {_one_line(error)}") from error
    if not isinstance(made, gymnasium.Env):
        raise InputError(f"{name} gave a {type(made).__name__}; it should make a gymnasium.Env")
    return made


def _by_id(name: str) -> Any:
    """A registered environment. The lean Lunar Lander has the same numbers as Gymnasium's, and takes half the time."""
    import gymnasium

    if name == "LunarLander-v3":
        with contextlib.suppress(ImportError):  # then Gymnasium says what is missing
            from gpbe.envs.lunar_lander import make_lunar_lander

            return make_lunar_lander()
    if ":" in name and os.getcwd() not in sys.path:  # a module beside the user, which commands do not find otherwise
        sys.path.insert(0, os.getcwd())
    return gymnasium.make(name)


def _copy(env: Any, name: str) -> Any:
    import gymnasium

    instead = "give a function that makes one for several runs or settings"
    if env.spec is None:
        raise InputError(f"{name}, given as an instance without a spec, is one lane only; {instead}")
    try:
        return gymnasium.make(env.spec)
    except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
        raise InputError(f"{name} could not be copied from its spec ({_one_line(error)}); {instead}") from error


def _observation(env: Any, name: str) -> tuple[int, ...]:
    from gymnasium import spaces

    space = env.observation_space
    if isinstance(space, spaces.Box):
        return space.shape or (1,)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        return (spaces.flatdim(space),)
    instead = "make them single arrays, for instance with gymnasium.wrappers.FlattenObservation"
    raise InputError(f"{name} has observations in a {type(space).__name__}; {instead}")


def _encoder(space: Any) -> Callable[[Any], Any]:
    from gymnasium import spaces

    return as_observation if isinstance(space, spaces.Box) else partial(spaces.flatten, space)


def as_observation(observation: Any) -> Float[np.ndarray, "..."]:
    """An observation as networks take it: float32, and bytes (uint8, as of images) divided by 255.

    >>> as_observation(np.array([0, 51, 255], np.uint8))
    array([0. , 0.2, 1. ], dtype=float32)
    """
    given = np.asarray(observation)
    floats = given.astype(np.float32)
    return floats / np.float32(255) if given.dtype == np.uint8 else floats


def _actions(env: Any, name: str) -> int:
    from gymnasium import spaces

    space = env.action_space
    if not isinstance(space, spaces.Discrete):
        raise InputError(f"{name} has {type(space).__name__} actions; gpbe learns the values of Discrete ones")
    return int(space.n)


def _close(envs: Sequence[Any]) -> None:
    for env in envs:
        env.close()


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
