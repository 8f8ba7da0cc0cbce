"""A zoo of problems that the field argues with, each a function; `problem` finds one by its name."""

from gpbe.mdp.zoo.aliasing import aliased, identifiability_pair
from gpbe.mdp.zoo.chains import boyan, collision, corrections_example
from gpbe.mdp.zoo.counterexamples import baird, kolter, tsitsiklis_van_roy
from gpbe.mdp.zoo.grids import gridworld
from gpbe.mdp.zoo.random_mdps import random_mdp
from gpbe.mdp.zoo.rooms import four_rooms
from gpbe.mdp.zoo.table import ZOO, problem
from gpbe.mdp.zoo.walks import random_walk

__all__ = [
    "ZOO",
    "aliased",
    "baird",
    "boyan",
    "collision",
    "corrections_example",
    "four_rooms",
    "gridworld",
    "identifiability_pair",
    "kolter",
    "problem",
    "random_mdp",
    "random_walk",
    "tsitsiklis_van_roy",
]
