"""A hyperparameter, declared once: its range, default, meaning, and what the paper sweeps it over.

A family of algorithms declares all of its hyperparameters in one named tuple, `Hypers`, whose fields have these records
as their defaults. From it follow what `gpbe.train` and `gpbe.predict` accept, the options of the command line, the
columns of results and the documentation; `Hypers(**numbers)` is what a compiled program is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np

from gpbe.checks import as_floats, hint
from gpbe.errors import InputError


@dataclass(frozen=True)
class Hyperparameter:
    """A number that may be swept.

    >>> Hyperparameter("probability of a random action", 0.1, high=1.0).bounds
    'in [0, 1]'
    """

    meaning: str
    """What it is in a few words, as help shows them."""
    default: float
    low: float = 0.0
    high: float = inf
    open: bool = False
    """Is `low` itself excluded?"""
    endless: bool = False
    """May it be infinite, as the clip of a ratio?"""
    paper: tuple[float, ...] = ()
    """What the paper's sweeps go over; empty for what it does not sweep."""

    @property
    def bounds(self) -> str:
        """The range in words."""
        if isinf(self.high):
            return f"above {self.low:g}" if self.open else f"{self.low:g} or more"
        return f"in {'(' if self.open else '['}{self.low:g}, {self.high:g}]"

    def checked(self, value: Any, name: str) -> Any:
        """One number as a float, several as an array, if they are within the range."""
        endless = self.endless and np.asarray(value).dtype.kind in "fi"
        array = np.asarray(value, dtype=float) if endless else as_floats(value, name)
        if array.ndim > 1 or array.size == 0:
            raise InputError(f"{name} has shape {array.shape}; give one number, or a list of numbers to sweep")
        wrong = ~((array > self.low) if self.open else (array >= self.low)) | ~(array <= self.high)
        if wrong.any():
            raise InputError(f"{name} is {array[wrong].flat[0]:g}; it should be {self.bounds}")
        with np.errstate(over="ignore", under="ignore"):
            learned = array.astype(np.float32)
        lost = (np.isinf(learned) & np.isfinite(array)) | ((learned == 0) & (array != 0))
        if lost.any():
            least, most = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max
            raise InputError(
                f"{name} is {array[lost].flat[0]:g}; numbers of 32 bits, which learning computes with, "
                f"go from {least:.2g} to {most:.2g}"
            )
        return array if array.ndim else float(array)


def checked_numbers(
    given: Mapping[str, Any], declared: Mapping[str, Hyperparameter], known: Sequence[str], name: str
) -> dict[str, Any]:
    """The given hyperparameters as floats or arrays of floats; what the algorithm `name` does not have is refused.

    `declared` are those of its family, `known` the names of those that it has itself.
    """
    for each in given:
        if each not in declared:
            raise InputError(f"there is no hyperparameter {each!r}; {hint(each, known)}")
        if each not in known:
            raise InputError(f"{name} does not use {each!r}; it has {', '.join(known)}")
    return {each: declared[each].checked(value, each) for each, value in given.items()}
