"""How many runs or settings one compiled call learns side by side, and how many such programs are kept."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpbe.shapes import Array

LANES = 8
"""Runs of control side by side; more do not fit into a core's cache."""

remembered = lru_cache(maxsize=8)
"""Keeps the last programs that a function has made. Each takes 20 MB, and the cache on disk has those before them."""


class Group(NamedTuple):
    """Some of many, padded to the size of the other groups with its last one, so that all share one program."""

    members: Array
    """Their indices."""
    real: int
    """How many of them are no padding."""


def padded_groups(count: int, size: int) -> Iterator[Group]:
    """All of `count` in groups of one size, the last padded.

    >>> [(group.members.tolist(), group.real) for group in padded_groups(5, 3)]
    [([0, 1, 2], 3), ([3, 4, 4], 2)]
    """
    size = min(size, count)
    for first in range(0, count, size):
        yield Group(np.minimum(np.arange(first, first + size), count - 1), min(size, count - first))


def group_size(lanes: int) -> int:
    """Lanes in a group: at most eight, and groups as even as can be, for one program serves all.

    >>> group_size(9), group_size(100)
    (5, 8)
    """
    groups = -(-lanes // LANES)
    return -(-lanes // groups)
