"""How agents learn, whatever their algorithm. Does not need JAX to be read."""

from typing import Literal, NamedTuple

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
