"""What can be wrong with what a user hands in: names, choices, counts, shapes, probabilities.

Every refusal is worded here, in one line: what is wrong, where, and what would be right.
"""

import difflib
from collections.abc import Iterable, Sequence
from functools import cache
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers, Sparse

MOST = 16
"""Names that a refusal lists; of more it tells the first."""


def alike(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are spelled like `name`. Numbers that look alike are not meant alike.

    >>> alike("lefft", ["left", "right"]), alike("2", ["12"])
    (['left'], [])
    """
    folded = {each.casefold(): each for each in known}
    close = [] if name.lstrip("-").isdigit() else difflib.get_close_matches(name.casefold(), folded)
    return [folded[each] for each in close]


def hint(name: str, known: Iterable[str]) -> str:
    """What would be right instead of `name`: what is spelled alike, or all that there is.

    >>> hint("lefft", ["left", "right"])
    "did you mean 'left'?"
    >>> hint("north", ["left", "right"])
    'it should be one of left, right'
    """
    known = list(known)
    if close := alike(name, known):
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(known[:MOST]) + (", ..." if len(known) > MOST else "")
    return f"it should be one of {shown}" if known else "there should be none"


def unknown(what: str, name: object, known: Iterable[str]) -> InputError:
    """The refusal of a name that is not known.

    >>> print(unknown("optimizer", "adm", ["adam", "sgd"]))
    there is no optimizer 'adm'; did you mean 'adam'?
    """
    return InputError(f"there is no {what} {name!r}; {hint(str(name), known)}")


def check_known(name: object, known: Iterable[str], what: str) -> None:
    """`name` must be one of the known ones."""
    known = list(known)
    if name not in known:
        raise unknown(what, name, known)


def check_choices(record: Any) -> None:
    """Every field of a dataclass that is a choice among texts must be one of them.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Choices:
    ...     bootstrapping: Literal["importance", "tree-backup"]
    >>> check_choices(Choices("tree_backup"))
    Traceback (most recent call last):
    gpbe.errors.InputError: there is no bootstrapping 'tree_backup'; did you mean 'tree-backup'?
    """
    for name, choices in _choices(type(record)).items():
        check_known(getattr(record, name), choices, name.replace("_", " "))


@cache
def _choices(kind: type) -> dict[str, tuple[str, ...]]:
    hints = get_type_hints(kind)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def position(name: object, known: Sequence[str], what: str) -> int:
    """Where `name` stands among the known ones; `what` says what it is, and where it was read."""
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{what} {name!r} is unknown; {hint(str(name), known)}")
    return known.index(name)


def check_keys(given: Iterable[str], required: Sequence[str], optional: Sequence[str], what: str) -> None:
    """Nothing missing, and nothing unknown that would be silently ignored."""
    given = list(given)
    missing = [key for key in required if key not in given]
    strange = [key for key in given if key not in (*required, *optional)]
    if strange:
        raise InputError(f"{what} {strange[0]!r} is unknown; {hint(strange[0], missing or (*required, *optional))}")
    if missing:
        raise InputError(f"{what} {missing[0]!r} is missing; there should be {', '.join(required)}")


def check_at_least(low: int, **counts: Any) -> None:
    """Counts that are given (not None) must be whole numbers, `low` or more.

    >>> check_at_least(1, runs=0)
    Traceback (most recent call last):
    gpbe.errors.InputError: runs is 0; it should be a whole number, 1 or more
    """
    for name, value in counts.items():
        if value is not None and not (is_whole(value) and value >= low):
            raise InputError(f"{name} is {value!r}; it should be a whole number, {low} or more")


def check_given(**values: Any) -> None:
    """Refuse None, which stands for nothing here: an argument that has a default is left out.

    >>> check_given(runs=None)
    Traceback (most recent call last):
    gpbe.errors.InputError: runs is None; leave it out for its default
    """
    for name, value in values.items():
        if value is None:
            raise InputError(f"{name} is None; leave it out for its default")


def check_function(**functions: Any) -> None:
    """Refuse what cannot be called.

    >>> check_function(advance=5)
    Traceback (most recent call last):
    gpbe.errors.InputError: advance is of type int; it should be a function, or leave it out
    """
    for name, function in functions.items():
        if not callable(function):
            raise InputError(f"{name} is of type {type(function).__name__}; it should be a function, or leave it out")


def is_whole(value: Any) -> bool:
    """Is it a whole number? True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_divides(every: int, steps: int, what: str = "steps") -> None:
    """Curves have a point every so many updates, the last of them at the end."""
    check_at_least(1, every=every)
    if steps % every:
        raise InputError(f"every is {every}; it should divide the {steps} {what}")


def check_seed(seed: Any) -> None:
    """A seed is a whole number of 32 bits: JAX would take others for one of these, and equal seeds are equal runs.

    >>> check_seed(2**70)
    Traceback (most recent call last):
    gpbe.errors.InputError: seed is 1180591620717411303424; it should be a whole number from 0 to 4294967295
    """
    if not (is_whole(seed) and 0 <= seed < 2**32):
        raise InputError(f"seed is {seed!r}; it should be a whole number from 0 to {2**32 - 1}")


def check_level(level: Any) -> None:
    """Refuse a level of confidence that is not between 0 and 1.

    >>> check_level(95)
    Traceback (most recent call last):
    gpbe.errors.InputError: level is 95; it should be between 0 and 1, such as 0.95
    """
    if not (isinstance(level, Real) and 0 < float(level) < 1):
        raise InputError(f"level is {level!r}; it should be between 0 and 1, such as 0.95")


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one from a seed: equal seeds give equal draws."""
    if not isinstance(rng, np.random.Generator) and not (is_whole(rng) and rng >= 0):
        raise InputError(f"rng is {rng!r}; it should be a numpy.random.Generator, or a seed: a whole number, 0 or more")
    return np.random.default_rng(rng)


class Axis(NamedTuple):
    """What an axis of an array is called in messages, and its entries if they have names."""

    what: str
    names: tuple[str, ...] = ()

    def at(self, index: int) -> str:
        """An entry, by its name unless that is its number."""
        name = self.names[index] if index < len(self.names) else str(index)
        return f"{self.what} {index}" if name == str(index) else f"{self.what} {name!r}"


TOLERANCE = 1e-8
"""How far from 1 a row of probabilities may sum: text files carry a few digits only."""


def as_floats(values: Numbers, name: str, offset: int = 0) -> Array:
    """`values` as a read-only float64 array of its own, without NaN or infinity; `offset` is the first row's number.

    >>> as_floats(["1", "2"], "reward")
    Traceback (most recent call last):
    gpbe.errors.InputError: reward is not an array of numbers, but text
    """
    if values is None:
        raise InputError(f"{name} is not an array of numbers, but None")
    try:
        given = np.asarray(values)
        array = np.asarray(given, dtype=float) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from None
    if array is None or (given.dtype.kind == "O" and not _all_real(given)):
        raise InputError(f"{name} is not an array of numbers, but {_KINDS.get(given.dtype.kind, given.dtype)}")
    if not np.isfinite(array).all():
        index = _first(~np.isfinite(array))
        where = place(name, (index[0] + offset, *index[1:]) if index else index)
        raise InputError(f"{where} is {array[~np.isfinite(array)][0]}; every entry must be a finite number")
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


_KINDS = {"U": "text", "S": "text", "T": "text", "c": "complex", "M": "dates", "m": "times", "O": "a mixture"}


def _all_real(values: np.ndarray) -> bool:
    """Are these numbers, such as fractions and whole ones of any size? Text would be read as numbers, too."""
    return all(isinstance(value, Real) for value in values.flat)


LARGEST = 1e50
"""The largest reward or feature: the sixth power of a larger one is infinite, so its errors are no numbers."""


LARGEST_LEARNED = 1e15
"""The same for learning, which computes in 32 bits."""


def check_magnitude(array: Array | Sparse, name: str, largest: float = LARGEST, offset: int = 0) -> None:
    """No entry may be so large that nothing can be computed from it; `offset` is the number of the first row."""
    entries = np.asarray(array.data) if isinstance(array, Sparse) else array
    if not entries.size or max(entries.max(), -entries.min()) <= largest:  # without a copy of what may be large
        return
    index = tuple(int(i) for i in np.transpose((abs(array) > largest).nonzero())[0])
    where = place(name, (index[0] + offset, *index[1:]))
    raise InputError(f"{where} is {array[index]:g}; it should be {largest:g} at most: scale it")


LONGEST_NAME = 200


def check_names(names: Iterable[str], what: str) -> None:
    """Names are shown: each is a short text without control characters, and different from the others."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(
                f"{what} {name!r} has no name that can be shown; give a text of {LONGEST_NAME} letters at most"
            )
        if name in seen:
            raise InputError(f"{what} {name!r} has a name that is taken; each {what} should have its own")
        seen.add(name)


