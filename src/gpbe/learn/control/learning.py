"""How agents learn, whatever their algorithm. Does not need JAX to be read."""

from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

from gpbe.checks import check_at_least, check_divides, check_known, is_whole
from gpbe.errors import InputError

Optimizer = Literal["adam", "rmsprop", "sgd"]


class Learning(NamedTuple):
    """Options of `gpbe.train` that a compiled program depends on; the defaults are the paper's."""

    batch: int = 32
    """Transitions in a mini-batch."""
    buffer: int = 4000
    """How many of the last transitions are kept."""
    every: int = 500
    """Steps between records, which make a stretch."""
    optimizer: str = "adam"
    """One of `Optimizer`."""
    target_every: int = 0
    """Updates between copies to the target network; 0 for none."""


LONGEST_RUN = 2**31 - 1
"""Steps: a compiled program counts them in 32 bits."""
LARGEST_BUFFER = 10**8
LARGEST_LAYER, LAYERS = 10**5, 64
LARGEST_NETWORK = 10**8
"""Weights between its layers."""


def check_learning(learning: Learning, steps: int) -> None:
    """Everything that can be wrong with the options, whatever the environment."""
    check_at_least(1, steps=steps, batch=learning.batch, buffer=learning.buffer)
    check_at_least(0, target_every=learning.target_every)
    check_divides(learning.every, steps)
    check_known(learning.optimizer, get_args(Optimizer), "optimizer")
    if learning.batch > learning.buffer:
        raise InputError(f"batch is {learning.batch}, but the buffer holds only {learning.buffer}; it should be larger")
    for name, value, most in (
        ("steps", steps, LONGEST_RUN),
        ("buffer", learning.buffer, LARGEST_BUFFER),
        ("target_every", learning.target_every, LONGEST_RUN),
    ):
        if value > most:
            raise InputError(f"{name} is {value}; it should be {most:,} at most")


def check_hidden(hidden: Any, name: str = "hidden") -> None:
    """Sizes of layers.

    >>> check_hidden([32, -3])
    Traceback (most recent call last):
    gpbe.errors.InputError: hidden[1] is -3; it should be a whole number from 1 to 100,000
    """
    if not isinstance(hidden, list | tuple):
        raise InputError(f"{name} is {hidden!r}; it should be a list of sizes, such as [32, 32]")
    if len(hidden) > LAYERS:
        raise InputError(f"{name} has {len(hidden):,} layers; it should have {LAYERS} at most")
    for k, size in enumerate(hidden):
        if not is_whole(size) or not 1 <= size <= LARGEST_LAYER:
            raise InputError(f"{name}[{k}] is {size!r}; it should be a whole number from 1 to {LARGEST_LAYER:,}")
    if (weights := sum(a * b for a, b in pairwise(hidden))) > LARGEST_NETWORK:
        raise InputError(f"{name} has layers with {weights:,} weights; there should be {LARGEST_NETWORK:,} at most")
