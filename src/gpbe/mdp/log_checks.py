"""What a log is made of, checked: columns that fit together, probabilities, and which rows tell where they led."""

from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from gpbe.checks import as_floats, check_interval, check_magnitude, check_probabilities
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

NUMBERS = ("reward", "discount", "target", "behavior")
"""The columns that have a number for each row."""
LEAST = 1e-30
"""The least probability of an action that was taken: sums of squares of its ratio are still numbers."""


def checked(given: Mapping[str, Any], stop: int | None = None) -> dict[str, Array | None]:
    """The fields of a log from what is given for them, of rows before `stop`; those after it tell what follows."""
    x = as_floats(given["features"], "features")
    if not x.shape[1]:
        raise InputError(f"features have shape {x.shape}; there should be one at least")
    columns = {name: _column(given[name], name, len(x)) for name in NUMBERS}
    check_magnitude(x, "features")
    check_magnitude(columns["reward"], "reward")
    for name in NUMBERS[1:]:
        check_interval(columns[name], name, ("row",))
    check_possible(columns["behavior"], lambda row, what: InputError(f"behavior[row {row}] {what}"))
    label = None if given["episode"] is None else _labels(given["episode"], len(x))
    taken, chances = read_policy(given["action"], given["policy"], len(x), columns["target"])
    following = given["next_features"] is None
    if following:
        led = x[1:]
    else:
        led = as_floats(given["next_features"], "next_features")
        if led.shape != x.shape:
            raise InputError(f"next_features have shape {led.shape}; they should have that of features, {x.shape}")
        check_magnitude(led, "next_features")
    same = label[1:] == label[:-1] if label is not None else True if following else same_place(x, led)
    continues = np.append((columns["discount"][:-1] > 0) & same, False)
    after = _after(chances, given["next_policy"], continues)
    known, continues = _known(columns["discount"], continues, following, label)
    known[len(x) if stop is None else stop :] = False
    count = int(known.sum())
    keep: Any = slice(0, count) if known[:count].all() else known  # of a slice there is no copy
    if count and following and (known[-1] or keep is known):
        led = np.concatenate([led, x[-1:]])
    fields = {"features": x, "next_features": led, **columns, "continues": continues}
    fields |= {"action": taken, "policy": chances, "next_policy": after}
    return {name: None if a is None else a[keep] for name, a in fields.items()}


def check_possible(behavior: Array, refuse: Callable[[int, str], InputError]) -> None:
    """A taken action cannot have had probability 0, nor one so small that its ratio is beyond numbers."""
    if (behavior >= LEAST).all():
        return
    row = int((~(behavior >= LEAST)).argmax())
    said = "0, so its ratio is infinite" if behavior[row] == 0 else f"{behavior[row]:g}"
    raise refuse(row, f"is {said}; a taken action cannot have a probability below {LEAST:g}")


def read_policy(
    action: Numbers | None, policy: Numbers | None, rows: int, target: Array
) -> tuple[Array | None, Array | None]:
    """Actions, and the target policy's probabilities of all of them, checked against those of the actions taken."""
    taken = None if action is None else _column(action, "action", rows)
    if taken is not None and ((taken % 1 != 0) | (taken < 0)).any():
        row = int(((taken % 1 != 0) | (taken < 0)).argmax())
        raise InputError(f"action[row {row}] is {taken[row]:g}; actions should be numbered 0, 1, ...")
    taken = None if taken is None else taken.astype(np.intp)
    if policy is None:
        return taken, None
    if taken is None:
        raise InputError("policy has probabilities of all actions, but no action tells which was taken; give both")
    chances = as_floats(policy, "policy")
    if chances.ndim != 2 or len(chances) != rows:
        raise InputError(f"policy has shape {chances.shape}; it should be ({rows}, actions)")
    if (taken >= chances.shape[1]).any():
        row = int((taken >= chances.shape[1]).argmax())
        raise InputError(f"action[row {row}] is {taken[row]}; policy has probabilities of {chances.shape[1]} actions")
    check_probabilities(chances, "policy", ("row",))
    said = chances[np.arange(rows), taken]
    if (np.abs(said - target) > 1e-6).any():
        row = int((np.abs(said - target) > 1e-6).argmax())
        raise InputError(
            f"target[row {row}] is {target[row]:g}, but policy gives action {taken[row]} there {said[row]:g}"
        )
    return taken, chances


def _column(values: Numbers, name: str, rows: int) -> Array:
    column = as_floats(values, name)
    if column.shape != (rows,):
        raise InputError(f"{name} has shape {column.shape}; it should have one number for each of {rows} rows")
    return column


def _labels(episode: Any, rows: int) -> Array:
    label = np.asarray(episode)
    if label.shape != (rows,):
        raise InputError(f"episode has shape {label.shape}; it should have one label for each of {rows} rows")
    if (row := comes_back(label, np.flatnonzero(np.append(True, label[1:] != label[:-1])))) is not None:
        raise InputError(f"episode[row {row}] is {label[row]} {AGAIN}")
    return label


AGAIN = "again, after rows of another; the rows of an episode should follow one another"


def comes_back(label: Array, begins: Array, seen: Container[Any] = ()) -> int | None:
    """The first of the rows with which episodes begin that has a label from before; None if there is none.

    >>> comes_back(np.array([7, 8, 8, 7]), begins=np.array([0, 1, 3]))
    3
    """
    new: set[Any] = set()
    for row, name in zip(begins.tolist(), label[begins].tolist(), strict=True):
        if name in seen or name in new:
            return row
        new.add(name)
    return None


def same_place(x: Array, follows: Array) -> Array:
    """Does each row but the last lead to where the next one begins? In blocks, which stay small."""
    same, block = np.empty(len(x) - 1, dtype=bool), max(1, 2**18 // max(1, x.shape[1]))
    for start in range(0, len(same), block):
        rows = slice(start, start + block)
        led, begins = follows[:-1][rows].astype(np.float32), x[1:][rows].astype(np.float32)
        same[rows] = (led == begins).all(1)
    return same


def breaks(discount: Array, continues: Array, last: bool = True) -> Array:
    """Does a log break off after a row, in the middle of an episode? That it ends with its last row does not count."""
    broken = (discount > 0) & ~continues
    broken[-1:] &= not last
    return broken


def _after(policy: Array | None, given: Numbers | None, continues: Array) -> Array | None:
    """The target policy in the next states: as given, or that of the row which follows."""
    if policy is None:
        return None
    if given is not None:
        after = as_floats(given, "next_policy")
        if after.shape != policy.shape:
            raise InputError(f"next_policy has shape {after.shape}; it should have that of policy, {policy.shape}")
        return after
    after = np.full(policy.shape, np.nan)
    after[:-1][continues[:-1]] = policy[1:][continues[:-1]]
    return after


def _known(discount: Array, continues: Array, following: bool, label: Array | None) -> tuple[Array, Array]:
    """Which rows tell where they led, and which of them lead to a row that does.

    Where rows follow one another, the last row does not tell; nor does the last of each episode that it did not end.
    """
    if not following:
        return np.ones(len(discount), dtype=bool), continues
    known = np.append(np.ones(len(discount) - 1, dtype=bool), False)
    if label is not None:
        known = continues | (discount == 0)
    return known, continues & np.append(known[1:], False)
