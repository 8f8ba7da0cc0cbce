"""State aggregation: states in one bin share one value."""

import numpy as np
from jaxtyping import Int

from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.shapes import Array, Features, Numbers


def aggregation(labels: Numbers) -> Features:
    """One feature a bin, on for the states that carry its label. Labels are any integers, in any order.

    >>> aggregation([7, 7, 3])
    array([[0., 1.],
           [0., 1.],
           [1., 0.]])
    """
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"labels has shape {array.shape} and type {array.dtype}; it should be one integer a state: [0, 0, 1]"
        )
    bins, column = np.unique(array, return_inverse=True)
    return np.eye(len(bins))[column]


def equal_bins(n: int, bins: int = 2) -> Int[Array, " n"]:
    """Labels for `aggregation`: runs of neighbors whose sizes differ by at most one.

    Two bins are the paper's left and right.

    >>> equal_bins(5)
    array([0, 0, 0, 1, 1])
    """
    check_at_least(1, bins=bins)
    check_at_least(bins, n=n)
    return np.arange(n) * bins // n
