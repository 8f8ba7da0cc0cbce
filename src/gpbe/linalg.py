"""Linear algebra on batches of small matrices.

LAPACK spends more time on being called than on solving a 9 x 9 system. The routines here put the batch on the
*last* axis (one problem a lane), so that each arithmetic step is one NumPy operation over all problems, in
blocks that stay in the cache. They take and return the usual layout, batch first.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpbe.types import Array

FEW = 32
"""Below this many problems LAPACK is as fast, so it is used."""
BLOCK_BYTES = 2**19


def solve(matrix: Array, right: Array) -> Array:
    """Solve `matrix @ x = right` for x over leading axes; both broadcast. `right` holds vectors (..., n).

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 1.0]))
    array([0.5 , 0.25])
    """
    n = right.shape[-1]
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-1])
    if np.prod(batch) < FEW:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    matrix = np.broadcast_to(matrix, (*batch, n, n)).reshape(-1, n, n)
    right = np.broadcast_to(right, (*batch, n)).reshape(-1, n)
    augmented = np.concatenate([matrix, right[..., None]], axis=-1)
    return _in_lanes(_eliminate, augmented, n).reshape(*batch, n)


def stationary(transition: Array) -> Array:
    """Stationary distribution of irreducible chains (..., n, n), by the method of Grassmann, Taksar and Heyman.

    It never subtracts, so even probabilities of 1e-200 come out with full relative precision.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]]))
    array([0.75, 0.25])
    """
    n = transition.shape[-1]
    batch = transition.shape[:-2]
    return _in_lanes(_censor, transition.reshape(-1, n, n), n).reshape(*batch, n)


class LeastSquares(NamedTuple):
    """The minimum-norm solution of a least-squares problem, and how well determined it is."""

    solution: Array
    rank: Array
    condition: Array
    """Largest over smallest singular value: infinite when the rank is deficient."""


def least_squares(matrix: Array, right: Array) -> LeastSquares:
    """Minimise ||matrix @ x - right||_2 over x; among minimisers take the one of least norm. Batched.

    Singular values below the largest times 1e-12 count as zero: coefficients here come from solved linear
    systems, so a tolerance of one rounding error would call noise a direction.
    """
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    keep = s > 1e-12 * s[..., :1]
    inverse = np.where(keep, 1.0, 0.0) / np.where(keep, s, 1.0)
    solution = np.einsum("...rk,...r,...mr,...m->...k", vt, inverse, u, right, optimize=True)
    rank = keep.sum(-1)
    full = rank == matrix.shape[-1]
    smallest = np.where(full, s[..., -1], 0.0)
    condition = np.divide(s[..., 0], smallest, out=np.full(np.shape(rank), np.inf), where=full & (smallest > 0))
    return LeastSquares(solution, rank, condition)


def orthonormal_basis(matrix: Array, tolerance: float = 1e-10) -> Array:
    """Columns that span the columns of `matrix` (..., n, k); those beyond its rank are zero. Batched.

    Modified Gram-Schmidt with column pivoting, and one re-orthogonalisation, a problem a lane.
    """
    *batch, n, k = matrix.shape

    def run(block: Array) -> Array:
        return _gram_schmidt(block, tolerance)

    return _in_lanes(run, matrix.reshape(-1, n, k), (n, k)).reshape(*batch, n, k)


def _in_lanes(kernel: Callable[[Array], Array], batch: Array, shape: int | tuple[int, ...]) -> Array:
    """Run `kernel` (problems on the last axis) over `batch` (problems on the first), a block at a time."""
    shape = (shape,) if isinstance(shape, int) else shape
    out = np.empty((len(batch), *shape))
    lanes = max(16, BLOCK_BYTES // (8 * int(np.prod(batch.shape[1:]))))
    for start in range(0, len(batch), lanes):
        block = np.ascontiguousarray(np.moveaxis(batch[start : start + lanes], 0, -1))
        out[start : start + lanes] = np.moveaxis(kernel(block), -1, 0)
    return out


def _eliminate(a: Array) -> Array:
    """Gauss-Jordan on augmented systems (n, n + 1, lanes), in place, with partial pivoting."""
    n = len(a)
    for k in range(n):
        below = np.abs(a[k:, k])
        pivot = below.argmax(axis=0)
        (swap,) = np.nonzero(pivot)
        if swap.size:
            rows = pivot[swap] + k
            upper, lower = a[k][:, swap], a[rows, :, swap].T
            a[rows, :, swap], a[k][:, swap] = upper.T, lower
        a[k, k + 1 :] /= a[k, k]
        if k + 1 < n:
            a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, None, k + 1 :]
    x = a[:, n]
    for k in range(n - 1, 0, -1):
        x[:k] -= a[:k, k] * x[k]
    return x


def _censor(p: Array) -> Array:
    """Remove states one by one (the chain watched only on the rest), then add them back. In place."""
    n = len(p)
    for k in range(n - 1, 0, -1):
        p[:k, k] /= p[k, :k].sum(axis=0)
        p[:k, :k] += p[:k, k, None] * p[k, None, :k]
    d = np.empty(p.shape[1:])
    d[0] = 1.0
    for k in range(1, n):
        d[k] = (d[:k] * p[:k, k]).sum(axis=0)
    return d / d.sum(axis=0)


def _gram_schmidt(x: Array, tolerance: float) -> Array:
    n, k, lanes = x.shape
    basis = np.zeros((min(n, k), n, lanes))
    scale = np.sqrt((x**2).sum(axis=0).max(axis=0))
    lane = np.arange(lanes)
    for j in range(min(n, k)):
        norms = (x**2).sum(axis=0)
        column = x[:, norms.argmax(axis=0), lane]
        for q in basis[:j]:
            column = column - q * (q * column).sum(axis=0)
        norm = np.sqrt((column**2).sum(axis=0))
        alive = norm > tolerance * scale
        q = np.divide(column, norm, out=basis[j], where=alive)
        x -= q[:, None] * (q[:, None] * x).sum(axis=0)
    out = np.zeros((n, k, lanes))
    out[:, : min(n, k)] = np.moveaxis(basis, 0, 1)
    return out
