"""Random walks."""

import numpy as np

from gpbe.checks import check_at_least
from gpbe.mdp.finite import FiniteMDP


def random_walk(n: int = 5, gamma: float = 1.0) -> FiniteMDP:
    """A row of n states; left of the first an episode ends with reward -1, right of the last with +1.

    It starts in the middle (the left of the two middle states if n is even). Action 0 goes left, 1 right.

    >>> random_walk(19, gamma=0.99).n_states
    19
    """
    check_at_least(1, n=n)
    size = n + 2  # a terminal state at each end
    transition = np.zeros((size, 2, size))
    for s in range(1, n + 1):
        transition[s, 0, s - 1] = transition[s, 1, s + 1] = 1
    reward = np.zeros((size, 2, size))
    reward[1, 0, 0], reward[n, 1, n + 1] = -1, 1
    start = np.eye(size)[(n + 1) // 2]
    names = ["left end", *(str(i) for i in range(1, n + 1)), "right end"]
    return FiniteMDP.episodic(
        transition, reward, gamma, start, [0, n + 1], state_names=names, action_names=["left", "right"]
    )
