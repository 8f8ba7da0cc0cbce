"""What a training was asked for, checked: numbers that may be swept, and what the compiled program depends on."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import Agent, ControlAlgorithm, Hypers, Sampled, Spec, Tracing
from gpbe.algorithms.hyperparameters import checked_numbers
from gpbe.envs import CompiledEnv, HostEnv
from gpbe.envs.domains import domain_of
from gpbe.errors import InputError
from gpbe.learn.control.learning import DEFAULTS, LARGEST_NETWORK, Learning, check_options, read_sizes
from gpbe.learn.control.optimizers import optimizer_of
from gpbe.learn.control.state import Options
from gpbe.learn.settings import Settings, as_settings
from gpbe.nets import MakeBody, Style, is_image

FILTERS, UNITS = 16, 128
"""The default network for images: filters of 3 x 3, and units in the layer after them (Young & Tian 2019)."""
LENGTH = 8
"""Consecutive transitions in a stretch that is replayed, if nothing is said."""
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


class Asked(NamedTuple):
    """Options of `gpbe.train` as they are given; None for what depends on the algorithm or the environment."""

    hidden: Sequence[int] | int | None = None
    body: MakeBody | None = None
    filters: int | None = None
    layer_norm: bool = Style().layer_norm
    activation: str = Style().activation
    sparsity: float = Style().sparsity
    batch: int = DEFAULTS.batch
    buffer: int = DEFAULTS.buffer
    every: int = DEFAULTS.every
    optimizer: str | Callable[[], Any] | None = None
    target_every: int = DEFAULTS.target_every
    replay: bool | None = None
    length: int | None = None
    normalize_observations: bool = DEFAULTS.normalize_observations
    normalize_rewards: bool = DEFAULTS.normalize_rewards


def read_options(agent: Agent, env: CompiledEnv | HostEnv, steps: int, asked: Asked, hard: bool = False) -> Options:
    """What the compiled program depends on."""
    learning, spec = read_learning(agent, steps, asked), read_spec(env, asked)
    numbers = learning.buffer * (2 * math.prod(env.observation) + len(Sampled._fields))
    if learning.replay and numbers > LARGEST_MEMORY:
        raise InputError(
            f"a buffer of {learning.buffer:,} transitions of {env.name} has {numbers:,} numbers; "
            f"it should have {LARGEST_MEMORY:,} at most"
        )
    return Options(agent, spec, learning, hard)


def read_learning(agent: Agent, steps: int, asked: Asked) -> Learning:
    """How to learn. Unless something else is said, agents with traces do so by streams, others from a buffer."""
    check_options(asked._asdict(), steps)
    traces = isinstance(agent, Tracing)
    replay = not traces if asked.replay is None else bool(asked.replay)
    if not (replay or traces):
        raise InputError("this algorithm has no traces to learn by without replay; leave replay out")
    own = (DEFAULTS.optimizer if replay else "sgd") if asked.optimizer is None else asked.optimizer
    length = (LENGTH if replay and traces else 1) if asked.length is None else asked.length
    given = {k: v for k, v in asked._asdict().items() if k in Learning._fields}
    learning = Learning(**given | {"replay": replay, "optimizer": own, "length": length})
    optimizer_of(learning)
    if length > 1 and not (replay and traces):
        raise InputError("length is for algorithms with traces that replay stretches (replay=True); leave it out")
    if replay and getattr(agent, "bounded", False):
        raise InputError("bounded steps need traces of the weights, which replay does not keep; leave replay out")
    if learning.batch % length:
        raise InputError(f"batch is {learning.batch}; it should be a multiple of length, {length}")
    if learning.target_every and not replay:
        raise InputError("target_every is for learning from a buffer; traces have no target network")
    return learning


def read_spec(env: CompiledEnv | HostEnv, asked: Asked) -> Spec:
    """The networks: layers are the domain's if left out; an image is seen through filters unless layers are given."""
    domain, image = domain_of(env.name), is_image(env.observation)
    hidden = domain.hidden if asked.hidden is None else read_sizes(asked.hidden)
    check_body(asked.body, env.observation)
    filters = asked.filters
    if filters is None:
        filters = FILTERS if image and asked.hidden is None and asked.body is None else 0
        hidden = (UNITS,) if filters else hidden
    if filters and not image:
        raise InputError(f"filters are for images; {env.name} shows arrays of shape {env.observation}")
    style = Style(int(filters), bool(asked.layer_norm), asked.activation, float(asked.sparsity))
    if asked.body is not None and style != Style():
        raise InputError("a body of one's own has its own layers; leave filters, layer_norm and the like out")
    spec = Spec(env.observation, env.actions, hidden, asked.body, style)
    outgoing = env.actions * (1 if asked.body is not None else hidden[-1] if hidden else math.prod(env.observation))
    if (weights := spec.layer_weights + outgoing) > LARGEST_NETWORK:
        raise InputError(f"the layers have {weights:,} weights; there should be {LARGEST_NETWORK:,} at most")
    return spec


def check_body(body: Any, observation: tuple[int, ...]) -> None:
    """A body of the user's must be a function of a key that makes a module from an observation to a vector."""
    if body is None:
        return
    right = "it should be a function of a random key that makes an Equinox module"
    if not callable(body) or isinstance(body, eqx.Module):
        raise InputError(f"body is a {type(body).__name__}; {right}")
    make: Any = body
    try:
        seen = jax.ShapeDtypeStruct(observation, jnp.float32)
        found = jax.eval_shape(lambda key, x: make(key)(x), jax.random.key(0), seen)
    except Exception as error:  # whatever the user's own code raises
        said = " ".join(str(error).split())
        raise InputError(f"body does not take an observation of shape {observation}: {said[:200]}; {right}") from error
    if getattr(found, "ndim", None) != 1:
        shape = getattr(found, "shape", type(found).__name__)
        raise InputError(f"body makes {shape} of an observation; it should be a vector of features, (anything,)")


def by_lane(settings: Settings, setting: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
    """Every number of every lane, where lane i is a run of `setting[i]`."""
    return {k: np.broadcast_to(v, settings.count)[setting] for k, v in settings.numbers.items()}
