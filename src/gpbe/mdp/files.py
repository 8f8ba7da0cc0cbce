"""Prediction problems in files: `.npz` for arrays, `.toml` for people (docs/files.md)."""

import io
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gpbe.checks import check_keys
from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.sparse_files import FEATURES, TRANSITIONS, pack, unpack
from gpbe.mdp.toml_reader import parse
from gpbe.mdp.toml_writer import render
from gpbe.mdp.zoo import problem as zoo_problem

REQUIRED = ("transition", "reward", "discount", "start", "target", "behavior", "features")
OPTIONAL = ("initial_weights", "state_names", "action_names", "name")


def find(name: str | Path) -> PredictionProblem:
    """The problem of that name in the zoo, or the one in a file if the name has an ending or is a path.

    >>> find("baird").mdp.n_states
    7
    """
    if isinstance(name, Path) or Path(name).suffix or os.sep in name:
        return load(name)
    return zoo_problem(name)


def load(path: str | Path) -> PredictionProblem:
    """The problem in a file. What is wrong with a file is said in one line: which file, where, what would be right.

    >>> load("problem.txt")
    Traceback (most recent call last):
    gpbe.errors.InputError: problem.txt: the name should end in .npz or .toml
    """
    path = Path(path)
    read = {".npz": _read_npz, ".toml": _read_toml}[_suffix(path)]
    try:
        return read(path)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


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
    return parse(path.read_bytes(), name=path.stem)


def _read_npz(path: Path) -> PredictionProblem:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise InputError("is not an .npz archive; numpy.savez and gpbe.mdp.save write them")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"holds an array that cannot be read ({error}); save plain numbers and text") from None
    check_keys(arrays, REQUIRED, (*OPTIONAL, *TRANSITIONS, *FEATURES), "key")
    arrays = unpack(arrays)
    mdp = FiniteMDP(
        *(arrays[key] for key in REQUIRED[:4]),
        state_names=_names(arrays, "state_names"),
        action_names=_names(arrays, "action_names"),
    )
    return PredictionProblem(
        mdp,
        *(arrays[key] for key in REQUIRED[4:]),
        initial_weights=arrays.get("initial_weights"),
        name=str(arrays.get("name", path.stem)),
    )


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
