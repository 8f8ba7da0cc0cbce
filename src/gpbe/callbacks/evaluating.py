"""Greedy episodes every so often, while an agent learns."""

from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gpbe.checks import check_at_least, check_given, check_seed
from gpbe.envs import HostEnv, find
from gpbe.learn.control.hooks import Stretch
from gpbe.learn.control.trained import TrainedAgent


class Best(NamedTuple):
    """The agent that played best, and what was found when it did."""

    agent: TrainedAgent
    row: dict[str, Any]


class Evaluate:
    """Plays greedy episodes with each agent, and adds their mean return as "evaluation" to what callbacks are told.

    They are played in copies of the environment, by random numbers of their own: learning does not notice. Callbacks
    that come after it in the list (`CSV`, `TensorBoard`, `Stop`) see the number in the stretches where it was measured.

    The agent that played best is kept, because the last one need not be as good. It was chosen for these episodes, so
    they flatter it: judge it by others.

    Args:
        every: steps between evaluations; the last stretch is always evaluated.
        episodes: in each evaluation.
        env: another environment to be judged in; the one that is learned in if left out.
        seed: of the episodes, which are the same for every agent and evaluation.

    >>> import gpbe
    >>> greedy = Evaluate(every=200, episodes=3)
    >>> training = gpbe.train("CartPole-v1", "qrc", steps=400, every=100, runs=2, hidden=(4,), callbacks=greedy)
    >>> [(row["steps"], row["run"]) for row in greedy.rows]
    [(200, 0), (200, 1), (400, 0), (400, 1)]
    >>> others = greedy.best.agent.evaluate(episodes=20, seed=1)
    """

    def __init__(self, every: int = 10_000, episodes: int = 10, env: Any = None, seed: int = 0):
        check_given(every=every, episodes=episodes)
        check_at_least(1, every=every, episodes=episodes)
        check_seed(seed)
        self.every, self.episodes, self.seed = every, episodes, seed
        self.rows: list[dict[str, Any]] = []
        """One for each run and evaluation: steps, setting, run, mean, standard_error."""
        self.best: Best | None = None
        """The agent with the highest mean, and its row; of equals the last. None before the first evaluation."""
        self._env = None if env is None else find(env)
        self._before: dict[tuple[int, int], int] = {}

    def __call__(self, stretch: Stretch) -> None:
        first = (int(stretch.setting[0]), int(stretch.run[0]))  # groups of runs are told of one after the other
        passed = stretch.steps // self.every > self._before.get(first, 0) // self.every
        self._before[first] = stretch.steps
        if not passed and stretch.steps < stretch.total:
            return
        means = np.zeros(len(stretch.run))
        for k, (setting, run) in enumerate(zip(stretch.setting, stretch.run, strict=True)):
            agent = stretch.agent(k)
            if self._env is None:
                self._env = _copies(agent.env if agent.env_object is None else agent.env_object)
            played = agent.evaluate(self._env, self.episodes, self.seed)
            about = {"steps": stretch.steps, "setting": int(setting), "run": int(run)}
            self.rows.append(about | {"mean": played.mean, "standard_error": played.standard_error})
            if played.mean >= (-inf if self.best is None else self.best.row["mean"]):
                self.best = Best(agent, self.rows[-1])
            means[k] = played.mean
        stretch.values["evaluation"] = means


def _copies(env: Any) -> Any:
    """The environment, but never the very instance that is learned in: it is in the middle of an episode."""
    found = find(env)
    return replace(found, given=None) if isinstance(found, HostEnv) else found
