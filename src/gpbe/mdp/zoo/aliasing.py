"""Problems in which states look the same."""

import numpy as np

from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem


def aliased() -> PredictionProblem:
    """Two states that look the same lead to different outcomes (Sutton et al., 2009; paper, section 5.1).

    An episode is A1, B and an end with reward 1, or A2, C and an end with reward 0, with equal probability. A1
    and A2 share a feature. The PBE has its minimum at the values (1/2, 1, 0) of A, B and C, whereas the BE moves B
    and C to 3/4 and 1/4, away from their true values, for the sake of A.

    >>> aliased().values
    array([1., 0., 1., 0.])
    """
    transition = np.zeros((5, 1, 5))  # A1, A2, B, C, end
    for state, next_state in ((0, 2), (1, 3), (2, 4), (3, 4)):
        transition[state, 0, next_state] = 1
    reward = np.zeros((5, 1, 5))
    reward[2, 0, 4] = 1
    mdp = FiniteMDP.episodic(
        transition,
        reward,
        1.0,
        start=[0.5, 0.5, 0, 0, 0],
        terminal=[4],
        state_names=["A1", "A2", "B", "C", "end"],
        action_names=["go"],
    )
    features = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    return PredictionProblem(mdp, [1], [1], features, name="aliased")


def identifiability_pair(gamma: float = 0.9) -> tuple[PredictionProblem, PredictionProblem]:
    """Two problems that no data can tell apart, with different minima of the BE.

    Sutton and Barto (2018, example 11.4). One sees A, then 0, then a number of Bs each followed by -1 but for the
    last, which is followed by 1, and so on; k Bs in a row have probability 1/2^k. In the first problem B is one
    state; in the second it is two, B and B', that share a feature. Weights 0 have a BE of 0 in the first and of 2/3
    in the second, whose minimum tends to (-1/3, 1/6) as gamma tends to 1. (The book's limit, (-1/2, 0), is as good
    as that at gamma = 1, where the minimum is a whole line, but not the limit.)

    >>> one, two = identifiability_pair()
    >>> one.values, one.behavior_distribution.round(3), two.behavior_distribution.round(3)
    (array([0., 0.]), array([0.333, 0.667]), array([0.333, 0.333, 0.333]))
    """
    one = FiniteMDP(
        transition=[[[0, 1]], [[0.5, 0.5]]],
        reward=[[[0, 0]], [[1, -1]]],
        discount=gamma,
        start=[1, 0],
        state_names=["A", "B"],
        action_names=["go"],
    )
    two = FiniteMDP(
        transition=[[[0, 0.5, 0.5]], [[1, 0, 0]], [[0, 0.5, 0.5]]],
        reward=[[[0, 0, 0]], [[1, 1, 1]], [[-1, -1, -1]]],
        discount=gamma,
        start=[1, 0, 0],
        state_names=["A", "B", "B'"],
        action_names=["go"],
    )
    return (
        PredictionProblem(one, [1], [1], name="identifiability-1"),
        PredictionProblem(two, [1], [1], [[1, 0], [0, 1], [0, 1]], name="identifiability-2"),
    )
