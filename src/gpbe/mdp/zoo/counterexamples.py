"""Problems on which off-policy TD diverges, or converges to something useless."""

import numpy as np

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Numbers


def baird(gamma: float = 0.99) -> PredictionProblem:
    """Baird's star: off-policy TD diverges although all rewards are 0 and the true values are representable.

    Seven states as in Sutton and Barto (2018, section 11.2). 'dashed' leads to one of the six upper states, 'solid'
    to the lower one. The behavior takes 'dashed' six times in seven, so it visits all states equally often; the
    target always takes 'solid'. Weights are one for each upper state, then the shared one, then the lower state's.

    >>> star = baird()
    >>> star.features @ star.initial_weights
    array([ 3.,  3.,  3.,  3.,  3.,  3., 12.])
    """
    transition = np.zeros((7, 2, 7))
    transition[:, 0, :6] = 1 / 6
    transition[:, 1, 6] = 1
    features = np.zeros((7, 8))
    features[:6, :6] = 2 * np.eye(6)
    features[:6, 6] = 1
    features[6, 6:] = 2, 1
    names = [*(f"upper {i}" for i in range(1, 7)), "lower"]
    return PredictionProblem(
        FiniteMDP(transition, 0.0, gamma, state_names=names, action_names=["dashed", "solid"]),
        target=[0, 1],
        behavior=[6 / 7, 1 / 7],
        features=features,
        initial_weights=[1] * 7 + [10],
        name="baird",
    )


def tsitsiklis_van_roy(gamma: float = 0.99, epsilon: float = 0.01) -> PredictionProblem:
    """The smallest divergence: two states with values w and 2w, where the first leads to the second.

    From the second state the target stays there, and ends with probability `epsilon` (Tsitsiklis and Van Roy, 1996;
    Sutton and Barto, 2018, section 11.2). The behavior sometimes takes 'restart' instead of 'on', just often enough
    to be in both states equally often. Expected TD then diverges if and only if gamma > 5 / (6 - 4 epsilon).

    >>> tsitsiklis_van_roy().behavior_distribution
    array([0.5, 0.5])
    """
    if not 0 <= epsilon < 1:
        raise InputError(f"epsilon is {epsilon:g}; it should be a probability below 1")
    transition = np.zeros((3, 2, 3))  # the last state is the end
    transition[0, 0, 1] = 1
    transition[1, 0, 1:] = 1 - epsilon, epsilon
    transition[:2, 1, 2] = 1
    names = ["w", "2w", "end"]
    mdp = FiniteMDP.episodic(transition, 0.0, gamma, [1, 0, 0], [2], state_names=names, action_names=["on", "restart"])
    on = 1 / (2 - epsilon)
    return PredictionProblem(mdp, [1, 0], [on, 1 - on], [[1], [2]], initial_weights=[1], name="tsitsiklis-van-roy")


def kolter(p: Numbers = 0.7, epsilon: Numbers = 0.01, gamma: float = 0.99) -> PredictionProblem:
    """Kolter's example (2011): the TD solution can be arbitrarily bad although one feature is almost perfect.

    Two states with values 1 and 1.05 and one feature, 1 and 1.05 + epsilon. The target moves to either state with
    equal probability; the behavior is in the first state with probability p. An action names the state it leads to,
    so the behavior's states are independent draws. For epsilon 0.01 the TD solution passes through infinity at
    p = 0.684; beyond it TD diverges. Arrays of p or epsilon make a batch of problems.

    >>> kolter(p=0.7).values, kolter(p=0.7).behavior_distribution
    (array([1.  , 1.05]), array([0.7, 0.3]))
    """
    p, epsilon = as_floats(p, "p"), as_floats(epsilon, "epsilon")
    if not ((p > 0) & (p < 1)).all():
        raise InputError(f"p is {p[(p <= 0) | (p >= 1)].flat[0]:g}; it should lie strictly between 0 and 1")
    if not 0 <= gamma < 1:
        raise InputError(f"gamma is {gamma:g}; it should be at least 0 and below 1, for nothing ever ends")
    values = np.array([1.0, 1.05])
    transition = np.broadcast_to(np.eye(2), (2, 2, 2))
    reward = np.broadcast_to((values - gamma * values.mean())[:, None, None], (2, 2, 2))
    behavior = np.stack([p, 1 - p], axis=-1)[..., None, :].repeat(2, axis=-2)
    features = np.stack([np.ones(epsilon.shape), values[1] + epsilon], axis=-1)[..., None]
    mdp = FiniteMDP(transition, reward, gamma, state_names=["1", "2"], action_names=["to 1", "to 2"])
    return PredictionProblem(mdp, [0.5, 0.5], behavior, features, name="kolter")
