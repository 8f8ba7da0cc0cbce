"""Prediction problems in files: `.npz` for arrays, `.toml` for people (docs/files.md)."""

import io
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from gpbe.checks import LONGEST_NAME, check_keys
from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.files.npz import MOST, read_npz
from gpbe.files.reading import TEXT, read_bytes
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem, check_problem
from gpbe.mdp.sparse_files import FEATURES, TRANSITIONS, pack, unpack
from gpbe.mdp.toml_reader import parse
from gpbe.mdp.toml_writer import render
from gpbe.mdp.zoo import problem as zoo_problem

REQUIRED = ("transition", "reward", "discount", "start", "target", "behavior", "features")
OPTIONAL = ("initial_weights", "state_names", "action_names", "name")
_AXES = {"transition": 3, "reward": 3, "discount": 3, "start": 1, "target": 2, "behavior": 2, "features": 2}
"""How many axes an array has besides those of a batch."""


def find(name: str | Path) -> PredictionProblem:
    """The problem of that name in the zoo, or the one in a file if the name has an ending or is a path.

    >>> find("baird").mdp.n_states
    7
    """
    if isinstance(name, Path) or Path(name).suffix or os.sep in name:
        return load(name)
    return zoo_problem(name)


def load(path: str | Path, *, limit: int = MOST) -> PredictionProblem:
    """The problem in a file. What is wrong with a file is said in one line: which file, where, what would be right.

    The arrays of a .npz file may have `limit` bytes, unpacked; a .toml file 4 MiB.

    >>> load("problem.txt")
    Traceback (most recent call last):
    gpbe.errors.InputError: problem.txt: the name should end in .npz or .toml
    """
    path = Path(path)
    suffix = _suffix(path)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and told
            return _read_toml(path) if suffix == ".toml" else _read_npz(path, limit)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def save(problem: PredictionProblem, path: str | Path) -> None:
    """Write the problem so that `load` gives it back, bit for bit; a file that is there already is replaced.

    A `.toml` file holds one problem, without the transitions that cannot happen; a batch goes into a `.npz` file.

    >>> import tempfile
    >>> from gpbe import mdp
    >>> file = Path(tempfile.mkdtemp()) / "star.toml"
    >>> save(mdp.baird(), file)
    >>> load(file).initial_weights
    array([ 1.,  1.,  1.,  1.,  1.,  1.,  1., 10.])
    """
    check_problem(problem)
    path = Path(path)
    suffix = _suffix(path)
    try:
        if suffix == ".toml":
            data = render(problem).encode()
        else:
            file = io.BytesIO()
            np.savez_compressed(file, **_arrays(problem))
            data = file.getvalue()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    write_atomic(path, data)


def _suffix(path: Path) -> str:
    if path.suffix not in (".npz", ".toml"):
        raise InputError(f"{path}: the name should end in .npz or .toml")
    return path.suffix


def _read_toml(path: Path) -> PredictionProblem:
    return parse(read_bytes(path, TEXT), name=_name_of(path))


def _name_of(path: Path) -> str:
    """The name of a problem that has none: its file's, as far as that can be shown."""
    return "".join(letter if letter.isprintable() else "?" for letter in path.stem)[:LONGEST_NAME]


def _read_npz(path: Path, limit: int) -> PredictionProblem:
    optional = (*OPTIONAL, *TRANSITIONS, *FEATURES)
    arrays = unpack(read_npz(path, lambda names: check_keys(names, REQUIRED, optional, "key"), limit), limit)
    _check_together(arrays, limit)
    mdp = FiniteMDP(
        *(arrays[key] for key in REQUIRED[:4]),
        state_names=_names(arrays, "state_names"),
        action_names=_names(arrays, "action_names"),
    )
    return PredictionProblem(
        mdp,
        *(arrays[key] for key in REQUIRED[4:]),
        initial_weights=arrays.get("initial_weights"),
        name=_text(arrays["name"], "name") if "name" in arrays else _name_of(path),
    )


def _check_together(arrays: dict[str, Any], limit: int) -> None:
    """Leading axes that differ make one problem of each combination, which may be many more than there are arrays."""
    dense = {key: axes for key, axes in _AXES.items() if not isinstance(arrays[key], list)}  # a list of sparse ones
    if "transition" in dense:
        cells = math.prod(arrays["transition"].shape[-3:-1])
    else:
        cells = arrays["transition"][0].shape[0] * len(arrays["transition"])
    try:
        batch = math.prod(np.broadcast_shapes(*(arrays[key].shape[:-axes] for key, axes in dense.items())))
    except ValueError:  # told with more words where the problem is made
        return
    if 8 * cells * batch > limit:
        raise InputError(
            f"holds {batch:,} problems of {cells:,} states and actions, too many for {limit / 2**20:,.0f} MiB"
        )


def _text(array: Any, key: str) -> str:
    if array.ndim or array.dtype.kind != "U":
        raise InputError(f"{key} has shape {array.shape} and type {array.dtype}; it should be one text")
    return str(array)


def _names(arrays: dict[str, Any], key: str) -> list[str] | None:
    if key not in arrays:
        return None
    names = arrays[key]
    if names.ndim != 1 or names.dtype.kind != "U":
        raise InputError(f"{key} has shape {names.shape} and type {names.dtype}; it should be a list of texts")
    return names.tolist()


def _arrays(problem: PredictionProblem) -> dict[str, Any]:
    m = problem.mdp
    return {
        **{key: getattr(m, key) for key in REQUIRED[:4] if not (m.is_sparse and key != "start")},
        **{key: getattr(problem, key) for key in (*REQUIRED[4:], "initial_weights")},
        **pack(problem),
        "state_names": np.array(m.state_names),
        "action_names": np.array(m.action_names),
        "name": np.array(problem.name),
    }
