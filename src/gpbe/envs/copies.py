"""Copies of an environment on the host: one object for each lane, or one vector environment that steps all at once.

Whoever drives them (`gpbe.envs.host`) seeds every episode and says when a new one begins; what they give is not yet
checked or encoded.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from gpbe.envs.spaces import first_action
from gpbe.errors import InputError


class Given(NamedTuple):
    """The outcome of one lane's step as the environment gave it, not yet checked."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any


@runtime_checkable
class Copies(Protocol):
    """Lanes of one environment. Actions count from 0."""

    lanes: int
    spaces: list[Any]
    """The spaces of observations, one a lane."""

    def begin(self, seeds: Mapping[int, int]) -> dict[int, Any]:
        """New episodes in these lanes, from these seeds: their first observations."""
        ...

    def step(self, actions: Sequence[int | None]) -> list[Given | None]:
        """A step of every lane, but of those without an action."""
        ...

    def close(self) -> None:
        """Close what was made here."""
        ...


class Separate:
    """A Gymnasium environment for each lane."""

    def __init__(self, name: str, envs: Sequence[Any], owned: Sequence[Any]):
        self._name, self._envs, self._owned, self.lanes = name, list(envs), list(owned), len(envs)
        self.spaces = [env.observation_space for env in envs]
        self._first = [first_action(env.action_space) for env in envs]

    def begin(self, seeds: Mapping[int, int]) -> dict[int, Any]:
        found = {lane: self._envs[lane].reset(seed=seed) for lane, seed in seeds.items()}
        for result in found.values():
            if not isinstance(result, tuple) or len(result) != 2:
                raise wrong(self._name, "reset gave", result, "(observation, info)")
        return {lane: result[0] for lane, result in found.items()}

    def step(self, actions: Sequence[int | None]) -> list[Given | None]:
        return [None if action is None else self._one(lane, action) for lane, action in enumerate(actions)]

    def _one(self, lane: int, action: int) -> Given:
        result = self._envs[lane].step(self._first[lane] + action)
        if not isinstance(result, tuple) or len(result) != 5:
            raise wrong(self._name, "step gave", result, "(observation, reward, terminated, truncated, info)")
        return Given(*result[:4])

    def close(self) -> None:
        close_all(self._owned)


class Together:
    """A vector environment, all lanes of which are stepped by one call. It does not begin episodes by itself.

    All of its lanes take every step. One without an action takes action 0, and its episode is begun anew if that ends
    it: nobody looks at it before its next `begin`.
    """

    def __init__(self, name: str, env: Any, owned: bool):
        self._name, self._env, self._owned, self.lanes = name, env, owned, int(env.num_envs)
        self.spaces = [env.single_observation_space] * self.lanes
        self._first = first_action(env.single_action_space)
        self._fresh = True

    def begin(self, seeds: Mapping[int, int]) -> dict[int, Any]:
        whole: list[int | None] = [seeds.get(lane) for lane in range(self.lanes)]
        if self._fresh:  # a first reset is of all lanes
            observations, _ = self._env.reset(seed=[seed or 0 for seed in whole])
            self._fresh = False
        else:
            mask = np.array([lane in seeds for lane in range(self.lanes)])
            observations, _ = self._env.reset(seed=whole, options={"reset_mask": mask})
        return {lane: np.array(observations[lane]) for lane in seeds}

    def step(self, actions: Sequence[int | None]) -> list[Given | None]:
        taken = self._first + np.array([action or 0 for action in actions])
        observations, rewards, terminated, truncated, _ = self._env.step(taken)
        idle = [lane for lane, action in enumerate(actions) if action is None]
        if ended := {lane: 0 for lane in idle if terminated[lane] or truncated[lane]}:
            kept = [np.array(each) for each in observations]
            self.begin(ended)
            observations = kept
        every = zip(observations, rewards, terminated, truncated, strict=True)
        found: list[Given | None] = [Given(np.array(o), r, e, t) for o, r, e, t in every]
        return [None if lane in idle else each for lane, each in enumerate(found)]

    def close(self) -> None:
        if self._owned:
            self._env.close()


def wrong(name: str, what: str, given: Any, should: str) -> InputError:
    """The refusal of something that an environment gave."""
    return InputError(f"{name}: {what} {repr(given)[:80]}; it should be {should}")


def close_all(envs: Sequence[Any]) -> None:
    """Close them."""
    for env in envs:
        env.close()
