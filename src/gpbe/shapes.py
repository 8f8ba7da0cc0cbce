"""Array types. Shapes are checked in the tests (jaxtyping with beartype), never at run time.

S states, A actions, K features. Every array may carry leading axes, which broadcast: a batch of policies,
of features or of weightings goes through a formula in one call.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Num

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
StateMatrix = Float[Array, "... S S"]
Features = Float[Array, "... S K"]
Weights = Float[Array, "... K"]
Mask = Bool[Array, "... S"]


def as_scalar(values: Computed) -> Scalar:
    """A Python float for one problem, an array for a batch.

    >>> as_scalar(np.float64(0.5))
    0.5
    """
    array = np.asarray(values, dtype=float)
    return array if array.ndim else float(array)
