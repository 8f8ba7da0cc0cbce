"""When a domain counts as solved, and how large a difference of returns is in it.

Returns of different domains are compared as parts of the way from what a random policy gets to the reward threshold
that Gymnasium states for the domain. Random returns were measured with uniformly random actions and the paper's
cutoffs, a step carrying the return of its episode as everywhere here.

A domain is *solved* where the mean return over the last quarter of the steps covers `SOLVED` of that way. Not all of
it, because agents are measured while they learn, and action-value methods take a random action in ten.
"""

from dataclasses import dataclass

SOLVED = 0.75
MARGIN = 0.1
"""Differences up to this part of the way are small: algorithms within it perform alike."""


@dataclass(frozen=True)
class Level:
    """Returns of a random policy, and Gymnasium's threshold."""

    random: float
    threshold: float

    @property
    def way(self) -> float:
        return self.threshold - self.random

    @property
    def solved(self) -> float:
        return self.random + SOLVED * self.way


LEVELS = {
    "MountainCar-v0": Level(-1000.0, -110.0),
    "Acrobot-v1": Level(-498.0, -100.0),
    "CartPole-v1": Level(29.0, 475.0),
    "LunarLander-v3": Level(-185.0, 200.0),
}
