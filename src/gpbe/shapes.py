"""Array types. Shapes are checked in the tests (jaxtyping with beartype), never at run time.

S states, A actions, K features. Every array may carry leading axes, which broadcast: a batch of policies,
of features or of weightings goes through a formula in one call.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Num
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

if TYPE_CHECKING:  # SciPy has no types. To the checker these are arrays too, since both go through the same formulas.

    class Sparse(np.ndarray):
        """A large matrix that is mostly 0, in rows; it has no leading axes."""

        indices: np.ndarray
        indptr: np.ndarray
        nnz: int

        def __new__(cls, *arguments: Any, **options: Any) -> "Sparse": ...
        def toarray(self) -> np.ndarray: ...
        def sum_duplicates(self) -> None: ...
        def eliminate_zeros(self) -> None: ...

    class Operator(np.ndarray):
        """A matrix that is known only by what it does."""

        def __new__(cls, *arguments: Any, **options: Any) -> Any: ...
        def __init__(self, *arguments: Any, **options: Any): ...

else:
    Sparse = csr_array
    Operator = LinearOperator

Array = np.ndarray
Numbers = np.ndarray | Sequence | float | int
"""What a user may hand in for an array: converted with `numpy.asarray` at the door."""

Computed = Array | np.generic | float | bool
"""What a NumPy expression gives: an array, or a scalar of NumPy's own."""

Number = float | int | Num[Any, "..."]
"""A number, or an array of numbers that broadcasts as one; of NumPy or of JAX."""
Vector = Float[Any, "... K"]
"""A number for each feature; of NumPy or of JAX."""

Scalar = float | Float[Array, "..."]
PerState = Float[Array, "... S"]
PerStateAction = Float[Array, "... S A"]
PerTransition = Float[Array, "... S A S"]
OnTransitions = PerTransition | Float[Array, " N"]
"""A number for each transition: (..., S, A, S), or of a sparse problem for each of the N that can happen."""
StateMatrix = Float[Array, "... S S"] | Sparse
Features = Float[Array, "... S K"] | Sparse
Weights = Float[Array, "... K"]
Mask = Bool[Array, "... S"]


def as_scalar(values: Computed) -> Scalar:
    """A Python float for one problem, an array for a batch.

    >>> as_scalar(np.float64(0.5))
    0.5
    """
    array = np.asarray(values, dtype=float)
    return array if array.ndim else float(array)
