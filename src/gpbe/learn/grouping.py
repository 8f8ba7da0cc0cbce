"""How many runs one compiled call learns side by side."""

from collections.abc import Iterator

import numpy as np

LANES = 8
"""More do not fit into a core's cache."""


def group_size(lanes: int) -> int:
    """Lanes in a group: at most eight, and groups as even as can be, for one program serves all.

    >>> group_size(9), group_size(100)
    (5, 8)
    """
    count = -(-lanes // LANES)
    return -(-lanes // count)


def groups(lanes: int) -> Iterator[np.ndarray]:
    """Indices of lanes, group after group; the last is padded with its last lane.

    >>> [group.tolist() for group in groups(9)]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 8]]
    """
    size = group_size(lanes)
    for first in range(0, lanes, size):
        yield np.minimum(np.arange(first, first + size), lanes - 1)
