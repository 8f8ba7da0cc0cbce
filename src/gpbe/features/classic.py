"""The three representations of Sutton et al. (2009) for a row of states."""

import numpy as np

from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.shapes import Features


def tabular(n: int) -> Features:
    """One feature a state: every value function can be represented.

    >>> tabular(2)
    array([[1., 0.],
           [0., 1.]])
    """
    check_at_least(1, n=n)
    return np.eye(n)


def inverted(n: int) -> Features:
    """Every feature is on but the state's own: a table again, but one that generalizes everywhere it should not.

    Rows have length 1, so each entry is 1 / sqrt(n - 1): 1/2 for the five states of the original.

    >>> inverted(5)[0]
    array([0. , 0.5, 0.5, 0.5, 0.5])
    """
    check_at_least(2, n=n)
    return (1 - np.eye(n)) / np.sqrt(n - 1)


def dependent(n: int, norm: str = "l2") -> Features:
    """Half as many features as states: (n + 1) / 2 of them, which fill up to the middle and empty again.

    Neighbors share features, and most value functions lie outside the span. Rows have length 1 in the given
    norm, "l2" or "l1"; published code uses either. The definition is for odd n; an even n is the next odd one
    without its last state, so that no two states look the same.

    >>> (dependent(5) > 0).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    check_at_least(1, n=n)
    if norm not in ("l1", "l2"):
        raise InputError(f"norm is {norm!r}; it should be 'l2' or 'l1'")
    k = n // 2 + 1
    lag = np.arange(n)[:, None] - np.arange(k)
    rows = ((lag >= 0) & (lag < k)).astype(float)
    return rows / np.linalg.norm(rows, ord=int(norm[1]), axis=1, keepdims=True)
