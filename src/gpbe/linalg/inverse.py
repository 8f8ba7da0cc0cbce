"""M^-1 that can be applied to many right sides: by NumPy for a batch, by a factorization for a sparse matrix."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import eye_array

from gpbe.errors import InputError
from gpbe.linalg.batched import solve
from gpbe.linalg.sparse import SparseInverse
from gpbe.shapes import Array, Sparse


@dataclass(frozen=True, eq=False)
class DenseInverse:
    """The inverse of each matrix of a batch, applied without being formed."""

    matrix: Array

    @property
    def T(self) -> "DenseInverse":
        """The inverse of the transpose."""
        return DenseInverse(np.swapaxes(self.matrix, -1, -2))

    def of(self, right: Array) -> Array:
        """M^-1 r for vectors r over leading axes."""
        return solve(self.matrix, right)

    def of_columns(self, right: Array) -> Array:
        """M^-1 B for matrices B over leading axes."""
        return np.linalg.solve(self.matrix, right)

    def as_operator(self) -> Array:
        """M^-1 itself, an array."""
        return np.linalg.inv(self.matrix)


@dataclass(frozen=True, eq=False)
class Inverse:
    """The inverse of a sparse matrix, applied by its factors; the transpose has the same ones."""

    operator: SparseInverse
    transposed: bool = False

    @property
    def T(self) -> "Inverse":
        """The inverse of the transpose."""
        return Inverse(self.operator, not self.transposed)

    def of(self, right: Array) -> Array:
        """M^-1 r for one vector r."""
        return (self.operator.T if self.transposed else self.operator) @ right

    def of_columns(self, right: Array | Sparse) -> Array:
        """M^-1 B for the columns of B."""
        return self.of(right if isinstance(right, np.ndarray) else right.toarray())

    def as_operator(self) -> SparseInverse:
        """M^-1 as an operator, which is no array."""
        return self.operator.T if self.transposed else self.operator


def inverse_of(matrix: Array | Sparse) -> DenseInverse | Inverse:
    """The inverse of a matrix in either form.

    >>> inverse_of(np.array([[2.0, 0.0], [0.0, 4.0]])).of(np.array([1.0, 1.0]))
    array([0.5 , 0.25])
    """
    return DenseInverse(matrix) if isinstance(matrix, np.ndarray) else Inverse(SparseInverse(matrix))


def sums_up(matrix: Array | Sparse) -> bool:
    """Has I + M + M^2 + ... a sum, for one M without negative entries?

    If and only if (I - M) y = 1 has a solution without negative entries: then M y < y, so the spectral radius is below
    1; and where it is, y is the sum times 1. No eigenvalue is needed.

    >>> sums_up(np.array([[0.0, 2.0], [0.4, 0.0]])), sums_up(np.array([[0.0, 2.0], [0.6, 0.0]]))
    (True, False)
    """
    n = matrix.shape[0]
    identity = np.eye(n) if isinstance(matrix, np.ndarray) else Sparse(eye_array(n, format="csr"))
    one = np.ones(n)
    try:
        y = inverse_of(identity - matrix).of(one)
    except (np.linalg.LinAlgError, RuntimeError, InputError):  # singular, or too close to it to be solved
        return False
    missed = np.abs(y - matrix @ y - one).max()
    return bool((y >= 1 - 1e-6).all() and missed < 1e-3)
