"""When a domain counts as solved, and how large a difference of returns is in it.

Returns of different domains are compared as parts of the way from what a random policy gets to the reward threshold
that Gymnasium states for the domain (`gpbe.envs.domains`).

A domain is *solved* where the mean return over the last quarter of the steps covers `SOLVED` of that way. Not all of
it, because agents are measured while they learn, and action-value methods take a random action in ten.
"""

from gpbe.envs.domains import domain_of

SOLVED = 0.75
MARGIN = 0.1
"""Differences up to this part of the way are small: algorithms within it perform alike."""


def way(name: str) -> float:
    """From the return of a random policy to the threshold.

    >>> way("CartPole-v1")
    446.0
    """
    domain = domain_of(name)
    return domain.threshold - domain.random_return


def solved(name: str) -> float:
    """The return at which a domain counts as solved.

    >>> solved("MountainCar-v0")
    -332.5
    """
    return domain_of(name).random_return + SOLVED * way(name)
