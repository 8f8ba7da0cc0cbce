"""One set of names for matrices in three forms: dense and batched, sparse, or known only by what they do.

A formula is written with these names once. On dense arrays each is the NumPy expression that its name says, over any
leading axes. A sparse matrix has no leading axes, and products of tall ones are made a block of rows at a time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import dia_array, hstack
from scipy.sparse.linalg import aslinearoperator

from gpbe.linalg.batched import frobenius as dense_frobenius
from gpbe.shapes import Array, Operator, Sparse

Matrix = Array | Sparse | Operator
Rows = Array | Sparse
"""One row a state: features, say."""

TALL = 2**14
"""Matrices of more rows than this are reduced to a triangle before anything is decomposed."""
BLOCK = 2**22
"""Numbers in a block of rows."""
WELL = 1e-6
"""A matrix is well conditioned if the eigenvalues of its Gram matrix, with columns of length 1, differ by no more."""


def is_dense(matrix: Matrix) -> bool:
    """Is it an array?"""
    return isinstance(matrix, np.ndarray)


def transpose(matrix: Rows) -> Rows:
    """M' over leading axes."""
    return np.swapaxes(matrix, -1, -2) if is_dense(matrix) else Sparse(matrix.T)


def scaled(d: Array, matrix: Matrix) -> Matrix:
    """diag(d) M.

    >>> scaled(np.array([2.0, 3.0]), Sparse([[1.0, 1.0], [0.0, 1.0]])).toarray()
    array([[2., 2.],
           [0., 3.]])
    """
    if is_dense(matrix):
        return d[..., None] * matrix
    if isinstance(matrix, Sparse):
        data = matrix.data * np.repeat(d, np.diff(matrix.indptr))
        return Sparse((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return _as_operator(dia_array((d[None], [0]), shape=(len(d), len(d)))) @ matrix


def apply(matrix: Matrix, v: Array) -> Array:
    """M v for vectors v over leading axes."""
    return (matrix @ v[..., None])[..., 0] if is_dense(matrix) else matrix @ v


def compose(left: Matrix, right: Matrix) -> Matrix:
    """The operator L R: dense if either is, and never formed if either is known only by what it does."""
    if is_dense(left):
        return left @ right if is_dense(right) else (right.T @ left.T).T
    if isinstance(left, Operator) or isinstance(right, Operator):
        return _as_operator(left) @ _as_operator(right)
    return left @ right


def times(matrix: Matrix, columns: Rows) -> Rows:
    """M B for the columns of B; what an operator gives is dense."""
    return matrix @ (as_matrix(columns) if isinstance(matrix, Operator) else columns)


def gram(left: Rows, right: Rows) -> Array:
    """L'R for two tall matrices: small and dense."""
    return as_matrix(transpose(left) @ right)


def as_matrix(matrix: Rows) -> Array:
    """The same matrix as an array, for a matrix that is small or tall, never for one of S x S."""
    return matrix.toarray() if isinstance(matrix, Sparse) else matrix


def frobenius(matrix: Matrix) -> Array:
    """Root of the sum of squares; 0 for an operator, whose entries are not known."""
    if is_dense(matrix):
        return dense_frobenius(matrix)
    return np.asarray(0.0 if isinstance(matrix, Operator) else np.linalg.norm(matrix.data))


def triangle(rows: Rows) -> Array:
    """A matrix R with R'R = M'M, hence with M's singular values and right singular vectors; M itself if it is not tall.

    >>> triangle(Sparse([[3.0], [4.0]])).round(12)
    array([[5.]])
    """
    if is_dense(rows) and not _is_tall(rows):
        return rows
    return _triangle(lambda part: rows[part], rows.shape[0], rows.shape[1])


def system(operator: Matrix, x: Rows | None, target: Array) -> tuple[Array, Array]:
    """The rows and the target of the least-squares problem || operator x w - target ||, reduced if there are many.

    Reduced rows and target have the same length || rows w - target || for every w. Without x it is the identity.
    """
    if isinstance(operator, Operator) and x is not None:
        operator, x = times(operator, x), None
    if is_dense(operator) and not _is_tall(operator):
        return operator if x is None else times(operator, x), target

    def block(part: slice) -> Rows:
        rows = operator[part] if x is None else operator[part] @ x
        if is_dense(rows):
            return np.concatenate([rows, target[part, None]], axis=1)
        return Sparse(hstack([rows, Sparse(target[part, None])]))

    columns = (operator if x is None else x).shape[1] + 1
    r = _triangle(block, operator.shape[0], columns)
    return r[:, :-1], r[:, -1]


def weighted_span(rows: Rows) -> Array:
    """U with orthonormal columns (or zeros) that span the columns of M, over leading axes.

    A singular value below 1e-12 of the largest counts as 0. For a tall M, U = M V / s from the triangle.
    """
    if is_dense(rows) and not _is_tall(rows):
        u, s, _ = np.linalg.svd(rows, full_matrices=False)
        return u * (s > 1e-12 * s[..., :1])[..., None, :]
    _, s, vt = np.linalg.svd(triangle(rows), full_matrices=False)
    keep = s > 1e-12 * s[0]
    return rows @ (vt[keep].T / s[keep])


def _as_operator(matrix: Any) -> Any:
    return aslinearoperator(matrix)


def _is_tall(matrix: Array) -> bool:
    return matrix.ndim == 2 and matrix.shape[0] > TALL


def _triangle(block: Callable[[slice], Rows], rows: int, columns: int) -> Array:
    """R with R'R = M'M for an M of so many rows and columns, of which `block` makes some rows.

    The Cholesky factor of M'M, which is cheap for a sparse M, where M is well enough conditioned for that; otherwise
    Householder's QR, a block of rows at a time, each below the triangle so far, which is as accurate as of M at once.
    """
    step = max(columns, BLOCK // columns)
    parts = [slice(begin, begin + step) for begin in range(0, rows, step)]
    found = _cholesky(sum((gram(b, b) for b in map(block, parts)), np.zeros((columns, columns))))
    if found is not None:
        return found
    r: Array = np.zeros((0, columns))
    for part in parts:
        r = np.asarray(np.linalg.qr(np.concatenate([r, as_matrix(block(part))]), mode="r"))
    return r


def _cholesky(squares: Array) -> Array | None:
    """R with R'R = M'M, or None where forming M'M has lost too much: a relative 1e-16 times the squared condition."""
    size = np.sqrt(np.diag(squares))
    if not (size > 0).all():
        return None
    scaled_ = squares / np.outer(size, size)
    values = np.linalg.eigvalsh(scaled_)
    if values[0] < WELL * values[-1]:
        return None
    return np.linalg.cholesky(scaled_).T * size
