"""What a training was asked for, checked: numbers that may be swept, and what the compiled program depends on."""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import Agent, ControlAlgorithm, Hypers, Spec
from gpbe.algorithms.hyperparameters import checked_numbers
from gpbe.checks import check_at_least, check_divides, check_known
from gpbe.envs import CompiledEnv, HostEnv
from gpbe.envs.domains import domain_of
from gpbe.errors import InputError
from gpbe.learn.control.learning import Learning
from gpbe.learn.control.loop import OPTIMIZERS, Options
from gpbe.learn.settings import Settings, as_settings
from gpbe.nets import MakeBody


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
    hidden: Sequence[int] | int | None = None,
    body: MakeBody | None = None,
    hard: bool = False,
) -> Options:
    """What the compiled program depends on; layers are the domain's if left out."""
    check_at_least(1, steps=steps, batch=learning.batch, buffer=learning.buffer)
    check_at_least(0, target_every=learning.target_every)
    check_divides(learning.every, steps)
    check_known(learning.optimizer, OPTIMIZERS, "optimizer")
    if learning.batch > learning.buffer:
        raise InputError(f"batch is {learning.batch}, but the buffer holds only {learning.buffer}; it should be larger")
    layers = domain_of(env.name).hidden if hidden is None else read_sizes(hidden)
    check_body(body, env.observation)
    return Options(agent, Spec(env.observation, env.actions, layers, body), learning, hard)


def read_sizes(hidden: Any) -> tuple[int, ...]:
    """Sizes of hidden layers; one number is one layer.

    >>> read_sizes(64), read_sizes([8, 4])
    ((64,), (8, 4))
    """
    if not isinstance(hidden, Sequence | np.ndarray) or isinstance(hidden, str):
        check_at_least(1, hidden=hidden)
        return (int(hidden),)
    check_at_least(1, **{f"hidden[{k}]": size for k, size in enumerate(hidden)})
    return tuple(int(size) for size in hidden)


def check_body(body: Any, observation: tuple[int, ...]) -> None:
    """A body of the user's must be a function of a key that makes a module from an observation to a vector."""
    if body is None:
        return
    make: Any = body
    right = "it should be a function of a random key that makes an Equinox module"
    if not callable(body) or isinstance(body, eqx.Module):
        raise InputError(f"body is a {type(body).__name__}; {right}")
    try:
        found = jax.eval_shape(
            lambda key, x: make(key)(x), jax.random.key(0), jax.ShapeDtypeStruct(observation, jnp.float32)
        )
    except Exception as error:  # whatever the user's own code raises
        said = " ".join(str(error).split())
        raise InputError(f"body does not take an observation of shape {observation}: {said[:200]}; {right}") from error
    if getattr(found, "ndim", None) != 1:
        shape = getattr(found, "shape", type(found).__name__)
        raise InputError(f"body makes {shape} of an observation; it should be a vector of features, (anything,)")


def by_lane(settings: Settings, setting: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
    """Every number of every lane, where lane i is a run of `setting[i]`."""
    return {k: np.broadcast_to(v, settings.count)[setting] for k, v in settings.numbers.items()}
