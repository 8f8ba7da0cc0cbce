"""Random binary features."""

from itertools import combinations
from math import comb

import numpy as np

from gpbe.checks import check_at_least, generator
from gpbe.errors import InputError
from gpbe.shapes import Features

PATTERNS = 10**6
"""All patterns are listed before some are drawn; beyond this many the list would not fit."""


def random_binary(
    n: int,
    bits: int = 6,
    ones: int = 3,
    *,
    rng: np.random.Generator | int,
    batch: tuple[int, ...] = (),
    distinct: bool = True,
) -> Features:
    """Each state gets a random pattern of `bits` with `ones` of them on (Ghiassian and Sutton, 2021).

    With `distinct` no two states share a pattern; without, states draw independently.

    >>> random_binary(3, bits=4, ones=2, rng=0)
    array([[0., 1., 1., 0.],
           [1., 0., 0., 1.],
           [1., 0., 1., 0.]])
    """
    check_at_least(1, n=n)
    if not 0 <= ones <= bits:
        raise InputError(f"ones is {ones}; it should lie between 0 and bits, which is {bits}")
    count = comb(bits, ones)
    if count > PATTERNS:
        raise InputError(f"{ones} of {bits} bits make {count} patterns; take bits that make at most {PATTERNS}")
    if distinct and count < n:
        raise InputError(f"{ones} of {bits} bits make only {count} patterns for {n} states; take more bits")
    on = np.array(list(combinations(range(bits), ones)), dtype=int).reshape(count, ones)
    patterns = np.zeros((count, bits))
    np.put_along_axis(patterns, on, 1.0, axis=1)
    draw = generator(rng)
    if not distinct:
        return patterns[draw.integers(count, size=(*batch, n))]
    return patterns[draw.random((*batch, count)).argsort(-1)[..., :n]]
