"""The finite Markov decision process: one definition for the exact matrices and for the simulator."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpbe.checks import (
    Axis,
    as_floats,
    check_interval,
    check_magnitude,
    check_names,
    check_probabilities,
    check_shape,
    place,
)
from gpbe.errors import InputError
from gpbe.mdp.layout import DenseLayout, Layout, SparseLayout
from gpbe.mdp.sparse import is_sparse, read_sparse
from gpbe.shapes import Numbers, PerState, PerStateAction, PerTransition, Sparse, StateMatrix
from gpbe.wording import counted


@dataclass(frozen=True, eq=False)
class FiniteMDP:
    """A finite MDP with transition-based discounting (paper, section 2).

    An episode ends on a transition whose discount is 0 and whose next state is drawn from the start distribution,
    so there are no absorbing states, stationary distributions exist, and episodic and continuing problems are one
    case. `FiniteMDP.episodic` turns the textbook form, with terminal states, into this one.

    Args:
        transition: P(s' | s, a), shape (S, A, S).
        reward: r(s, a, s'), shape (S, A, S), or one number for all.
        discount: gamma(s, a, s') in [0, 1], shape (S, A, S), or one number for all.
        start: distribution of the first state, shape (S,); uniform if left out.
        state_names, action_names: how states and actions are called in tables; numbered if left out.

    Every array may carry leading axes, for example eight reward functions on one transition function.

    A large MDP is given by a list of sparse matrices (S, S), one an action (any format of scipy.sparse). Reward and
    discount are then each a number, an array (S, A), or such a list too: entries that are not stored are 0. They are
    kept as tuples of `csr_array`, and nothing that is computed makes an array of S x S numbers.

    >>> coin = FiniteMDP(np.full((2, 1, 2), 0.5), reward=1.0, discount=0.9)
    >>> coin.transition_under(np.ones((2, 1)))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    layout: Layout
    """The transitions as formulas take them, dense or sparse."""
    start: PerState
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]

    def __init__(
        self,
        transition: Numbers | Sparse,
        reward: Numbers,
        discount: Numbers,
        start: Numbers | None = None,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ):
        axes = named_axes(state_names, action_names)
        if is_sparse(transition):
            layout = read_sparse(transition, reward, discount, axes)  # pyright: ignore[reportArgumentType]
        else:
            layout = _read_dense(transition, reward, discount, axes)
        s = layout.n_states
        start = np.full(s, 1 / s) if start is None else as_floats(start, "start")
        check_shape(start, (s,), "start", "states")
        check_probabilities(start, "start", ())
        set_ = object.__setattr__
        set_(self, "layout", layout)
        set_(self, "start", start)
        set_(self, "state_names", _names(state_names, s, "state"))
        set_(self, "action_names", _names(action_names, layout.n_actions, "action"))

    @cached_property
    def transition(self) -> PerTransition | tuple[Sparse, ...]:
        """P(s' | s, a)."""
        return self._shown(self.layout.probability)

    @cached_property
    def reward(self) -> PerTransition | tuple[Sparse, ...]:
        """r(s, a, s')."""
        return self._shown(self.layout.reward)

    @cached_property
    def discount(self) -> PerTransition | tuple[Sparse, ...]:
        """gamma(s, a, s')."""
        return self._shown(self.layout.discount)

    def _shown(self, values: Any) -> Any:
        return self.layout.per_action(values) if isinstance(self.layout, SparseLayout) else values

    @property
    def is_sparse(self) -> bool:
        """Was it given by sparse matrices?"""
        return isinstance(self.layout, SparseLayout)

    def dense(self, what: str) -> DenseLayout:
        """The arrays (S, A, S), for `what` cannot do without; a sparse MDP is refused."""
        if isinstance(self.layout, SparseLayout):
            raise InputError(
                f"{what} needs arrays of S x S numbers, which a sparse problem does not make; leave it out"
            )
        return self.layout

    @property
    def axes(self) -> tuple[Axis, Axis, Axis]:
        """What the axes of a transition are called, and their states and actions."""
        return named_axes(self.state_names, self.action_names)

    def __repr__(self) -> str:
        return f"<FiniteMDP: {self.size_in_words}>"

    @property
    def size_in_words(self) -> str:
        """How many states and actions it has, as people say it."""
        kind = " (sparse)" if self.is_sparse else f" (a batch {self.batch_shape})" if self.batch_shape else ""
        return f"{counted(self.n_states, 'state')}, {counted(self.n_actions, 'action')}{kind}"

    @classmethod
    def episodic(
        cls,
        transition: Numbers,
        reward: Numbers,
        discount: Numbers,
        start: Numbers,
        terminal: Sequence[int],
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> "FiniteMDP":
        """An MDP in the textbook's form: `terminal` states end the episode; a new one begins in the start distribution.

        The result has the other states only. Rows of terminal states are ignored.

        >>> m = FiniteMDP.episodic([[[0, 1]], [[0, 1]]], reward=1.0, discount=1.0, start=[1, 0], terminal=[1])
        >>> m.transition.item(), m.discount.item()
        (1.0, 0.0)
        """
        if is_sparse(transition):
            raise InputError("episodic takes arrays; of sparse matrices give FiniteMDP ends as discounts of 0")
        transition = _square(transition)
        n, a = transition.shape[-3:-1]
        reward, discount = _full(reward, (n, a, n), "reward"), _full(discount, (n, a, n), "discount")
        start = as_floats(start, "start")
        check_shape(start, (n,), "start", "states, terminal ones included")
        outside = [t for t in terminal if not 0 <= t < n]
        if outside:
            raise InputError(f"terminal state {outside[0]} does not exist; states are 0 to {n - 1}")
        end = np.isin(np.arange(n), terminal)
        begins = end & (start > 0).any(tuple(range(start.ndim - 1)))
        if begins.any():
            raise InputError(f"start[{begins.argmax()}] must be 0: an episode cannot begin in a terminal state")
        live = np.flatnonzero(~end)
        names = None if state_names is None else [_names(state_names, n, "state")[int(i)] for i in live]
        check_probabilities(transition[..., live, :, :], "transition", named_axes(names, action_names)[:2])

        # Probability, reward and discount of each way to reach s': by going there, or by ending and restarting.
        go = transition[..., live, :, :][..., live]
        stop = transition[..., live, :, :][..., end].sum(-1, keepdims=True) * start[..., None, None, live]
        both = (go > 0) & (stop > 0)
        if both.any():
            index = np.unravel_index(both.argmax(), both.shape)
            where = place("transition", [int(i) for i in index], named_axes(names, action_names))
            raise InputError(
                f"{where} is reached both by moving there and by ending and starting anew there, with different "
                "discounts; add a start state of its own"
            )
        ends = transition[..., live, :, :][..., end]
        paid = (ends * reward[..., live, :, :][..., end]).sum(-1, keepdims=True)
        paid = paid / np.where(ends.sum(-1, keepdims=True) > 0, ends.sum(-1, keepdims=True), 1.0)
        return cls(
            go + stop,
            np.where(stop > 0, paid, reward[..., live, :, :][..., live]),
            np.where(stop > 0, 0.0, discount[..., live, :, :][..., live]),
            start[..., live],
            state_names=names,
            action_names=action_names,
        )

    @property
    def n_states(self) -> int:
        return self.layout.n_states

    @property
    def n_actions(self) -> int:
        return self.layout.n_actions

    @property
    def batch_shape(self) -> tuple[int, ...]:
        if isinstance(self.layout, SparseLayout):
            return self.start.shape[:-1]
        t = self.layout
        arrays = (array.shape[:-3] for array in (t.probability, t.reward, t.discount))
        return np.broadcast_shapes(*arrays, self.start.shape[:-1])

    def policy(self, probabilities: Numbers, name: str = "policy") -> PerStateAction:
        """Check action probabilities (..., S, A); one row (A,) stands for every state."""
        array = as_floats(probabilities, name)
        if array.shape == (self.n_actions,):
            array = np.broadcast_to(array, (self.n_states, self.n_actions))
        check_shape(array, (self.n_states, self.n_actions), name, "states, actions")
        check_probabilities(array, name, self.axes[:1])
        return array

    def transition_under(self, policy: PerStateAction) -> StateMatrix:
        """P_pi(s, s')."""
        return self.layout.matrix(policy, self.layout.probability)

    def discounted_transition_under(self, policy: PerStateAction, power: int = 1) -> StateMatrix:
        """P_{pi,gamma}(s, s'), with gamma to the given power (2 for second moments of the return)."""
        return self.layout.matrix(policy, self.layout.probability * self.layout.discount**power)

    def expected_reward_under(self, policy: PerStateAction) -> PerState:
        """r_pi(s)."""
        return self.layout.mean(policy, self.layout.probability * self.layout.reward)


def named_axes(states: Sequence[str] | None, actions: Sequence[str] | None) -> tuple[Axis, Axis, Axis]:
    """The axes of a transition, with the names of states and actions for messages."""
    for what, names in (("state_names", states), ("action_names", actions)):
        if names is not None and not isinstance(names, Collection):
            raise InputError(f"{what} is of type {type(names).__name__}; it should be a list of names")
    s, a = (() if names is None else tuple(names) for names in (states, actions))
    return Axis("state", s), Axis("action", a), Axis("next state", s)


def _read_dense(transition: Any, reward: Any, discount: Any, axes: Sequence[Axis]) -> DenseLayout:
    transition = _square(transition)
    s, a = transition.shape[-3:-1]
    check_probabilities(transition, "transition", axes[:2])
    reward = _full(reward, (s, a, s), "reward")
    discount = _full(discount, (s, a, s), "discount")
    check_magnitude(reward, "reward")
    check_interval(discount, "discount", axes)
    return DenseLayout(transition, reward, discount)


def _square(values: Numbers) -> PerTransition:
    array = as_floats(values, "transition")
    if array.ndim < 3 or array.shape[-3] != array.shape[-1] or 0 in array.shape:
        raise InputError(f"transition has shape {array.shape}; it should be (states, actions, states), none of them 0")
    return array


def _full(values: Numbers, shape: tuple[int, ...], name: str) -> PerTransition:
    array = as_floats(values, name)
    if array.ndim == 0:
        return np.broadcast_to(array, shape)
    check_shape(array, shape, name, "states, actions, states")
    return array


def _names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(str(i) for i in range(count))
    if len(names) != count:
        raise InputError(f"{what}_names has {len(names)} names; there are {count} {what}s")
    check_names(names, what)
    return tuple(names)
