"""Trajectories from the same arrays that give the exact matrices."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from gpbe.checks import check_at_least, check_given, check_seed
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.layout import Outcomes
from gpbe.shapes import Array, PerStateAction

WASTE = 8
"""How many times larger than what is in it a table of outcomes may be."""


class Trajectories(NamedTuple):
    """Independent runs of consecutive transitions; an episode's last transition has discount 0.

    Rewards and discounts carry the MDP's leading axes in front, if it has any.
    """

    state: Int[Array, "runs steps"]
    action: Int[Array, "runs steps"]
    reward: Float[Array, "... runs steps"]
    discount: Float[Array, "... runs steps"]
    next_state: Int[Array, "runs steps"]


LARGEST = 2**28
"""Transitions of all runs."""


def uniforms_of(seed: int, runs: int, count: int, *purpose: int) -> Float[Array, "runs count"]:
    """Random numbers in [0, 1), as many for each run; those of a run depend on seed, run and purpose alone.

    >>> np.array_equal(uniforms_of(3, 5, 7)[:2, :4], uniforms_of(3, 2, 4))
    True
    """
    if runs * count > LARGEST:
        raise InputError(f"{runs:,} runs of {count - 1:,} steps are too many at once; take {LARGEST:,} in all at most")
    return np.stack([np.random.default_rng([seed, run, *purpose]).random(count) for run in range(runs)])


def simulate(mdp: FiniteMDP, policy: PerStateAction, steps: int, runs: int = 1, seed: int = 0) -> Trajectories:
    """Follow `policy` for `steps` transitions in each of `runs` independent runs, from the start distribution.

    Run k depends on the MDP, the policy, the seed and k alone: neither on how many runs there are, nor, as far as it
    goes, on how many steps.

    >>> from gpbe import mdp
    >>> t = simulate(mdp.random_walk(5, gamma=1.0), np.full((5, 2), 0.5), steps=4, seed=1)
    >>> t.state, t.next_state
    (array([[2, 3, 2, 3]]), array([[3, 2, 3, 2]]))
    """
    policy = mdp.policy(policy)
    if mdp.layout.probability.ndim > 3 or policy.ndim > 2 or mdp.start.ndim > 1:
        raise InputError("simulate takes one transition function and one policy; these carry leading axes")
    check_given(steps=steps, runs=runs)
    check_at_least(1, steps=steps, runs=runs)
    check_seed(seed)
    uniforms = np.ascontiguousarray(uniforms_of(seed, runs, steps + 1).T)

    # One draw decides action and next state together, by inversion over the outcomes that can happen.
    can = mdp.layout.outcomes(policy)
    choose = _chooser(can)
    states = np.empty((steps + 1, runs), dtype=np.int64)
    outcomes = np.empty((steps, runs), dtype=np.int64)
    s = np.searchsorted(mdp.start.cumsum() / mdp.start.sum(), uniforms[0], side="right")
    for t in range(steps):
        states[t] = s
        outcomes[t] = choose(s, uniforms[t + 1])
        s = can.next.take(outcomes[t])
    states[-1] = s
    at = outcomes.T
    return Trajectories(
        states[:-1].T, can.action[at], can.reward[..., at], can.discount[..., at], states[1:].T.astype(np.int64)
    )


def _chooser(can: Outcomes) -> Callable[[Array, Array], Array]:
    """A function from states and uniform numbers to outcomes: the first whose cumulative probability is larger.

    The cumulative probabilities of each state are a row of a table as wide as the state with the most outcomes, unless
    few states have that many: then a binary search goes through a list of all.
    """
    first, counts = can.first[:-1], np.diff(can.first)
    within = np.arange(len(can.next)) - np.repeat(first, counts)
    sums = np.concatenate([[0.0], can.probability.cumsum()])
    width = int(counts.max())
    if width * len(counts) > WASTE * len(can.next):
        up_to = (sums[1:] - np.repeat(sums[first], counts)) / np.repeat(sums[can.first[1:]] - sums[first], counts)
        line = np.repeat(np.arange(len(counts)), counts) + np.minimum(up_to, 1.0)
        last = can.first[1:] - 1
        return lambda s, u: np.minimum(np.searchsorted(line, s + u, side="right"), last.take(s))
    cumulative = np.zeros((len(counts), width))
    cumulative[np.repeat(np.arange(len(counts)), counts), within] = can.probability
    cumulative = cumulative.cumsum(1)
    cumulative /= cumulative[:, -1:]
    cumulative[np.arange(width) >= counts[:, None] - 1] = np.inf
    return lambda s, u: first.take(s) + (cumulative.take(s, axis=0) <= u[:, None]).sum(1)
