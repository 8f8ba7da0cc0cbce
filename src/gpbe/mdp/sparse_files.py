"""Sparse problems in .npz files: lists of the transitions that can happen, and of the features that are not 0."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from gpbe.checks import as_floats, check_shape
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


def unpack(arrays: dict[str, Any], limit: int) -> dict[str, Any]:
    """The arrays of a file with lists of transitions or features put together to matrices; others as they are.

    Nothing that has more than `limit` bytes is made, whatever sizes a file names.
    """
    found, n = dict(arrays), np.atleast_1d(arrays["start"]).shape[-1]
    if given := [key for key in TRANSITIONS if key in arrays]:
        _check_complete(arrays, TRANSITIONS, given[0])
        actions = np.asarray(arrays["target"]).shape[-1] if np.ndim(arrays["target"]) else 1
        at = _indices(arrays, {"state": n, "action": actions, "next_state": n})
        if len(at["state"]) < n * actions:
            raise InputError(f"has {len(at['state']):,} transitions; {n:,} states with {actions:,} actions have more")
        order = np.argsort(at["action"], kind="stable")
        ends = np.searchsorted(at["action"][order], np.arange(actions + 1))
        taken = [order[start:end] for start, end in pairwise(ends)]
        for key in ("transition", "reward", "discount"):
            values = as_floats(arrays[key], key)
            if key != "transition" and not values.ndim:
                continue
            check_shape(values, at["state"].shape, key, "transitions")
            found[key] = [_matrix(values, at, mine, (n, n)) for mine in taken]
    if given := [key for key in FEATURES if key in arrays]:
        _check_complete(arrays, FEATURES, given[0])
        k = _count(arrays["n_features"], limit // 8)
        at = _indices(arrays, {"feature_state": n, "feature_column": k})
        values = as_floats(arrays["features"], "features")
        check_shape(values, at["feature_state"].shape, "features", "entries")
        found["features"] = Sparse(coo_array((values, tuple(at.values())), shape=(n, k)))
    return {key: value for key, value in found.items() if key not in (*TRANSITIONS, *FEATURES)}


def _matrix(values: Array, at: dict[str, Array], mine: Array, shape: tuple[int, int]) -> Sparse:
    return Sparse(coo_array((values[mine], (at["state"][mine], at["next_state"][mine])), shape=shape))


def _check_complete(arrays: dict[str, Any], keys: tuple[str, ...], given: str) -> None:
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise InputError(f"key {missing[0]!r} is missing; with {given!r} there should be {', '.join(keys)}")


def _count(given: Any, most: int) -> int:
    """How many features there are."""
    array = np.asarray(given)
    if array.ndim or not np.issubdtype(array.dtype, np.integer) or not 1 <= array <= most:
        shown = f"shape {array.shape} and type {array.dtype}" if array.ndim else f"the value {array!s}"
        raise InputError(f"n_features has {shown}; it should be a whole number from 1 to {most:,}")
    return int(array)


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
