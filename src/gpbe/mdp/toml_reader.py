"""A prediction problem from TOML text. The format is described in docs/files.md."""

import re
from fractions import Fraction
from typing import Any

import numpy as np

from gpbe.checks import TOLERANCE, check_keys, check_names, position
from gpbe.errors import InputError
from gpbe.files.reading import parse_toml
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Array

REQUIRED = ("states", "actions", "start", "transition", "target", "behavior")
OPTIONAL = ("name", "terminal", "discount", "features", "initial_weights")
DEFAULT = "default"
"""The name, in a policy, of the row of every state that has none of its own."""
ENTRIES = 2**23
"""The largest array of transitions: states times actions times states."""
_WRITTEN = re.compile(r"[+-]?\d{1,40}(\.\d{0,40})?([eE][+-]?\d{1,3})?(/\d{1,40})?")
"""A number as text. Of a longer exponent, exact arithmetic would not come to an end."""


def parse(source: bytes, name: str) -> PredictionProblem:
    """The problem that the text describes; `name` is used if it gives none."""
    data = parse_toml(source)
    check_keys(data, REQUIRED, OPTIONAL, "key")
    states, terminal = _name_list(data, "states"), _name_list(data, "terminal")
    actions = _name_list(data, "actions")
    everywhere = states + terminal
    check_names([DEFAULT, *everywhere], "state")
    check_names(actions, "action")
    if len(everywhere) ** 2 * len(actions) > ENTRIES:
        raise InputError(
            f"has {len(everywhere):,} states and {len(actions):,} actions, too many for text; save its arrays as .npz"
        )
    arrays = _transitions(data, states, everywhere, actions)
    start = _start(data["start"], states)
    if terminal:
        mdp = FiniteMDP.episodic(
            *arrays,
            start=np.append(start, np.zeros(len(terminal))),
            terminal=range(len(states), len(everywhere)),
            state_names=everywhere,
            action_names=actions,
        )
    else:
        mdp = FiniteMDP(*arrays, start, state_names=states, action_names=actions)
    return PredictionProblem(
        mdp,
        _policy(data["target"], states, actions, "target"),
        _policy(data["behavior"], states, actions, "behavior"),
        _features(data["features"], states) if "features" in data else None,
        initial_weights=_row(data["initial_weights"], "initial_weights") if "initial_weights" in data else None,
        name=_name(data.get("name", name)),
    )


def _transitions(
    data: dict[str, Any], states: list[str], everywhere: list[str], actions: list[str]
) -> tuple[Array, Array, Array]:
    shape = (len(everywhere), len(actions), len(everywhere))
    probability, reward, discount = np.zeros((3, *shape))
    general = _number(data["discount"], "discount") if "discount" in data else None
    given = np.zeros(shape, dtype=bool)
    if not isinstance(data["transition"], list):
        raise InputError("transition is not a list; each one should begin with [[transition]]")
    for i, entry in enumerate(data["transition"], start=1):
        where = f"[[transition]] {i}"
        _table(entry, where)
        check_keys(entry, ("from", "to"), ("action", "probability", "reward", "discount"), f"{where}: key")
        s = position(entry["from"], states, f"{where}: from state")
        following = position(entry["to"], everywhere, f"{where}: to state")
        taken = entry.get("action", actions)
        ends = following >= len(states)
        if ends and "discount" in entry:
            raise InputError(
                f"{where} has a discount but leads to the end {entry['to']!r}, where it is 0; leave it out"
            )
        own = entry.get("discount", 0 if ends else general)
        if own is None:
            raise InputError(f"{where} has no discount; give it one, or give `discount` once for all")
        for action in taken if isinstance(taken, list) else [taken]:
            at = s, position(action, actions, f"{where}: action"), following
            if given[at]:
                raise InputError(
                    f"{where}: from {entry['from']!r} with {action!r} to {entry['to']!r} was given before; "
                    "give it once, with the sum of the probabilities"
                )
            given[at] = True
            probability[at] = _number(entry.get("probability", 1), f"{where}: probability")
            reward[at] = _number(entry.get("reward", 0), f"{where}: reward")
            discount[at] = _number(own, f"{where}: discount")
    for s, state in enumerate(states):
        for a, action in enumerate(actions):
            if not given[s, a].any():
                raise InputError(f"no [[transition]] from {state!r} with {action!r}; there should be at least one")
            _check_sum(probability[s, a], f"the transitions from {state!r} with {action!r}")
    return probability, reward, discount


def _start(value: object, states: list[str]) -> Array:
    if isinstance(value, str):
        value = {value: 1}
    return _distribution(value, states, "start: state", "start")


def _policy(value: object, states: list[str], actions: list[str], key: str) -> Array:
    table = _table(value, f"[{key}]")
    for state in table:
        position(state, [*states, DEFAULT], f"[{key}]: state")
    missing = [state for state in states if state not in table and DEFAULT not in table]
    if missing:
        raise InputError(f"[{key}] says nothing about state {missing[0]!r}; add it, or a row called {DEFAULT!r}")
    rows = {state: _distribution(row, actions, f"[{key}]: action", f"[{key}] {state}") for state, row in table.items()}
    return np.array([rows.get(state, rows.get(DEFAULT)) for state in states])


def _features(value: object, states: list[str]) -> Array:
    table = _table(value, "[features]")
    check_keys(table, states, (), "[features]: state")
    rows = [_row(table[state], f"[features] {state}") for state in states]
    for state, row in zip(states, rows, strict=True):
        if len(row) != len(rows[0]):
            raise InputError(
                f"[features] {state} has {len(row)} numbers; it should have {len(rows[0])}, like {states[0]}"
            )
    return np.array(rows)


def _distribution(value: object, names: list[str], what: str, where: str) -> Array:
    row = np.zeros(len(names))
    for name, probability in _table(value, where).items():
        row[position(name, names, what)] = _number(probability, f"{where}: {name}")
    _check_sum(row, where)
    return row


def _check_sum(row: Array, where: str) -> None:
    if (row < 0).any():
        raise InputError(f"{where}: a probability is {row.min():g}; it cannot be negative")
    if abs(row.sum() - 1) > TOLERANCE:
        raise InputError(f'{where}: probabilities sum to {row.sum():.10g}; it should be 1 (write a third as "1/3")')


def _row(value: object, where: str) -> list[float]:
    if not isinstance(value, list):
        raise InputError(f"{where} is {value!r}; it should be a list of numbers")
    return [_number(entry, where) for entry in value]


def _number(value: object, where: str) -> float:
    """A number, or a text such as "1/3" that no decimal could give exactly."""
    try:
        if isinstance(value, str) and not _WRITTEN.fullmatch(value.strip()):
            raise ValueError(value)
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            return float(Fraction(value))
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise InputError(f'{where} is {value!r}; it should be a number, or a fraction like "1/3"')


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} is {value!r}; it should be a table of names and values")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"name is {value!r}; it should be a text")
    return value


def _name_list(data: dict[str, Any], key: str) -> list[str]:
    names = data.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f'{key} is {names!r}; it should be a list of names, like ["one", "two"]')
    if not names and key in data:
        raise InputError(f"{key} is empty; it should name at least one")
    return names
