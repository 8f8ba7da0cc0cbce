"""Gymnasium environments: stepped on the host, a copy for each lane (each run of each setting)."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from gpbe.checks import LARGEST_LEARNED
from gpbe.envs.copies import Copies, Given, Separate, Together, close_all, wrong
from gpbe.envs.spaces import action_count, encoder, observation_shape
from gpbe.errors import InputError, SeedWarning

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
    make: Callable[..., Any]
    """Makes a copy; or a vector environment of as many lanes as it is told."""
    given: Any = None
    """The user's own instance, which becomes the first lane, or all of them, and is left open."""
    together: bool = False
    """Is it a vector environment, which steps all lanes at once?"""

    def open(self, lanes: int) -> "HostEnvs":
        """Open as many copies; use it in a `with` statement, or close it."""
        copies = self._together(lanes) if self.together else self._separate(lanes)
        warn_of_seeds(self.name, copies)
        return HostEnvs(self, copies)

    def _separate(self, lanes: int) -> Separate:
        given, made = [] if self.given is None else [self.given], []
        try:
            while len(given) + len(made) < lanes:
                made.append(self.make())
            envs = [*given, *made]
            if len({id(env.unwrapped) for env in envs}) < len(envs):
                raise InputError(f"{self.name} gave the same environment twice; it should make a new one at every call")
            for lane, env in enumerate(envs):
                self._check_alike(f"lane {lane}", env.observation_space, env.action_space)
        except BaseException:
            close_all(made)
            raise
        return Separate(self.name, envs, made)

    def _together(self, lanes: int) -> Together:
        env = self.make(lanes) if self.given is None else self.given
        try:
            if env.num_envs != lanes:
                side = f"{lanes} run{'s' * (lanes > 1)} side by side"
                raise InputError(f"{self.name} has {env.num_envs} lanes for {side}; it should be made with {lanes}")
            self._check_alike("it", env.single_observation_space, env.single_action_space)
        except BaseException:
            close_all([env] if self.given is None else [])
            raise
        return Together(self.name, env, owned=self.given is None)

    def _check_alike(self, which: str, observation: Any, action: Any) -> None:
        shape, actions = observation_shape(observation, self.name), action_count(action, self.name)
        if (shape, actions) != (self.observation, self.actions):
            expected = f"observations {self.observation} and {self.actions} actions"
            raise InputError(f"{self.name}: {which} has {shape} and {actions}; it should have {expected}")


