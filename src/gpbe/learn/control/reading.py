"""What a training was asked for, checked: numbers that may be swept, and what the compiled program depends on."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpbe.algorithms.control import Agent, ControlAlgorithm, Hypers, Sampled, Spec
from gpbe.algorithms.hyperparameters import checked_numbers
from gpbe.envs import CompiledEnv, HostEnv
from gpbe.envs.domains import domain_of
from gpbe.errors import InputError
from gpbe.learn.control.learning import Learning, check_hidden, check_learning
from gpbe.learn.control.loop import Options
from gpbe.learn.settings import Settings, as_settings
from gpbe.nets import MakeBody

LARGEST_MEMORY = 2**29
"""Numbers in the buffer of a run."""


def numbers_and_choices(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Hyperparameters that the compiled program is given, and choices on the axes of agents, which it depends on.

    >>> numbers_and_choices({"beta": 0.5, "width": 2})
    ({'beta': 0.5}, {'width': 2})
    """
    numbers = {k: v for k, v in given.items() if k in Hypers._fields}
    return numbers, {k: v for k, v in given.items() if k not in numbers}


def read_settings(a: ControlAlgorithm, given: Mapping[str, Any]) -> Settings:
    """The given numbers, if the algorithm has them and they may be that, and its defaults."""
    numbers = a.defaults() | checked_numbers(given, Hypers._field_defaults, a.hyperparameters, a.name)
    if "epsilon_final" not in given:
        numbers["epsilon_final"] = numbers["epsilon"]
    return as_settings(numbers)


def read_options(
    agent: Agent,
    env: CompiledEnv | HostEnv,
    steps: int,
    learning: Learning,
    hidden: Sequence[int] | None = None,
    body: MakeBody | None = None,
    hard: bool = False,
) -> Options:
    """What the compiled program depends on; layers are the domain's if left out."""
    check_learning(learning, steps)
    hidden = domain_of(env.name).hidden if hidden is None else tuple(hidden)
    check_hidden(hidden)
    numbers = learning.buffer * (2 * math.prod(env.observation) + len(Sampled._fields))
    if numbers > LARGEST_MEMORY:
        raise InputError(
            f"a buffer of {learning.buffer:,} transitions of {env.name} has {numbers:,} numbers; "
            f"it should have {LARGEST_MEMORY:,} at most"
        )
    return Options(agent, Spec(env.observation, env.actions, hidden, body), learning, hard)


def by_lane(settings: Settings, setting: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
    """Every number of every lane, where lane i is a run of `setting[i]`."""
    return {k: np.broadcast_to(v, settings.count)[setting] for k, v in settings.numbers.items()}
