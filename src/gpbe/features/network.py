"""Features from random sparse ReLU networks."""

import math

import numpy as np

from gpbe.checks import check_at_least, generator
from gpbe.errors import InputError
from gpbe.shapes import Features

BLOCK_NUMBERS = 2**18
"""Weights drawn at a time: small enough for the cache, and a million networks never sit in memory at once."""


def random_network(
    n: int,
    hidden: int = 76,
    features: int = 9,
    sparsity: float = 0.25,
    *,
    rng: np.random.Generator | int,
    batch: tuple[int, ...] = (),
) -> Features:
    """One-hot states through two random ReLU layers without biases (paper, section 5.1).

    Weights are Xavier-uniform, U(-a, a) with a = sqrt(6 / (inputs + outputs)), then each is set to zero with
    probability `sparsity`. The first networks of a batch are those of a smaller batch with the same seed.

    Made for drawing a million: single precision inside, and one draw decides both whether a weight is kept and
    what it is.

    >>> random_network(19, rng=0, batch=(5,)).shape
    (5, 19, 9)
    """
    for name, value in (("n", n), ("hidden", hidden), ("features", features)):
        check_at_least(1, **{name: value})
    if not 0 <= sparsity < 1:
        raise InputError(f"sparsity is {sparsity:g}; it should be a probability below 1")
    draw = generator(rng)
    first, second = n * hidden, hidden * features
    scale = math.sqrt(6 / (n + hidden)) * math.sqrt(6 / (hidden + features))
    networks = math.prod(batch)
    out = np.empty((networks, n, features))
    block = max(1, BLOCK_NUMBERS // (first + second))
    for start in range(0, networks, block):
        size = min(block, networks - start)
        weights = draw.random((size, first + second), dtype=np.float32)
        # Uniforms above `sparsity` become U(-1, 1); those below it, the dropped ones, fall under -1.
        weights *= np.float32(2 / (1 - sparsity))
        weights -= np.float32((1 + sparsity) / (1 - sparsity))
        # With a one-hot input the hidden layer is the ReLU of the weights themselves, which also drops the dropped.
        layer = np.maximum(weights[:, :first], 0).reshape(size, n, hidden)
        head = weights[:, first:].reshape(size, hidden, features)
        head = np.where(head < -1, np.float32(0), head)
        np.maximum(layer @ head, 0, out=out[start : start + size])
    out *= scale
    return out.reshape(*batch, n, features)
