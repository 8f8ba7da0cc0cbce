"""Transitions from sparse matrices, one an action, checked as dense ones are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gpbe.checks import TOLERANCE, Axis, as_floats, check_magnitude, place
from gpbe.errors import InputError
from gpbe.mdp.layout import SparseLayout, joined
from gpbe.shapes import Array, Sparse


def is_sparse(transition: Any) -> bool:
    """Were sparse matrices handed in? One that is no list is refused: there is one an action.

    >>> is_sparse([Sparse(np.eye(2))]), is_sparse(np.ones((1, 1, 1)))
    (True, False)
    """
    if issparse(transition):
        raise InputError("transition is one sparse matrix; it should be a list of them, one for each action")
    return isinstance(transition, list | tuple) and len(transition) > 0 and all(map(issparse, transition))


def read_sparse(transition: Sequence[Any], reward: Any, discount: Any, axes: Sequence[Axis]) -> SparseLayout:
    """The transitions that the matrices give a probability above 0.

    Rewards and discounts are each one number, an array (S, A), or one sparse matrix an action, of which the entries of
    possible transitions count; one that is not stored is 0.
    """
    n = transition[0].shape[0]
    chances = [_square(matrix, n, f"transition[{a}]") for a, matrix in enumerate(transition)]
    for chance in chances:
        chance.eliminate_zeros()
    action, state, after, probability = joined(chances)
    _check_chances(probability, state, action, (n, len(chances)), axes)
    rewards, discounts = (
        _on_transitions(values, name, n, len(chances), (action, state, after))
        for values, name in ((reward, "reward"), (discount, "discount"))
    )
    check_magnitude(rewards, "reward")
    wrong = (discounts < 0) | (discounts > 1)
    if wrong.any():
        i = int(wrong.argmax())
        where = place("discount", (int(state[i]), int(action[i]), int(after[i])), axes)
        raise InputError(f"{where} is {discounts[i]:g}; it should lie in [0, 1]")
    arrays = (state, action, after, probability, rewards, discounts)
    for array in arrays:
        array.flags.writeable = False
    return SparseLayout(n, len(chances), *arrays)


def as_sparse_features(features: Any, n: int) -> Sparse:
    """Sparse features (S, K), checked."""
    matrix = Sparse(features)
    if matrix.ndim != 2 or matrix.shape[0] != n:
        raise InputError(f"features has shape {matrix.shape}; it should be one row for each of {n} states")
    as_floats(matrix.data, "features")  # before it is turned into floats, which would lose imaginary parts
    return Sparse(matrix, dtype=float)


def _square(matrix: Any, n: int, name: str) -> Sparse:
    if matrix.shape != (n, n) or n == 0:
        raise InputError(f"{name} has shape {matrix.shape}; it should be (states, states), here ({n}, {n})")
    given = Sparse(matrix)
    as_floats(given.data, f"{name}.data")
    found = Sparse(given, dtype=float, copy=True)
    found.sum_duplicates()
    return found


def _check_chances(
    probability: Array, state: Array, action: Array, shape: tuple[int, int], axes: Sequence[Axis]
) -> None:
    if (probability < 0).any():
        i = int((probability < 0).argmax())
        where = place("transition", (int(state[i]), int(action[i])), axes[:2])
        raise InputError(f"{where} has an entry of {probability[i]:g}; a probability cannot be negative")
    sums = np.bincount(state * np.int64(shape[1]) + action, probability, shape[0] * shape[1]).reshape(shape)
    wrong = np.abs(sums - 1) > TOLERANCE
    if wrong.any():
        index = np.unravel_index(wrong.argmax(), shape)
        where = place("transition", [int(i) for i in index], axes[:2])
        raise InputError(f"{where} sums to {sums[index]:.10g}; it should sum to 1")


def _on_transitions(values: Any, name: str, n: int, actions: int, at: tuple[Array, Array, Array]) -> Array:
    """A number for each transition."""
    action, state, _ = at
    if isinstance(values, list | tuple) and any(map(issparse, values)):
        if len(values) != actions or not all(map(issparse, values)):
            raise InputError(f"{name} is a list of {len(values)}; it should be one sparse matrix for each action")
        matrices = [_square(matrix, n, f"{name}[{a}]") for a, matrix in enumerate(values)]
        return _entries(joined(matrices), at, n)
    array = as_floats(values, name)
    if array.shape == (n, actions):
        return array[state, action]
    if array.ndim:
        raise InputError(
            f"{name} has shape {array.shape}; beside sparse transitions it should be a number, an array of shape "
            f"({n}, {actions}), which is (states, actions), or one sparse matrix for each action"
        )
    return np.full(len(state), float(array))


def _entries(given: tuple[Array, Array, Array, Array], at: tuple[Array, Array, Array], n: int) -> Array:
    """The stored entries at the transitions `at`, 0 where nothing is stored; both are in one order."""
    wanted, stored = ((a.astype(np.int64) * n + s) * n + t for a, s, t in (at, given[:3]))
    if np.array_equal(wanted, stored):
        return given[3]
    if not len(stored):
        return np.zeros(len(wanted))
    place_ = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return np.where(stored[place_] == wanted, given[3][place_], 0.0)
