"""Finite MDPs, prediction problems and a zoo of them."""

from gpbe.mdp.aliasing import aliased, identifiability_pair
from gpbe.mdp.chains import boyan, collision, corrections_example
from gpbe.mdp.counterexamples import baird, kolter, tsitsiklis_van_roy
from gpbe.mdp.files import load, save
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.logs import Log
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.random_mdps import random_mdp
from gpbe.mdp.rooms import four_rooms
from gpbe.mdp.simulate import Trajectories, simulate
from gpbe.mdp.structure import recurrent_classes, stationary_distribution
from gpbe.mdp.walks import random_walk
from gpbe.mdp.zoo import ZOO, problem

__all__ = [
    "ZOO",
    "FiniteMDP",
    "Log",
    "PredictionProblem",
    "Trajectories",
    "aliased",
    "baird",
    "boyan",
    "collision",
    "corrections_example",
    "four_rooms",
    "identifiability_pair",
    "kolter",
    "load",
    "problem",
    "random_mdp",
    "random_walk",
    "recurrent_classes",
    "save",
    "simulate",
    "stationary_distribution",
    "tsitsiklis_van_roy",
]
