"""Checks on what a user hands in. Each raises one line: what is wrong, where, and what would be right."""

from collections.abc import Sequence

import numpy as np

from gpbe.errors import InputError
from gpbe.types import Array, Numbers

TOLERANCE = 1e-8
"""How far from 1 a row of probabilities may sum: text files carry a few digits only."""


def as_floats(values: Numbers, name: str) -> Array:
    """`values` as a read-only float64 array of its own, without NaN or infinity."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from None
    if not np.isfinite(array).all():
        where = place(name, _first(~np.isfinite(array)))
        raise InputError(f"{where} is {array[~np.isfinite(array)][0]}; every entry must be a finite number")
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def check_shape(array: Array, shape: Sequence[int], name: str, axes: str) -> None:
    """The last axes of `array` must have `shape`; leading axes are free."""
    if array.shape[max(0, array.ndim - len(shape)) :] != tuple(shape):
        expected = ", ".join(str(n) for n in shape)
        raise InputError(f"{name} has shape {array.shape}; it should end in ({expected}), which is ({axes})")


def check_probabilities(array: Array, name: str, axes: Sequence[str]) -> None:
    """Rows (the last axis) must be probability distributions; `axes` names the axes before it."""
    if (array < 0).any():
        index = _first(array < 0)
        raise InputError(
            f"{place(name, index, [*axes, 'entry'])} is {array[index]:g}; a probability cannot be negative"
        )
    sums = array.sum(-1)
    wrong = np.abs(sums - 1) > TOLERANCE
    if wrong.any():
        index = _first(wrong)
        raise InputError(f"{place(name, index, axes)} sums to {sums[index]:.10g}; it should sum to 1")


def check_interval(array: Array, name: str, axes: Sequence[str], low: float = 0.0, high: float = 1.0) -> None:
    wrong = (array < low) | (array > high)
    if wrong.any():
        index = _first(wrong)
        raise InputError(f"{place(name, index, axes)} is {array[index]:g}; it should lie in [{low:g}, {high:g}]")


def check_coverage(target: Array, behavior: Array) -> None:
    """The behaviour must take every action that the target takes."""
    missing = (target > 0) & (behavior <= 0)
    if missing.any():
        index = _first(missing)
        probability = np.broadcast_to(target, missing.shape)[index]
        where = place("", index, ("state", "action")).strip("[]")
        raise InputError(
            f"the behavior never takes {where}, which the target takes with probability {probability:g}; "
            "give it a positive probability there"
        )


def place(name: str, index: Sequence[int], axes: Sequence[str] = ()) -> str:
    """`transition[state 2, action 1]`; leading axes without a name are batch axes.

    >>> place("transition", (7, 2, 1), ("state", "action"))
    'transition[batch 7, state 2, action 1]'
    """
    if not len(index):
        return name
    labels = ["batch"] * (len(index) - len(axes)) + list(axes) if axes else [""] * len(index)
    return f"{name}[{', '.join(f'{label} {i}'.strip() for label, i in zip(labels, index, strict=False))}]"


def _first(mask: Array | np.bool_) -> tuple[int, ...]:
    mask = np.asarray(mask)
    return tuple(int(i) for i in np.unravel_index(mask.argmax(), mask.shape))
