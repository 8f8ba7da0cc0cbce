"""The rows of a table as what a log is made of, checked row by row."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from gpbe.errors import InputError
from gpbe.mdp.log_checks import AGAIN, check_possible, comes_back
from gpbe.mdp.log_layout import Layout, Place, Resolved, applied, labels, numbers, vectors
from gpbe.shapes import Array
from gpbe.wording import counted

REMEMBERED = 2**16
"""Labels of episodes that are remembered: mixed rows show within the first few, and memory stays small."""


class Order:
    """Which episode each row belongs to, batch after batch; rows of an episode must follow one another."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()
        self.label: Any = None
        self.step: float | None = None
        self.first: float | None = None
        self.episode = 0

    def episodes(self, label: Array | None, step: Array | None, at: Place, names: tuple[str, str]) -> Array | None:
        """A running number for each row's episode."""
        if label is None and step is None:
            return None
        begins = np.zeros(len(label if label is not None else step), dtype=bool)  # pyright: ignore
        if label is not None:
            before = np.concatenate([label[:1] if self.label is None else [self.label], label[:-1]])
            begins = label != before
        if step is not None:
            gaps = np.diff(step, prepend=step[:1] - 1 if self.step is None else [self.step]) != 1
            if label is None:
                begins = gaps
            self._check(begins, gaps, step, at, names)
            self.step = float(step[-1])
        if label is not None:
            self._check_new(label, begins, at, names[0])
        number = self.episode + np.cumsum(begins)
        self.episode = int(number[-1])
        self.label = None if label is None else label[-1]
        return number

    def _check_new(self, label: Array, begins: Array, at: Place, name: str) -> None:
        """Refuse an episode that comes back after another one: its rows are mixed with those of others."""
        rows = np.flatnonzero(begins)
        if self.label is None:
            rows = np.append(0, rows)
        if (row := comes_back(label, rows, self.seen)) is not None:
            raise at.refuse(name, row, f"is {label[row]} {AGAIN}")
        self.seen.update(label[rows].tolist()[: max(0, REMEMBERED - len(self.seen))])

    def _check(self, begins: Array, gaps: Array, step: Array, at: Place, names: tuple[str, str]) -> None:
        self.first = float(step[0]) if self.first is None else self.first
        wrong = (gaps & ~begins) | (begins & (step > self.first))
        if not wrong.any() and (begins & (step < self.first)).any():
            raise InputError(
                f"{at.file}: {names[1]}[row 0] is {self.first:g}, but an episode after it begins at "
                f"{step[begins].min():g}; a file should begin with an episode, not go on with one of another file"
            )
        if wrong.any():
            row = int(wrong.argmax())
            what = "in the middle of an episode" if not begins[row] else "at the beginning of an episode"
            raise at.refuse(
                names[1],
                row,
                f"is {step[row]:g} {what}; rows should be sorted by {names[0]} and {names[1]}, none missing",
            )


def rows_of(frame: pl.DataFrame, c: Resolved, layout: Layout, at: Place, order: Order) -> dict[str, Any]:
    """What a log is made of, from a table's rows."""
    states = vectors(frame, c.state, at)
    led = None if c.next_state is None else vectors(frame, c.next_state, at)
    if led is not None and led.shape != states.shape:
        raise InputError(
            f"{at.file}: next states have {counted(led.shape[1], 'number')}, but states have {states.shape[1]}"
        )
    action = None if c.action is None else _actions(frame, c.action, at)
    target, policy = _chances(frame, c.target, "target", states, action, at)
    behavior, _ = _chances(frame, c.behavior, "behavior", states, action, at)
    check_possible(behavior, partial(at.refuse, "behavior"))
    label = None if c.episode is None else labels(frame, c.episode, at)
    step = None if c.step is None else numbers(frame, c.step, at)
    given: dict[str, Any] = {
        "features": _mapped(layout, states, at),
        "next_features": None if led is None else _mapped(layout, led, at),
        "reward": numbers(frame, c.reward, at),
        "discount": _discount(frame, c, at),
        "target": target,
        "behavior": behavior,
        "action": action,
        "policy": policy,
        "next_policy": _next_policy(frame, c, led, at),
        "episode": order.episodes(label, step, at, (layout.episode, layout.step)),
    }
    return frozen(given)


def _mapped(layout: Layout, states: Array, at: Place) -> Array:
    return states if layout.features is None else applied(layout.features, states, "features", at)


def _next_policy(frame: pl.DataFrame, c: Resolved, led: Array | None, at: Place) -> Array | None:
    if c.next_target is not None:
        return vectors(frame, c.next_target, at)
    return applied(c.target, led, "target", at) if callable(c.target) and led is not None else None


def _discount(frame: pl.DataFrame, c: Resolved, at: Place) -> Array:
    if isinstance(c.discount, str):
        discount = numbers(frame, c.discount, at, 0.0, 1.0)
    else:
        discount = np.full(len(frame), float(c.discount))
    return discount if c.terminal is None else np.where(numbers(frame, c.terminal, at) != 0, 0.0, discount)


def _actions(frame: pl.DataFrame, name: str, at: Place) -> Array:
    action = numbers(frame, name, at)
    wrong = (action < 0) | (action % 1 != 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise at.refuse(name, row, f"is {action[row]:g}; actions should be numbered 0, 1, ...")
    return action


def _chances(
    frame: pl.DataFrame, names: Any, what: str, states: Array, action: Array | None, at: Place
) -> tuple[Array, Array | None]:
    """The probability of the action taken, and if they are given of all actions."""
    is_list = not callable(names) and isinstance(frame.schema[names[0]], pl.List | pl.Array)
    if not callable(names) and len(names) == 1 and not is_list:
        return numbers(frame, names[0], at, 0.0, 1.0), None
    every = applied(names, states, what, at) if callable(names) else vectors(frame, names, at)
    if action is None:
        raise InputError(f"{at.file}: {what} has probabilities of all actions; a column should tell which was taken")
    wrong = (np.abs(every.sum(1) - 1) > 1e-6) | (every < 0).any(1)
    if wrong.any():
        row = int(wrong.argmax())
        shown = ", ".join(f"{p:g}" for p in every[row])
        raise at.refuse(what, row, f"is {shown}; probabilities should not be negative and sum to 1")
    if (action >= every.shape[1]).any():
        row = int((action >= every.shape[1]).argmax())
        raise at.refuse("action", row, f"is {action[row]:g}; {what} has probabilities of {every.shape[1]} actions")
    if (np.abs(every.sum(1) - 1) > 1e-12).any():  # as it is with numbers of 32 bits
        every = every / every.sum(1, keepdims=True)
    return every[np.arange(len(every)), action.astype(int)], every


def frozen(given: dict[str, Any]) -> dict[str, Any]:
    """Arrays that nobody else holds need no copy of their own."""
    for values in given.values():
        if values is not None:
            values.flags.writeable = False
    return given
