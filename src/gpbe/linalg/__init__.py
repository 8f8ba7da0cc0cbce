"""Linear algebra: batches of small dense matrices, large sparse ones, and one set of names for both."""

from gpbe.linalg.batched import (
    LeastSquares,
    PseudoInverse,
    independent_columns,
    least_squares,
    pseudo_inverse,
    solve,
    stationary,
)
from gpbe.linalg.inverse import DenseInverse, Inverse, inverse_of, sums_up
from gpbe.linalg.operators import (
    Matrix,
    apply,
    as_matrix,
    compose,
    frobenius,
    gram,
    is_dense,
    scaled,
    system,
    times,
    transpose,
    triangle,
    weighted_span,
)
from gpbe.linalg.sparse import SparseInverse, largest_singular_value, sparse_stationary

__all__ = [
    "DenseInverse",
    "Inverse",
    "LeastSquares",
    "Matrix",
    "PseudoInverse",
    "SparseInverse",
    "apply",
    "as_matrix",
    "compose",
    "frobenius",
    "gram",
    "independent_columns",
    "inverse_of",
    "is_dense",
    "largest_singular_value",
    "least_squares",
    "pseudo_inverse",
    "scaled",
    "solve",
    "sparse_stationary",
    "stationary",
    "sums_up",
    "system",
    "times",
    "transpose",
    "triangle",
    "weighted_span",
]
