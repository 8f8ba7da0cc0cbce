"""How agents learn, whatever their algorithm. Does not need JAX to be read."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.checks import check_at_least, check_divides, check_known, is_whole
from gpbe.errors import InputError

Optimizer = Literal["adam", "rmsprop", "sgd"]
ActivationName = Literal["relu", "leaky-relu"]


class Learning(NamedTuple):
    """Options of `gpbe.train` that a compiled program depends on; the defaults are the paper's."""

    batch: int = 32
    """Transitions in a mini-batch."""
    buffer: int = 4000
    """How many of the last transitions are kept."""
    every: int = 500
    """Steps between records, which make a stretch."""
    optimizer: str | Callable[[], Any] = "adam"
    """One of `Optimizer`, or a function that makes an `optax.GradientTransformation`, whose step size is 1."""
    target_every: int = 0
    """Updates between copies to the target network; 0 for none."""
    replay: bool = True
    """Does it learn from a buffer? Otherwise from each transition once, when it happens, by traces."""
    normalize_observations: bool = False
    """Whether observations are normalized by the running mean and variance of each of their numbers."""
    normalize_rewards: bool = False
    """Whether rewards are divided by the running deviation of discounted sums of them."""
    length: int = 1
    """Consecutive transitions in each of the stretches that a mini-batch is made of: the longest lambda-return."""


DEFAULTS = Learning()
NETWORK = ("hidden", "filters", "layer_norm", "activation", "sparsity")
"""Options of `gpbe.train` that say what the networks are like."""
OPTIONS = (*NETWORK, *(name for name in Learning._fields if name != "every"))
"""Options of `gpbe.train` that a sweep can have, too."""

STREAMING: Mapping[str, Any] = {
    "layer_norm": True,
    "activation": "leaky-relu",
    "sparsity": 0.9,
    "normalize_observations": True,
    "normalize_rewards": True,
}
"""Options of `gpbe.train` with which deep networks learn by streams (Elsayed et al. 2024)."""


LONGEST_RUN = 2**31 - 1
"""Steps: a compiled program counts them in 32 bits."""
LARGEST_BUFFER = 10**8
LARGEST_LAYER, LAYERS = 10**5, 64
LARGEST_NETWORK = 10**8
"""Weights between its layers."""


SPARSITY = Hyperparameter("part of the weights that is 0 at the start", 0.0, high=1.0)
_MOST = {"steps": LONGEST_RUN, "buffer": LARGEST_BUFFER, "target_every": LONGEST_RUN, "filters": LARGEST_LAYER}
_SWITCHES = ("replay", "layer_norm", "normalize_observations", "normalize_rewards")


def check_options(given: Mapping[str, Any], steps: int) -> None:
    """Everything that can be wrong with options of `gpbe.train`, whatever algorithm and environment.

    What is None or not there is left to the algorithm or the environment.

    >>> check_options({"layer_norm": "yes"}, steps=1000)
    Traceback (most recent call last):
    gpbe.errors.InputError: layer_norm is 'yes'; it should be True or False
    """
    said = DEFAULTS._asdict() | {k: v for k, v in given.items() if v is not None} | {"steps": steps}
    check_at_least(1, **{name: said[name] for name in ("steps", "batch", "buffer", "length")})
    check_at_least(0, target_every=said["target_every"], filters=said.get("filters"))
    check_divides(said["every"], steps)
    for name, most in _MOST.items():
        if said.get(name, 0) > most:
            raise InputError(f"{name} is {said[name]}; it should be {most:,} at most")
    if said["batch"] > said["buffer"]:
        raise InputError(f"batch is {said['batch']}, but the buffer holds only {said['buffer']}; it should be larger")
    for name in _SWITCHES:
        if not isinstance(said.get(name, False), bool | np.bool_):
            raise InputError(f"{name} is {said[name]!r}; it should be True or False")
    if not callable(said["optimizer"]):
        check_known(said["optimizer"], get_args(Optimizer), "optimizer")
    check_known(said.get("activation", "relu"), get_args(ActivationName), "activation")
    if not isinstance(SPARSITY.checked(said.get("sparsity", 0.0), "sparsity"), float):
        raise InputError(f"sparsity is {said['sparsity']!r}; it should be one number")
    read_sizes(said.get("hidden", ()))


def read_sizes(hidden: Any, name: str = "hidden") -> tuple[int, ...]:
    """Sizes of hidden layers; one number is one layer.

    >>> read_sizes(64), read_sizes([8, 4])
    ((64,), (8, 4))
    >>> read_sizes([32, -3])
    Traceback (most recent call last):
    gpbe.errors.InputError: hidden[1] is -3; it should be a whole number from 1 to 100,000
    """
    if is_whole(hidden):
        hidden = (hidden,)
    if isinstance(hidden, str) or not isinstance(hidden, Sequence | np.ndarray):
        raise InputError(f"{name} is {hidden!r}; it should be a list of sizes, such as [32, 32]")
    if len(hidden) > LAYERS:
        raise InputError(f"{name} has {len(hidden):,} layers; it should have {LAYERS} at most")
    for k, size in enumerate(hidden):
        if not is_whole(size) or not 1 <= size <= LARGEST_LAYER:
            raise InputError(f"{name}[{k}] is {size!r}; it should be a whole number from 1 to {LARGEST_LAYER:,}")
    if (weights := sum(a * b for a, b in pairwise(hidden))) > LARGEST_NETWORK:
        raise InputError(f"{name} has layers with {weights:,} weights; there should be {LARGEST_NETWORK:,} at most")
    return tuple(int(size) for size in hidden)