class HostEnvs:
    """Lanes of one environment, each seeded on its own; an ended episode is followed by a new one at once.

    What ends an episode is the environment's own business: its time limit is kept, and truncates. Observations are
    float32, of their own shape; bytes (uint8, as of images) are divided by 255, and labels (a Discrete space) become
    one-hot vectors.

    Every episode is seeded on its own, from its lane's seed and its number. Gymnasium has no way to ask an environment
    for its state, so what `snapshot` keeps is how to come back to it: the number of the episode and its actions.

    >>> from gpbe.envs import find_host
    >>> with find_host("CartPole-v1").open(lanes=2) as envs:
    ...     start = envs.reset(seeds=[3, 4])
    ...     stepped = envs.step(np.array([0, 1]))
    >>> start.shape, stepped.reward
    ((2, 4), array([1., 1.], dtype=float32))
    """

    def __init__(self, env: HostEnv, copies: Copies):
        self.name, self.observation, self.actions, self.lanes = env.name, env.observation, env.actions, copies.lanes
        self._copies = copies
        self._encoders = [encoder(space) for space in copies.spaces]

    def reset(self, seeds: Sequence[int] | Int[np.ndarray, " L"]) -> Observations:
        """New episodes everywhere; later ones follow from the same seeds."""
        self._seeds = [int(seed) for seed in seeds]
        self._episodes = [0] * self.lanes
        self._history: list[list[int]] = [[] for _ in range(self.lanes)]
        self._present = self._empty()
        self._begin(range(self.lanes), self._present)
        return self._present

    def _begin(self, lanes: Iterable[int], into: Observations) -> None:
        """The next episodes of some lanes."""
        seeds = {lane: episode_seed(self._seeds[lane], self._episodes[lane]) for lane in lanes}
        for lane, observation in self._copies.begin(seeds).items():
            self._history[lane] = []
            into[lane] = self._encode(lane, observation)
        self._check_finite(into[list(seeds)])

    def step(self, actions: Int[np.ndarray, " L"]) -> HostStepped:
        """Actions count from 0, wherever the environment's own begin."""
        # New arrays at every step: JAX may keep the memory of the old ones instead of copying it.
        reached, reward = self._empty(), np.zeros(self.lanes, np.float32)
        terminated, truncated = np.zeros(self.lanes, bool), np.zeros(self.lanes, bool)
        taken = actions.tolist()
        for lane, given in enumerate(self._copies.step(taken)):
            assert given is not None
            self._history[lane].append(taken[lane])
            reached[lane], reward[lane], terminated[lane], truncated[lane] = self._read(lane, given)
        self._check_finite(reached)
        following = reached.copy()
        if ended := np.flatnonzero(terminated | truncated).tolist():
            for lane in ended:
                self._episodes[lane] += 1
            self._begin(ended, following)
        self._present = following
        # A time limit that is reached by the last step of an episode has cut nothing off.
        return HostStepped(reached, reward, terminated, truncated & ~terminated, following)

    def _read(self, lane: int, given: Given) -> tuple[Float[np.ndarray, "..."], float, bool, bool]:
        """What a step gave, if it is what Gymnasium says a step gives."""
        try:
            reward, ends = float(given.reward), (bool(given.terminated), bool(given.truncated))
        except (TypeError, ValueError, OverflowError):
            reward, ends = nan, (False, False)
        if not abs(reward) <= LARGEST_LEARNED:
            raise wrong(self.name, "step gave the reward", given.reward, f"a number, {LARGEST_LEARNED:g} at most")
        return self._encode(lane, given.observation), reward, *ends

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
        present, done = self._empty(), [row[row >= 0].tolist() for row in at.actions]
        for left in range(max(map(len, done)), -1, -1):  # shorter episodes begin later: all are there at once
            if new := [lane for lane in range(self.lanes) if len(done[lane]) == left]:
                self._begin(new, present)
            if not left:
                break
            moves = [actions[-left] if len(actions) >= left else None for actions in done]
            for lane, given in enumerate(self._copies.step(moves)):
                if given is not None:
                    present[lane] = self._encode(lane, given.observation)
        self._history = done
        if not np.array_equal(present, at.observation, equal_nan=True):
            raise InputError(
                f"{self.name} does not come back to where it was, given the same seed and actions; "
                "it cannot be continued in the middle of an episode"
            )
        self._present = at.observation
        return at.observation

    def close(self) -> None:
        """Close the copies that were made here."""
        self._copies.close()

    def __enter__(self) -> "HostEnvs":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _empty(self) -> Observations:
        return np.empty((self.lanes, *self.observation), np.float32)

    def _encode(self, lane: int, observation: Any) -> Float[np.ndarray, "..."]:
        try:
            found = np.asarray(self._encoders[lane](observation), np.float32)
        except (TypeError, ValueError, IndexError):
            found = None
        if found is not None and found.ndim == 0:  # of a space without axes, or as some give single numbers
            found = found.reshape(1)
        if found is None or found.shape != self.observation:  # a wrong shape would otherwise be broadcast
            raise wrong(self.name, "an observation is", observation, f"numbers of shape {self.observation}")
        return found

    def _check_finite(self, observations: Observations) -> None:
        """Refuse observations that are not finite. To look at all lanes together costs less than one by one."""
        finite = np.isfinite(observations)
        if not finite.all():
            lane = int(np.argwhere(~finite)[0, 0])
            raise wrong(self.name, "an observation is", observations[lane], "numbers that are finite in 32 bits")


def episode_seed(seed: int, number: int) -> int:
    """The seed of a lane's episode."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def warn_of_seeds(name: str, copies: Copies) -> None:
    """Say so if an environment does not start alike from equal seeds: then runs cannot be repeated.

    Only starts are compared, which costs two resets; noise in steps that ignores the seed is found where a training
    goes on from a checkpoint, and refused there.
    """
    first, second = (np.array(copies.begin({0: 0})[0]) for _ in range(2))
    if not (first == second).all() and np.array_equal(first, first):  # NaN is never the same
        warnings.warn(
            f"{name} starts differently from equal seeds: results cannot be repeated, nor continued from a checkpoint",
            SeedWarning,
            stacklevel=3,
        )
