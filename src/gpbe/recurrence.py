"""Linear recurrences along the rows of an array, many rows in one operation of NumPy."""

from math import isqrt
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from gpbe.shapes import Array, Number


def step(start: Any, keep: Number, add: Any, xp: Any = np) -> Any:
    """One step, y = keep y_- + add; where `keep` is 0 the past is forgotten, even if it has overflowed."""
    return xp.where(keep != 0, keep * start, 0.0) + add


def along(start: Any, keep: Float[Array, " T"], add: Shaped[Array, "T ..."]) -> Float[Array, "T ..."]:
    """Every step in a row: y_t = keep_t y_{t-1} + add_t, from y_{-1} = start.

    The rows are cut into about sqrt(T) lanes. All lanes take their steps together, as if nothing came before them; then
    each gets what the one before it hands on. So there are about 2 sqrt(T) operations instead of T.

    >>> along(0.0, np.array([1.0, 0.5, 0.0, 2.0]), np.array([1.0, 1.0, 1.0, 1.0]))
    array([1. , 1.5, 1. , 3. ])
    """
    rows = len(keep)
    add = np.asarray(add, dtype=float)
    if not keep.any():
        return add
    length = isqrt(rows - 1) + 1
    lanes = -(-rows // length)
    k, y = np.zeros((lanes * length, 1)), np.zeros((lanes * length, int(np.prod(add.shape[1:]))))
    k[:rows, 0], y[:rows] = keep, add.reshape(rows, -1)
    k, y = k.reshape(lanes, length, 1), y.reshape(lanes, length, -1)
    reach = np.empty((length, lanes, 1))
    """How much of what a lane is handed is left at each of its rows."""
    reach[0] = k[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(1, length):
            y[:, t] = step(y[:, t - 1], k[:, t], y[:, t])
            reach[t] = step(reach[t - 1], k[:, t], 0.0)
        handed = np.broadcast_to(np.asarray(start, dtype=float), add.shape[1:]).reshape(-1)
        for lane in range(lanes):
            y[lane] += np.where(handed != 0, step(handed, reach[:, lane], 0.0), 0.0)  # 0, if need be times infinity
            handed = y[lane, -1]
    return y.reshape(lanes * length, *add.shape[1:])[:rows]
