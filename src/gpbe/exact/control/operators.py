"""Maximum operators in 64 bits, and the action values that they make optimal (paper, section 8.1)."""

from typing import NamedTuple

import numpy as np

from gpbe.errors import InputError
from gpbe.mdp import FiniteMDP
from gpbe.shapes import Array, PerState, PerStateAction

SWEEPS, PATIENCE = 500_000, 5000
"""The most sweeps; and if so many more bring less than a hundredth, there is no limit."""


class Greedy(NamedTuple):
    """m(q(s, .)) and its gradient, the probabilities of a (soft) greedy choice."""

    value: PerState
    weights: PerStateAction


def greedy(q: Array, tau: float = 0.0) -> Greedy:
    """Mellowmax at the temperature tau, tau log(mean_a exp(q(a) / tau)); 0 is its limit, the hard max.

    The subgradient of the hard max picks the first of the largest. The paper writes the formula with the inverse
    temperature, and sweeps it as a temperature (docs/decisions.md).

    >>> greedy(np.array([[1.0, 3.0]]))
    Greedy(value=array([3.]), weights=array([[0., 1.]]))
    >>> greedy(np.array([[1.0, 3.0]]), tau=1.0).value.round(4)  # 3 + log((1 + e^-2) / 2)
    array([2.4338])
    """
    check_tau(tau)
    q = np.asarray(q, dtype=float)
    most = q.max(-1)
    if tau == 0:
        return Greedy(most, np.eye(q.shape[-1])[q.argmax(-1)])
    scaled = (q - most[..., None]) / tau
    weights = np.exp(scaled)
    return Greedy(
        most + tau * np.log1p(np.expm1(scaled).mean(-1)),
        weights / weights.sum(-1, keepdims=True),
    )


def optimal_action_values(mdp: FiniteMDP, tau: float = 0.0) -> PerStateAction:
    """q*, the fixed point of (T q)(s, a) = E[R + gamma m(q(S', .))], by value iteration until rounding stops it.

    For tau > 0 it is mellowmax's q*, which is at most that of the hard max and tends to it as tau falls to 0.

    >>> coin = FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5)
    >>> optimal_action_values(coin)
    array([[2., 1.]])
    """
    check_tau(tau)
    t = mdp.dense("the exact side of control")
    reward, carry = (t.probability * t.reward).sum(-1), t.probability * t.discount
    q, before = np.zeros(np.broadcast_shapes(reward.shape, carry.shape[:-1])), np.inf
    change = np.inf
    sweep = 0
    for sweep in range(SWEEPS):
        after = reward + np.einsum("...san,...n->...sa", carry, greedy(q, tau).value)
        change, q = float(np.abs(after - q).max()), after
        if change <= 4 * np.finfo(float).eps * np.abs(q).max():
            return q
        if sweep % PATIENCE == PATIENCE - 1:
            if not change < 0.99 * before:
                break
            before = change
    raise InputError(
        f"value iteration has no limit: after {sweep + 1} sweeps it still changes by {change:.3g}, so some policy goes "
        "on (almost) for ever; give transitions a discount below 1, or episodes an end"
    )


def check_tau(tau: float) -> None:
    if not (np.isfinite(tau) and tau >= 0):
        raise InputError(f"tau is {tau:g}; it should be 0 (the hard max) or a positive number")
