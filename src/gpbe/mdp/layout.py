"""How the transitions of an MDP are kept: as arrays (..., S, A, S), or as a list of those that can happen.

Formulas take a number for each transition from here, multiply, and sum up by `matrix` or `mean`; they are the same for
both layouts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import eye_array

from gpbe.shapes import Array, OnTransitions, PerState, PerStateAction, PerTransition, Sparse, StateMatrix


class Outcomes(NamedTuple):
    """What can happen in each state, by state, then action, then next state."""

    first: Int[Array, " S+1"]
    """Where the outcomes of each state begin, and where the last ones end."""
    action: Int[Array, " N"]
    next: Int[Array, " N"]
    probability: Float[Array, " N"]
    reward: Float[Array, "... N"]
    discount: Float[Array, "... N"]


@dataclass(frozen=True, eq=False)
class DenseLayout:
    """Arrays (..., S, A, S)."""

    probability: PerTransition
    reward: PerTransition
    discount: PerTransition

    @property
    def n_states(self) -> int:
        return self.probability.shape[-1]

    @property
    def n_actions(self) -> int:
        return self.probability.shape[-2]

    @property
    def identity(self) -> StateMatrix:
        return np.eye(self.n_states)

    def here(self, v: PerState) -> Float[Array, "... S 1 1"]:
        """The number of the state that a transition leaves."""
        return v[..., None, None]

    def there(self, v: Array) -> Float[Array, "... 1 1 S"]:
        """The number of the state that a transition enters."""
        return v[..., None, None, :]

    def taken(self, policy: PerStateAction) -> Float[Array, "... S A 1"]:
        """The number of the state and the action of a transition."""
        return policy[..., None]

    def trace(self, lam: Array) -> Array:
        """The trace parameter: one number, one for each state on arrival, or lam(s, a, s')."""
        return lam

    def matrix(self, policy: PerStateAction, values: Array) -> StateMatrix:
        """sum_a pi(a|s) f(s, a, s')."""
        return np.einsum("...sa,...san->...sn", policy, values)

    def mean(self, policy: PerStateAction, values: Array) -> PerState:
        """sum_{a, s'} pi(a|s) f(s, a, s')."""
        return np.einsum("...sa,...sa->...s", policy, values.sum(-1))

    def arriving(self, weights: Array) -> PerState:
        """sum_{s, a} f(s, a, s')."""
        return weights.sum((-2, -3))

    def span(self, values: Array, possible: Array) -> tuple[Array, Array]:
        """The smallest and the largest number of the transitions that are possible."""
        axes = (-1, -2, -3)
        low, high = np.where(possible, values, np.inf).min(axes), np.where(possible, values, -np.inf).max(axes)
        return np.asarray(low), np.asarray(high)

    def pick(self, possible: Bool[Array, "... S A S"], *values: Array) -> tuple[Array, Array, list[Array]]:
        """State and next state of the transitions that are possible somewhere in the batch, and numbers of theirs."""
        s, a, n = np.nonzero(possible.any(tuple(range(possible.ndim - 3))))
        return s, n, [np.broadcast_to(v, (*v.shape[:-3], *possible.shape[-3:]))[..., s, a, n] for v in values]

    def differences(self, s: Array, n: Array, discount: Array) -> Array:
        """Rows that make v(s) - gamma v(s') of values."""
        eye = np.eye(self.n_states)
        return eye[s] - discount[..., None] * eye[n]

    def outcomes(self, policy: PerStateAction) -> Outcomes:
        """What can happen under a policy; one transition function and one policy."""
        joint = policy[..., None] * self.probability
        s, a, n = np.nonzero(joint > 0)
        first = np.concatenate([[0], np.bincount(s, minlength=self.n_states).cumsum()])
        return Outcomes(first, a, n, joint[s, a, n], self.reward[..., s, a, n], self.discount[..., s, a, n])


@dataclass(frozen=True, eq=False)
class SparseLayout:
    """The transitions that can happen, by action, then state, then next state: one number of each kind for each."""

    n_states: int
    n_actions: int
    state: Int[Array, " N"]
    action: Int[Array, " N"]
    next: Int[Array, " N"]
    probability: Float[Array, " N"]
    reward: Float[Array, " N"]
    discount: Float[Array, " N"]

    @property
    def identity(self) -> Sparse:
        return Sparse(eye_array(self.n_states, format="csr"))

    def here(self, v: PerState) -> OnTransitions:
        """The number of the state that a transition leaves."""
        return v[self.state]

    def there(self, v: Array) -> OnTransitions:
        """The number of the state that a transition enters."""
        return v[self.next]

    def taken(self, policy: PerStateAction) -> OnTransitions:
        """The number of the state and the action of a transition."""
        return policy[self.state, self.action]

    def trace(self, lam: Array) -> Array:
        """The trace parameter: one number, one for each state on arrival, or lam(s, a), given as (S, A, 1)."""
        return lam if lam.ndim == 0 else self.there(lam) if lam.ndim == 1 else self.taken(lam[..., 0])

    def matrix(self, policy: PerStateAction, values: Array) -> Sparse:
        """sum_a pi(a|s) f(s, a, s'), without what is 0."""
        entries = self.taken(policy) * values
        shape = (self.n_states, self.n_states)
        found = Sparse((entries, (self.state, self.next)), shape=shape)
        found.eliminate_zeros()
        return found

    def mean(self, policy: PerStateAction, values: Array) -> PerState:
        """sum_{a, s'} pi(a|s) f(s, a, s')."""
        return np.bincount(self.state, self.taken(policy) * values, self.n_states)

    def arriving(self, weights: Array) -> PerState:
        """sum_{s, a} f(s, a, s')."""
        return np.bincount(self.next, weights, self.n_states)

    def span(self, values: Array, possible: Array) -> tuple[Array, Array]:
        """The smallest and the largest number of the transitions that are possible."""
        return np.asarray(values[possible].min()), np.asarray(values[possible].max())

    def pick(self, possible: Bool[Array, " N"], *values: Array) -> tuple[Array, Array, list[Array]]:
        """State and next state of the transitions that are possible, and numbers of theirs."""
        return self.state[possible], self.next[possible], [v[possible] for v in values]

    def differences(self, s: Array, n: Array, discount: Array) -> Sparse:
        """Rows that make v(s) - gamma v(s') of values."""
        rows = np.tile(np.arange(len(s)), 2)
        entries = np.concatenate([np.ones(len(s)), -discount])
        return Sparse((entries, (rows, np.concatenate([s, n]))), shape=(len(s), self.n_states))

    @cached_property
    def by_state(self) -> Int[Array, " N"]:
        """The transitions in the order of their states."""
        return np.argsort(self.state, kind="stable")

    def outcomes(self, policy: PerStateAction) -> Outcomes:
        """What can happen under a policy."""
        joint = self.taken(policy) * self.probability
        order = self.by_state[joint[self.by_state] > 0]
        first = np.concatenate([[0], np.bincount(self.state[order], minlength=self.n_states).cumsum()])
        chosen = (values[order] for values in (self.action, self.next, joint, self.reward, self.discount))
        return Outcomes(first, *chosen)

    def per_action(self, values: Float[Array, " N"]) -> tuple[Sparse, ...]:
        """One matrix an action, which share these numbers."""
        shape = (self.n_states, self.n_states)
        parts = []
        for a in range(self.n_actions):
            part = slice(*np.searchsorted(self.action, [a, a + 1]))
            first = np.concatenate([[0], np.bincount(self.state[part], minlength=self.n_states).cumsum()])
            parts.append(Sparse((values[part], self.next[part], first), shape=shape))
        return tuple(parts)


Layout = DenseLayout | SparseLayout


def joined(matrices: Sequence[Sparse]) -> tuple[Array, Array, Array, Array]:
    """Action, state, next state and number of every entry, in this order; int32 indices."""
    count = [matrix.nnz for matrix in matrices]
    action = np.repeat(np.arange(len(matrices), dtype=np.int32), count)
    state = np.concatenate(
        [np.repeat(np.arange(m.shape[0], dtype=np.int32), np.diff(m.indptr)) for m in matrices], dtype=np.int32
    )
    after = np.concatenate([m.indices for m in matrices]).astype(np.int32, copy=False)
    return action, state, after, np.concatenate([m.data for m in matrices]).astype(float, copy=False)
