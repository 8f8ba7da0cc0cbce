"""How agents learn, whatever their algorithm. Does not need JAX to be read."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

Optimizer = Literal["adam", "rmsprop", "sgd"]


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
    """By the running mean and variance of each of their numbers."""
    normalize_rewards: bool = False
    """By the running deviation of discounted sums of them."""
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
