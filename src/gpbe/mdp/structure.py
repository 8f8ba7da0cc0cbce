"""What the graph of a chain says: recurrent classes, stationary distributions, whether evaluation ends."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gpbe import linalg
from gpbe.errors import InputError
from gpbe.shapes import Array, PerState, StateMatrix


def recurrent_classes(transition: Array) -> list[list[int]]:
    """Closed communicating classes of one chain (S, S).

    >>> recurrent_classes(np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]))
    [[1], [2]]
    """
    edges = transition > 0
    count, label = connected_components(csr_array(edges), directed=True, connection="strong")
    leaves = edges & (label[:, None] != label[None, :])
    open_ = set(label[leaves.any(1)].tolist())
    return [np.flatnonzero(label == c).tolist() for c in range(count) if c not in open_]


def stationary_distribution(transition: StateMatrix, policy_name: str = "policy") -> PerState:
    """The one d with d P = d, for each chain of a batch; states outside the recurrent class get 0.

    >>> stationary_distribution(np.array([[0.5, 0.5], [0.0, 1.0]]))
    array([0., 1.])
    """
    flat = transition.reshape(-1, *transition.shape[-2:])
    out = np.zeros(flat.shape[:-1])
    for members in _by_pattern(flat > 0):
        classes = recurrent_classes(flat[members[0]])
        if len(classes) > 1:
            raise InputError(
                f"the chain under the {policy_name} has {len(classes)} recurrent classes, {_show(classes[0])} and "
                f"{_show(classes[1])} among them, so its stationary distribution is not unique; connect them, "
                "or give the weighting as an array"
            )
        (states,) = classes
        inner = flat if len(members) == len(flat) else flat[members]
        if len(states) < flat.shape[-1]:
            inner = inner[:, states][:, :, states]
        out[members[:, None], states] = linalg.stationary(inner)
    return out.reshape(transition.shape[:-1])


def check_evaluation_ends(discounted: StateMatrix, complaint: str = "") -> None:
    """I - P_{pi,gamma} must be invertible: from every state the discounts must reach below 1 some time."""
    flat = discounted.reshape(-1, *discounted.shape[-2:])
    leaks = flat.sum(-1) < 1 - 1e-12
    if leaks.all():
        return
    complaint = complaint or (
        "the value of the target policy is not defined: from {states} it never terminates and its discount is 1; "
        "give some transition there a discount below 1, or an end"
    )
    for members in _by_pattern(np.concatenate([flat > 0, leaks[..., None]], axis=-1)):
        i = members[0]
        for states in recurrent_classes(flat[i]):
            if not leaks[i, states].any():
                raise InputError(complaint.format(states=_show(states)))


def _by_pattern(patterns: Array) -> list[Array]:
    """Indices of the batch grouped by equal boolean pattern: usually one group, so graphs are searched once."""
    if (patterns == patterns[0]).all():
        return [np.arange(len(patterns))]
    packed = np.packbits(patterns.reshape(len(patterns), -1), axis=1)
    _, group = np.unique(packed, axis=0, return_inverse=True)
    return [np.flatnonzero(group == g) for g in range(group.max() + 1)]


def _show(states: list[int]) -> str:
    if len(states) == 1:
        return f"state {states[0]}"
    shown = ", ".join(map(str, states[:6])) + (", ..." if len(states) > 6 else "")
    return f"states {{{shown}}}"
