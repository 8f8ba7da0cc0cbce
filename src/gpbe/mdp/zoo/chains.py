"""Chains: states in a row that are walked through in one direction."""

import numpy as np

from gpbe import features
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Numbers


def boyan(target: Numbers = (0.5, 0.5), behavior: Numbers = (0.5, 0.5)) -> PredictionProblem:
    """Boyan's chain (2002): from 12 down to 0 by one or two steps at a time, each move at a reward of -3.

    State 0 is the end; from state 1 both actions lead there, at -2. Under the default policies a state's value is
    -2 times its number, which the four features, interpolated between states 12, 8, 4 and 0, represent with weights
    (-24, -16, -8, 0). Other policies make it an off-policy problem.

    >>> boyan().values
    array([-24., -22., -20., -18., -16., -14., -12., -10.,  -8.,  -6.,  -4., -2.])
    """
    number = np.arange(12, -1, -1)
    transition = np.zeros((13, 2, 13))
    reward = np.full((13, 2, 13), -3.0)
    for i in range(12):
        for action, steps in enumerate((1, 2)):
            transition[i, action, min(i + steps, 12)] = 1
    reward[11] = -2
    mdp = FiniteMDP.episodic(
        transition,
        reward,
        1.0,
        start=np.eye(13)[0],
        terminal=[12],
        state_names=[str(k) for k in number],
        action_names=["one step", "two steps"],
    )
    corners = np.array([12, 8, 4, 0])
    interpolated = np.maximum(0, 1 - np.abs(number[:-1, None] - corners) / 4)
    return PredictionProblem(mdp, target, behavior, interpolated, name="boyan")


def collision(seed: int = 0) -> PredictionProblem:
    """The Collision task of Ghiassian and Sutton (2021): will the car hit the obstacle if it drives on?

    Eight states in a row; driving 'forward' from the last is a collision, with reward 1. Episodes start in one of
    the first four states, where the behavior only drives forward; in the last four it takes 'turn away', which
    ends the episode, half of the time. The target always drives forward; the discount is 0.9. Each state has a
    pattern of six random bits, three of them on, drawn from `seed`; no two states share one.

    >>> collision().values.round(3)
    array([0.478, 0.531, 0.59 , 0.656, 0.729, 0.81 , 0.9  , 1.   ])
    """
    transition = np.zeros((9, 2, 9))
    for i in range(8):
        transition[i, 0, i + 1] = transition[i, 1, 8] = 1
    reward = np.zeros((9, 2, 9))
    reward[7, 0, 8] = 1
    mdp = FiniteMDP.episodic(
        transition,
        reward,
        0.9,
        start=[0.25] * 4 + [0] * 5,
        terminal=[8],
        state_names=[*(str(i) for i in range(1, 9)), "end"],
        action_names=["forward", "turn away"],
    )
    behavior = [[1, 0]] * 4 + [[0.5, 0.5]] * 4
    return PredictionProblem(mdp, [1, 0], behavior, features.random_binary(8, rng=seed), name="collision")


def corrections_example() -> PredictionProblem:
    """The problem of the paper's appendix A, which tells prior from posterior corrections.

    Episodes start in x; action a1 leads from x to y and from y to the end; a2 stays in y. The target always takes
    a1, the behavior either action equally often; nothing is discounted. The paper's text leaves two things open:
    here a2 also stays in x, and the last transition pays a reward of 1.

    >>> corrections_example().values
    array([1., 1.])
    """
    transition = np.zeros((3, 2, 3))
    for i in range(2):
        transition[i, 0, i + 1] = transition[i, 1, i] = 1
    reward = np.zeros((3, 2, 3))
    reward[1, 0, 2] = 1
    mdp = FiniteMDP.episodic(
        transition, reward, 1.0, [1, 0, 0], [2], state_names=["x", "y", "T"], action_names=["a1", "a2"]
    )
    return PredictionProblem(mdp, [1, 0], [0.5, 0.5], name="corrections-example")
