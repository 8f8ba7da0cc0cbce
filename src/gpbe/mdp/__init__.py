"""Finite MDPs, prediction problems and a zoo of them."""

from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.problem import PredictionProblem
from gpbe.mdp.simulate import Trajectories, simulate
from gpbe.mdp.structure import recurrent_classes, stationary_distribution
from gpbe.mdp.walks import random_walk

__all__ = [
    "FiniteMDP",
    "PredictionProblem",
    "Trajectories",
    "random_walk",
    "recurrent_classes",
    "simulate",
    "stationary_distribution",
]