def check_shape(array: Array | Sparse, shape: Sequence[int], name: str, axes: str) -> None:
    """The last axes of `array` must have `shape`; leading axes are free."""
    if array.shape[max(0, array.ndim - len(shape)) :] != tuple(shape):
        expected = ", ".join(str(n) for n in shape)
        raise InputError(f"{name} has shape {array.shape}; it should end in ({expected}), which is ({axes})")


def check_probabilities(array: Array, name: str, axes: Sequence[str | Axis]) -> None:
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


def check_interval(array: Array, name: str, axes: Sequence[str | Axis], low: float = 0.0, high: float = 1.0) -> None:
    wrong = (array < low) | (array > high)
    if wrong.any():
        index = _first(wrong)
        raise InputError(f"{place(name, index, axes)} is {array[index]:g}; it should lie in [{low:g}, {high:g}]")


def check_coverage(target: Array, behavior: Array, axes: Sequence[str | Axis] = ("state", "action")) -> None:
    """The behavior must take every action that the target takes."""
    missing = (target > 0) & (behavior <= 0)
    if missing.any():
        index = _first(missing)
        probability = np.broadcast_to(target, missing.shape)[index]
        where = place("", index, axes)[1:-1]
        raise InputError(
            f"the behavior never takes {where}, which the target takes with probability {probability:g}; "
            "give it a positive probability there"
        )


def place(name: str, index: Sequence[int], axes: Sequence[str | Axis] = ()) -> str:
    """`transition[state 2, action 1]`; leading axes without a name are batch axes.

    >>> place("transition", (7, 2, 1), ("state", "action"))
    'transition[batch 7, state 2, action 1]'
    >>> place("target", (1,), [Axis("state", ("left", "right"))])
    "target[state 'right']"
    """
    if not len(index):
        return name
    named = [axis if isinstance(axis, Axis) else Axis(axis) for axis in axes or [""] * len(index)]
    labels = [Axis("batch")] * (len(index) - len(named)) + named
    return f"{name}[{', '.join(axis.at(i).strip() for axis, i in zip(labels, index, strict=False))}]"


def _first(mask: Array | np.bool_) -> tuple[int, ...]:
    mask = np.asarray(mask)
    return tuple(int(i) for i in np.unravel_index(mask.argmax(), mask.shape))
