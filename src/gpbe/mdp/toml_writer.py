"""A prediction problem as TOML text that reads like a description of it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from gpbe.errors import InputError
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.toml_reader import DEFAULT
from gpbe.shapes import Array


def render(problem: PredictionProblem) -> str:
    """The text from which `parse` makes the same problem. Transitions that cannot happen are left out."""
    if problem.batch_shape or problem.initial_weights.ndim > 1:
        raise InputError("a .toml file holds one problem, and this is a batch; save it as .npz, or save problem[0]")
    if problem.mdp.is_sparse:
        raise InputError("a .toml file holds arrays, and this problem is sparse; save it as .npz")
    states, actions = problem.mdp.state_names, problem.mdp.action_names
    for what, names in (("states", states), ("actions", actions)):
        taken = [name for name, count in Counter(names).items() if count > 1 or (names, name) == (states, DEFAULT)]
        if taken:
            raise InputError(f"{what} cannot be told apart by the name {taken[0]!r}; rename them, or save as .npz")
    m = problem.mdp.dense("a .toml file")
    possible = np.argwhere(m.probability > 0).tolist()
    general = Counter(float(m.discount[s, a, n]) for s, a, n in possible).most_common(1)[0][0]
    lines = [
        f"name = {_text(problem.name)}",
        f"states = {_list(map(_text, states))}",
        f"actions = {_list(map(_text, actions))}",
        f"start = {_table(problem.mdp.start, states)}",
        f"discount = {general!r}",
    ]
    if problem.initial_weights.any():
        lines.append(f"initial_weights = {_list(map(_number, problem.initial_weights))}")
    for s, a, n in possible:
        lines += [
            "",
            "[[transition]]",
            f"from = {_text(states[s])}",
            f"action = {_text(actions[a])}",
            f"to = {_text(states[n])}",
            f"probability = {_number(m.probability[s, a, n])}",
            f"reward = {_number(m.reward[s, a, n])}",
        ]
        if m.discount[s, a, n] != general:
            lines.append(f"discount = {_number(m.discount[s, a, n])}")
    for key, policy in (("target", problem.target), ("behavior", problem.behavior)):
        rows = [_table(row, actions) for row in policy]
        usual, times = Counter(rows).most_common(1)[0]
        own = [f"{_key(s)} = {row}" for s, row in zip(states, rows, strict=True) if row != usual or times == 1]
        lines += ["", f"[{key}]", *([f"{DEFAULT} = {usual}"] if times > 1 else []), *own]
    if not np.array_equal(problem.features, np.eye(m.n_states)):
        lines += ["", "[features]"]
        lines += [f"{_key(s)} = {_list(map(_number, row))}" for s, row in zip(states, problem.features, strict=True)]
    return "\n".join(lines) + "\n"


def _table(probabilities: Array, names: Sequence[str]) -> str:
    pairs = zip(names, probabilities, strict=True)
    return "{ " + ", ".join(f"{_key(name)} = {_number(p)}" for name, p in pairs if p > 0) + " }"


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _number(value: float) -> str:
    return repr(float(value))  # the shortest text that reads back as the same number


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML's rules are JSON's but for DEL
