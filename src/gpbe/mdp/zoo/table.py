"""The zoo by name, for the command line and for tables."""

import inspect
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpbe import features
from gpbe.checks import check_at_least, check_known, generator
from gpbe.errors import InputError
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.zoo.aliasing import aliased, identifiability_pair
from gpbe.mdp.zoo.chains import boyan, collision, corrections_example
from gpbe.mdp.zoo.counterexamples import baird, kolter, tsitsiklis_van_roy
from gpbe.mdp.zoo.grids import gridworld
from gpbe.mdp.zoo.random_mdps import random_mdp
from gpbe.mdp.zoo.rooms import four_rooms
from gpbe.mdp.zoo.walks import random_walk


class Entry(NamedTuple):
    """A problem of the zoo: how to make it, and a line about it."""

    make: Callable[..., PredictionProblem]
    description: str


def problem(name: str, **parameters) -> PredictionProblem:
    """The problem of that name; parameters go to the function that makes it. A grid of any size is "grid-40x25".

    >>> problem("kolter", p=0.6).behavior_distribution
    array([0.6, 0.4])
    >>> problem("bairds")
    Traceback (most recent call last):
    gpbe.errors.InputError: there is no problem 'bairds'; did you mean 'baird'?
    """
    if isinstance(name, str) and (size := re.fullmatch(r"grid-(\d+)x(\d+)", name)):
        return problem("grid", width=int(size[1]), height=int(size[2]), **parameters)
    check_known(name, ZOO, "problem")
    accepted = list(inspect.signature(ZOO[name].make).parameters)
    for parameter in parameters:
        if parameter not in accepted:
            raise InputError(f"{name} has no parameter {parameter!r}; it has {', '.join(accepted) or 'none'}")
    return ZOO[name].make(**parameters)


def _walk(n: int, gamma: float, representation: str) -> PredictionProblem:
    """The walk of Sutton et al. (2009) made off-policy: the target prefers the right, 60 to 40."""
    representations = {
        "tabular": features.tabular,
        "inverted": features.inverted,
        "dependent": features.dependent,
        "aggregation": lambda n: features.aggregation(features.equal_bins(n)),
    }
    check_known(representation, representations, "representation")
    x = representations[representation](n)
    return PredictionProblem(random_walk(n, gamma), [0.4, 0.6], [0.5, 0.5], x, name=f"random-walk-{n}")


def _walk_5(gamma: float = 1.0, representation: str = "dependent") -> PredictionProblem:
    return _walk(5, gamma, representation)


def _walk_19(gamma: float = 0.99, representation: str = "dependent") -> PredictionProblem:
    return _walk(19, gamma, representation)


def _random(
    states: int = 10,
    actions: int = 3,
    branching: int = 3,
    gamma: float = 0.9,
    termination: float = 0.0,
    n_features: int = 4,
    seed: int = 0,
) -> PredictionProblem:
    check_at_least(1, n_features=n_features)
    draw = generator(seed)
    mdp = random_mdp(states, actions, branching, gamma, rng=draw, termination=termination)
    target, behavior = draw.dirichlet(np.ones(actions), (2, states))
    return PredictionProblem(mdp, target, behavior, draw.standard_normal((states, n_features)), name="random")


def _identifiability_1(gamma: float = 0.9) -> PredictionProblem:
    return identifiability_pair(gamma)[0]


def _identifiability_2(gamma: float = 0.9) -> PredictionProblem:
    return identifiability_pair(gamma)[1]


ZOO: dict[str, Entry] = {
    "aliased": Entry(aliased, "two states look the same; the Bellman error spoils the states after them"),
    "baird": Entry(baird, "Baird's star: off-policy TD diverges from representable values"),
    "boyan": Entry(boyan, "Boyan's chain: 12 states down to the end, values exactly representable"),
    "collision": Entry(collision, "eight states to an obstacle, six random bits; only the target drives on"),
    "corrections-example": Entry(corrections_example, "two states that tell prior from posterior corrections"),
    "four-rooms": Entry(four_rooms, "104 cells and eight target policies, one to each hallway of each room"),
    "grid": Entry(gridworld, "a grid of any size with obstacles, sparse; grid-1000x1000 has a million cells"),
    "identifiability-1": Entry(_identifiability_1, "two states; the same data as identifiability-2"),
    "identifiability-2": Entry(_identifiability_2, "three states, two alike; another minimum of the Bellman error"),
    "kolter": Entry(kolter, "two states, one almost perfect feature, arbitrarily bad TD solutions"),
    "random": Entry(_random, "a random MDP (Garnet) with random policies and features"),
    "random-walk-5": Entry(_walk_5, "five states in a row, reward -1 and +1 at the ends"),
    "random-walk-19": Entry(_walk_19, "nineteen states in a row, reward -1 and +1 at the ends"),
    "tsitsiklis-van-roy": Entry(tsitsiklis_van_roy, "two states with values w and 2w: the smallest divergence"),
}
"""What `problem` knows, by name."""
