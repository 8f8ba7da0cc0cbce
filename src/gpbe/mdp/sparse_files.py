"""Sparse problems in .npz files: lists of the transitions that can happen, and of the features that are not 0."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array

from gpbe.checks import check_shape
from gpbe.errors import InputError
from gpbe.mdp.layout import SparseLayout
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Array, Sparse

TRANSITIONS = ("state", "action", "next_state")
"""Where each entry of `transition`, `reward` and `discount` belongs."""
FEATURES = ("feature_state", "feature_column", "n_features")
"""Where each entry of `features` belongs, and how many features there are."""


def pack(problem: PredictionProblem) -> dict[str, Any]:
    """The arrays of a sparse problem in a file; those of a dense one are left to the caller."""
    t, x = problem.mdp.layout, problem.features
    if not isinstance(t, SparseLayout):
        return {}
    arrays = {"state": t.state, "action": t.action, "next_state": t.next}
    arrays |= {"transition": t.probability, "reward": t.reward, "discount": t.discount}
    if isinstance(x, Sparse):
        rows = np.repeat(np.arange(x.shape[0], dtype=np.int32), np.diff(x.indptr))
        arrays |= {"features": x.data, "feature_state": rows, "feature_column": x.indices, "n_features": x.shape[1]}
    return arrays


def unpack(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a file with lists of transitions or features put together to matrices; others as they are."""
    found, n = dict(arrays), len(np.atleast_1d(arrays["start"]))
    if given := [key for key in TRANSITIONS if key in arrays]:
        _check_complete(arrays, TRANSITIONS, given[0])
        actions = np.asarray(arrays["target"]).shape[-1] if np.ndim(arrays["target"]) else 1
        at = _indices(arrays, {"state": n, "action": actions, "next_state": n})
        for key in ("transition", "reward", "discount"):
            values = np.asarray(arrays[key])
            if key != "transition" and not values.ndim:
                continue
            check_shape(values, at["state"].shape, key, "transitions")
            found[key] = [_matrix(values, at, at["action"] == a, (n, n)) for a in range(actions)]
    if given := [key for key in FEATURES if key in arrays]:
        _check_complete(arrays, FEATURES, given[0])
        k = int(arrays["n_features"])
        at = _indices(arrays, {"feature_state": n, "feature_column": k})
        values = np.asarray(arrays["features"])
        check_shape(values, at["feature_state"].shape, "features", "entries")
        found["features"] = Sparse(coo_array((values, tuple(at.values())), shape=(n, k)))
    return {key: value for key, value in found.items() if key not in (*TRANSITIONS, *FEATURES)}


def _matrix(values: Array, at: dict[str, Array], mine: Array, shape: tuple[int, int]) -> Sparse:
    return Sparse(coo_array((values[mine], (at["state"][mine], at["next_state"][mine])), shape=shape))


def _check_complete(arrays: dict[str, Any], keys: tuple[str, ...], given: str) -> None:
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise InputError(f"key {missing[0]!r} is missing; with {given!r} there should be {', '.join(keys)}")


def _indices(arrays: dict[str, Any], bounds: dict[str, int]) -> dict[str, Array]:
    """Whole numbers of one length, each within its bounds."""
    found = {key: np.asarray(arrays[key]) for key in bounds}
    length = next(iter(found.values())).shape
    for key, array in found.items():
        if array.ndim != 1 or array.shape != length or not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"{key} has shape {array.shape} and type {array.dtype}; it should be {length} whole numbers"
            )
        wrong = (array < 0) | (array >= bounds[key])
        if wrong.any():
            raise InputError(f"{key}[{wrong.argmax()}] is {array[wrong.argmax()]}; it should be below {bounds[key]}")
    return found
