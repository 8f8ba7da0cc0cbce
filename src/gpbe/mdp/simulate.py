"""Trajectories from the same arrays that give the exact matrices."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from gpbe.checks import check_at_least, check_seed
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP
from gpbe.shapes import Array, PerStateAction


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
    if mdp.transition.ndim > 3 or policy.ndim > 2 or mdp.start.ndim > 1:
        raise InputError("simulate takes one transition function and one policy; these carry leading axes")
    check_at_least(1, steps=steps, runs=runs)
    check_seed(seed)
    uniforms = np.ascontiguousarray(uniforms_of(seed, runs, steps + 1).T)

    # One draw decides action and next state together, by inversion over the outcomes that can happen.
    joint = (policy[..., None] * mdp.transition).reshape(mdp.n_states, -1)
    width = int((joint > 0).sum(1).max())
    outcome = np.argsort(joint <= 0, axis=1, kind="stable")[:, :width]
    cumulative = np.take_along_axis(joint, outcome, axis=1).cumsum(1)
    cumulative /= cumulative[:, -1:]

    states = np.empty((steps + 1, runs), dtype=np.int64)
    outcomes = np.empty((steps, runs), dtype=np.int64)
    s = np.searchsorted(mdp.start.cumsum() / mdp.start.sum(), uniforms[0], side="right")
    for t in range(steps):
        states[t] = s
        which = (cumulative.take(s, axis=0) <= uniforms[t + 1, :, None]).sum(1)
        outcomes[t] = outcome.take(s * width + which)
        s = outcomes[t] % mdp.n_states
    states[-1] = s
    state, action, next_state = states[:-1].T, (outcomes // mdp.n_states).T, states[1:].T
    reward, discount = (
        mdp.reward[..., state, action, next_state],
        mdp.discount[..., state, action, next_state],
    )
    return Trajectories(state, action, reward, discount, next_state)
