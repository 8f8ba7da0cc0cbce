"""What is known of each domain, declared once. Does not need JAX to be read.

A domain of this table is an environment that gymnax or Gymnasium has under the same name; any other can be learned in
too, and is then called by its name, has no cutoff but its own, and layers of 64 units.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nan


@dataclass(frozen=True)
class Domain:
    """An environment that experiments are made on."""

    name: str
    """The name that gymnax or Gymnasium knows it by."""
    title: str
    """The name that people know it by."""
    cutoff: int
    """Steps after which an episode is cut off; 0 for the environment's own limit, which on the host always holds."""
    hidden: tuple[int, ...] = (64, 64)
    """Units in each layer of the networks."""
    random_return: float = nan
    """Mean return of uniformly random actions, each step carrying the return of its episode."""
    threshold: float = nan
    """The return at which Gymnasium counts it as solved."""
    bounds: tuple[float, float] = (-inf, inf)
    """The least and the largest return, known without data. Lunar Lander has none: runs beyond these count as these."""
    host: bool = False
    """Does it run on the host? Then it is slow."""
    noiseless: bool = False
    """Does gymnax draw noise of size 0 at every step, which is half of its cost? With a constant key, that is done when
    compiling."""
    paper: bool = True
    """Are the paper's control experiments made on it?"""
    sticky: float = 0.0
    """The probability that the environment repeats the last action in place of the one that was chosen."""
    as_fast_as: str = ""
    """The domain whose speed stands for it, where a whole family takes about as long."""


def _minatar(game: str, title: str, random_return: float, cutoff: int = 100_000) -> Domain:
    """A game of MinAtar (Young & Tian 2019). Only Freeway has a limit of its own; others' is there to end at all."""
    name, first = f"{game}-MinAtar", "Breakout-MinAtar"
    return Domain(name, title, cutoff, (128,), random_return, paper=False, sticky=0.1, as_fast_as=first)


DOMAINS = {
    domain.name: domain
    for domain in (
        Domain("MountainCar-v0", "Mountain Car", 1000, (32, 32), -1000.0, -110.0, bounds=(-1000.0, 0.0)),
        Domain("Acrobot-v1", "Acrobot", 500, (32, 32), -498.0, -100.0, bounds=(-500.0, 0.0), noiseless=True),
        Domain("CartPole-v1", "Cart Pole", 500, (64, 64), 29.0, 475.0, bounds=(0.0, 500.0)),
        Domain("LunarLander-v3", "Lunar Lander", 1000, (64, 64), -185.0, 200.0, bounds=(-500.0, 350.0), host=True),
        _minatar("Asterix", "Asterix", 0.87),
        _minatar("Breakout", "Breakout", 0.83),
        _minatar("Freeway", "Freeway", 0.36, cutoff=2500),
        _minatar("Seaquest", "Seaquest", 0.4),
        _minatar("SpaceInvaders", "Space Invaders", 6.1),
    )
}
"""All domains by name, in the paper's order; then the games of MinAtar."""

PAPER = tuple(name for name, domain in DOMAINS.items() if domain.paper)
"""The names of those in the paper."""
MINATAR = tuple(name for name in DOMAINS if name.endswith("-MinAtar"))
"""The names of MinAtar's games."""


def domain_of(name: str) -> Domain:
    """What is known of an environment; of one that is not in the table, no more than its name.

    >>> domain_of("Acrobot-v1").hidden, domain_of("Pendulum-v1").hidden
    ((32, 32), (64, 64))
    """
    return DOMAINS.get(name) or Domain(name, title=name, cutoff=0, paper=False)


def title_of(name: str) -> str:
    """A domain as people write it.

    >>> title_of("MountainCar-v0"), title_of("Pendulum-v1")
    ('Mountain Car', 'Pendulum-v1')
    """
    return domain_of(name).title


def domains_in(names: Iterable[str]) -> list[str]:
    """Each domain once: those of the table in its order, then others by name.

    >>> domains_in(["Zoo", "CartPole-v1", "MountainCar-v0", "Zoo"])
    ['MountainCar-v0', 'CartPole-v1', 'Zoo']
    """
    there = set(names)
    return [name for name in DOMAINS if name in there] + sorted(there.difference(DOMAINS))
