"""One inequality, with everything needed to judge it: both sides, its constants and what it assumes."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool

from gpbe.shapes import Array, Computed, Scalar, as_scalar

Truth = bool | Bool[Array, "..."]

ROUNDING = 1e-9
"""How far the sides of a true inequality may be apart the wrong way, relative to the numbers they come from."""
BELOW_ONE = 1 - 1e-12
"""A constant counts as below 1 only up to here: one that is exactly 1 may come out a rounding error smaller."""


@dataclass(frozen=True, eq=False)
class Bound:
    """`left` `relation` `right`, which is a theorem where `assumptions_hold`.

    For a batch of problems both sides, the constants and the assumptions are arrays over it.

    >>> b = Bound("triangle", "Euclid", left=5.0, right=7.0, assumptions={"it is flat": True})
    >>> b.holds, b.slack
    (True, 2.0)
    >>> print(b)
    triangle: 5 <= 7
    """

    name: str
    reference: str
    left: Scalar
    right: Scalar
    constants: dict[str, Scalar] = field(default_factory=dict)
    assumptions: dict[str, Truth] = field(default_factory=dict)
    """What the inequality needs, which may be more, or less, than its source states."""
    relation: Literal["<=", "<", "=="] = "<="
    scale: Scalar = 0.0
    """Size of the quantities whose differences are compared: the yardstick of rounding errors."""

    @property
    def assumptions_hold(self) -> Truth:
        return as_truth(np.logical_and.reduce(np.broadcast_arrays(True, *self.assumptions.values())))

    @property
    def holds(self) -> Truth:
        """Is the inequality true of these numbers, up to `ROUNDING`? Asked whether or not its assumptions hold."""
        left, right = np.asarray(self.left), np.asarray(self.right)
        rounding = ROUNDING * (np.asarray(self.scale) + right)
        if self.relation == "<":
            return as_truth(left < right * BELOW_ONE)
        if self.relation == "==":
            return as_truth(np.abs(left - right) <= rounding)
        return as_truth(left <= right + rounding)

    @property
    def slack(self) -> Scalar:
        """How much larger the right side is."""
        return as_scalar(np.asarray(self.right) - np.asarray(self.left))

    def __str__(self) -> str:
        broken = [name for name, true in self.assumptions.items() if not np.all(true)]
        note = f" (not assured: it does not hold that {', '.join(broken)})" if broken else ""
        if np.ndim(self.left):
            return f"{self.name}: {np.sum(self.holds)} of {np.size(self.left)} hold{note}"
        return f"{self.name}: {self.left:.4g} {self.relation} {self.right:.4g}{note}"


def as_truth(values: Computed) -> Truth:
    """A Python bool for one problem, an array for a batch."""
    array = np.asarray(values, dtype=bool)
    return array if array.ndim else bool(array)


def times(constant: Computed, error: Computed) -> Scalar:
    """A constant times an error, where an infinite constant bounds nothing, not even an error of 0."""
    constant, error = np.broadcast_arrays(constant, error)
    product = np.multiply(constant, error, out=np.full(error.shape, np.inf), where=np.isfinite(constant))
    return as_scalar(product)
