"""Random MDPs."""

import numpy as np

from gpbe.checks import check_at_least, generator
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP


def random_mdp(
    states: int = 10,
    actions: int = 3,
    branching: int = 3,
    gamma: float = 0.9,
    *,
    rng: np.random.Generator | int,
    termination: float = 0.0,
) -> FiniteMDP:
    """A Garnet: each action leads to `branching` random states, with probabilities uniform on the simplex.

    Rewards are standard normal, one for each (s, a, s'). A random cycle through the states is part of every
    action's support, so the chain of every policy is irreducible and has one stationary distribution.

    With `termination` above 0 each transition ends the episode with that probability. State 0 is then where
    episodes start; no other transition enters it, so that each transition has one discount.

    >>> m = random_mdp(7, actions=2, branching=3, rng=0)
    >>> (m.transition > 0).sum(-1).tolist()[0], m.start.round(2)
    ([3, 3], array([0.14, 0.14, 0.14, 0.14, 0.14, 0.14, 0.14]))
    """
    if not 0 <= termination < 1:
        raise InputError(f"termination is {termination:g}; it should be a probability below 1")
    first = 1 if termination > 0 else 0  # the first state that a transition may enter
    check_at_least(1, actions=actions)
    check_at_least(1, branching=branching)
    check_at_least(branching, **{"the number of states that transitions may enter": states - first})
    draw = generator(rng)
    enterable = np.arange(first, states)
    around = draw.permutation(enterable)
    successor = np.zeros(states, dtype=int)
    successor[around] = np.roll(around, 1)
    if first:
        successor[0] = draw.choice(enterable)

    order = draw.random((states, actions, states))
    order[..., :first] = 2  # last, beyond `branching`
    order[np.arange(states), :, successor] = -1  # first: the cycle is always there
    reached = order.argsort(-1)[..., :branching]
    transition = np.zeros((states + 1, actions, states + 1))  # the last state is the end
    inner = transition[:states, :, :states]
    np.put_along_axis(inner, reached, draw.dirichlet(np.ones(branching), (states, actions)), axis=-1)
    inner *= 1 - termination
    transition[:states, :, -1] = termination
    reward = draw.standard_normal(transition.shape)
    if not first:
        return FiniteMDP(inner, reward[:states, :, :states], gamma)
    return FiniteMDP.episodic(transition, reward, gamma, np.eye(states + 1)[0], terminal=[states])
