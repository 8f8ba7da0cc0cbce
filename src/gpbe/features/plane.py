"""Features of points in the plane, sparse: most are 0 at any one point."""

import numpy as np
from scipy.sparse import coo_array

from gpbe.checks import as_floats, check_at_least
from gpbe.errors import InputError
from gpbe.shapes import Numbers, Sparse


def interpolation(points: Numbers, knots: int = 10) -> Sparse:
    """Bilinear interpolation between knots x knots points of the plane: one feature a knot, at most four of them on.

    The knots span the bounding box of the points. A row sums to 1, so values are those of the nearest knots, mixed.

    >>> interpolation([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]], knots=2).toarray()
    array([[1. , 0. , 0. , 0. ],
           [0. , 1. , 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    check_at_least(2, knots=knots)
    at = as_floats(points, "points")
    if at.ndim != 2 or at.shape[1] != 2 or not len(at):
        raise InputError(f"points has shape {at.shape}; it should be (points, 2)")
    span = np.maximum(at.max(0) - at.min(0), np.finfo(float).tiny)
    scaled = (at - at.min(0)) / span * (knots - 1)
    low = np.minimum(scaled.astype(int), knots - 2)
    share = scaled - low
    rows, columns, entries = [], [], []
    for dx in (0, 1):
        for dy in (0, 1):
            rows.append(np.arange(len(at)))
            columns.append((low[:, 1] + dy) * knots + low[:, 0] + dx)
            entries.append(np.abs(1 - dx - share[:, 0]) * np.abs(1 - dy - share[:, 1]))
    triples = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
    found = Sparse(coo_array(triples, shape=(len(at), knots**2)))
    found.eliminate_zeros()
    return found
