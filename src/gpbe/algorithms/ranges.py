"""Hyperparameters that a user gave, against what they may be."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gpbe.checks import as_floats
from gpbe.errors import InputError


@runtime_checkable
class Range(Protocol):
    """From `low`, itself excluded if `open`, to `high`."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def open(self) -> bool: ...


def checked_numbers(
    given: Mapping[str, Any], ranges: Mapping[str, Any], known: Sequence[str], name: str
) -> dict[str, Any]:
    """What was given, as floats or arrays of floats, if `name` has such hyperparameters and they may be that."""
    for each in given:
        if each not in ranges:
            raise InputError(f"there is no hyperparameter {each!r}; {name} has {', '.join(known)}")
        if each not in known:
            raise InputError(f"{name} does not use {each!r}; it has {', '.join(known)}")
    return {each: _checked(each, value, ranges[each]) for each, value in given.items()}


def _checked(name: str, value: Any, r: Range) -> Any:
    endless = name in ("c_bar", "rho_bar") and np.asarray(value).dtype.kind in "fi"  # a clip may be infinite
    array = np.asarray(value, dtype=float) if endless else as_floats(value, name)
    if array.ndim > 1 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give one number, or a list of numbers to sweep")
    wrong = ~((array > r.low) if r.open else (array >= r.low)) | ~(array <= r.high)
    if wrong.any():
        bounds = (
            f"above {r.low:g}" if np.isinf(r.high) and r.open else f"in {'(' if r.open else '['}{r.low:g}, {r.high:g}]"
        )
        raise InputError(f"{name} is {array[wrong].flat[0] if array.ndim else array:g}; it should be {bounds}")
    return array if array.ndim else float(array)
