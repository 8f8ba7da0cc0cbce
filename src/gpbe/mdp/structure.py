"""What the graph of a chain says: recurrent classes, stationary distributions, whether evaluation ends."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from gpbe import linalg
from gpbe.errors import InputError
from gpbe.shapes import Array, PerState, Sparse, StateMatrix


def recurrent_classes(transition: StateMatrix) -> list[list[int]]:
    """Closed communicating classes of one chain (S, S).

    >>> recurrent_classes(np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]))
    [[1], [2]]
    """
    return [states.tolist() for states in _classes(transition)]


def _classes(transition: StateMatrix) -> list[Array]:
    edges = Sparse(transition > 0)
    count, label = connected_components(edges, directed=True, connection="strong")
    state, after = edges.nonzero()
    closed = np.ones(count, dtype=bool)
    closed[label[state[label[state] != label[after]]]] = False
    members = np.flatnonzero(closed[label])
    by_class = members[np.argsort(label[members], kind="stable")]
    return np.split(by_class, np.flatnonzero(np.diff(label[by_class])) + 1)


def stationary_distribution(
    transition: StateMatrix, policy_name: str = "policy", names: Sequence[str] = ()
) -> PerState:
    """The one d with d P = d, for each chain of a batch; states outside the recurrent class get 0.

    >>> stationary_distribution(np.array([[0.5, 0.5], [0.0, 1.0]]))
    array([0., 1.])
    """
    if not isinstance(transition, np.ndarray):
        states = _recurrent(transition, policy_name, names)
        out = np.zeros(transition.shape[0])
        inner = transition if len(states) == len(out) else Sparse(transition[states][:, states])
        out[states] = linalg.sparse_stationary(inner)
        return out
    flat = transition.reshape(-1, *transition.shape[-2:])
    out = np.zeros(flat.shape[:-1])
    for members in _by_pattern(flat > 0):
        states = _recurrent(flat[members[0]], policy_name, names)
        inner = flat if len(members) == len(flat) else flat[members]
        if len(states) < flat.shape[-1]:
            inner = inner[:, states][:, :, states]
        out[members[:, None], states] = linalg.stationary(inner)
    return out.reshape(transition.shape[:-1])


def _recurrent(chain: StateMatrix, policy_name: str, names: Sequence[str]) -> Array:
    """The states of the one recurrent class; two are refused."""
    classes = _classes(chain)
    if len(classes) > 1:
        raise InputError(
            f"the chain under the {policy_name} has {len(classes)} recurrent classes, {_show(classes[0], names)} and "
            f"{_show(classes[1], names)} among them, so its stationary distribution is not unique; connect them, "
            "or give the weighting as an array"
        )
    return classes[0]


def check_evaluation_ends(discounted: StateMatrix, complaint: str = "", names: Sequence[str] = ()) -> None:
    """I - P_{pi,gamma} must be invertible: from every state the discounts must reach below 1 some time."""
    leaks = np.asarray(discounted.sum(-1)) < 1 - 1e-12
    if leaks.all():
        return
    complaint = complaint or (
        "the value of the target policy is not defined: from {states} it never terminates and its discount is 1; "
        "give some transition there a discount below 1, or an end"
    )
    for chain, leaking in _different(discounted, leaks):
        for states in _classes(chain):
            if not leaking[states].any():
                raise InputError(complaint.format(states=_show(states, names)))


def _different(chains: StateMatrix, leaks: Array) -> Iterator[tuple[StateMatrix, Array]]:
    """One chain of each pattern of a batch, and where it leaks."""
    if not isinstance(chains, np.ndarray):
        yield chains, leaks
        return
    flat, leaking = chains.reshape(-1, *chains.shape[-2:]), leaks.reshape(-1, chains.shape[-1])
    for members in _by_pattern(np.concatenate([flat > 0, leaking[..., None]], axis=-1)):
        yield flat[members[0]], leaking[members[0]]


def _by_pattern(patterns: Array) -> list[Array]:
    """Indices of the batch grouped by equal boolean pattern: usually one group, so graphs are searched once."""
    if (patterns == patterns[0]).all():
        return [np.arange(len(patterns))]
    packed = np.packbits(patterns.reshape(len(patterns), -1), axis=1)
    _, group = np.unique(packed, axis=0, return_inverse=True)
    return [np.flatnonzero(group == g) for g in range(group.max() + 1)]


def _show(states: Array, names: Sequence[str]) -> str:
    shown = [str(names[i]) if names else str(i) for i in states[:6]]
    quoted = [name if name == str(i) else repr(name) for name, i in zip(shown, states, strict=False)]
    if len(states) == 1:
        return f"state {quoted[0]}"
    return f"states {{{', '.join(quoted)}{', ...' if len(states) > 6 else ''}}}"
