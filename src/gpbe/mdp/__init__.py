"""Finite MDPs, prediction problems and a zoo of them."""

from gpbe.mdp.files import find, load, save
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.log_files import LogFiles, is_log, scan_log
from gpbe.mdp.logs import Log
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.simulate import Trajectories, simulate
from gpbe.mdp.structure import recurrent_classes, stationary_distribution
from gpbe.mdp.zoo import (
    ZOO,
    aliased,
    baird,
    boyan,
    collision,
    corrections_example,
    four_rooms,
    gridworld,
    identifiability_pair,
    kolter,
    problem,
    random_mdp,
    random_walk,
    tsitsiklis_van_roy,
)

__all__ = [
    "ZOO",
    "FiniteMDP",
    "Log",
    "LogFiles",
    "PredictionProblem",
    "Trajectories",
    "aliased",
    "baird",
    "boyan",
    "collision",
    "corrections_example",
    "find",
    "four_rooms",
    "gridworld",
    "identifiability_pair",
    "is_log",
    "kolter",
    "load",
    "problem",
    "random_mdp",
    "random_walk",
    "recurrent_classes",
    "save",
    "scan_log",
    "simulate",
    "stationary_distribution",
    "tsitsiklis_van_roy",
]
