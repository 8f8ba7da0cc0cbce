"""Prediction with networks: one update, of which every algorithm is a choice (paper, section 7)."""

from gpbe.algorithms.nonlinear.kernels import KERNELS, smoothed
from gpbe.algorithms.nonlinear.model import Basis, Params, evaluate, second_weights, start, values
from gpbe.algorithms.nonlinear.step import Batch, Second, direction
from gpbe.algorithms.nonlinear.table import ALGORITHMS, RANGES, ValueAlgorithm, find_value_algorithm, names_for
from gpbe.algorithms.nonlinear.updates import Outputs, Parts, Window, directions, parts
from gpbe.algorithms.nonlinear.weights import state_weights

__all__ = [
    "ALGORITHMS",
    "KERNELS",
    "RANGES",
    "Basis",
    "Batch",
    "Outputs",
    "Params",
    "Parts",
    "Second",
    "ValueAlgorithm",
    "Window",
    "direction",
    "directions",
    "evaluate",
    "find_value_algorithm",
    "names_for",
    "parts",
    "second_weights",
    "smoothed",
    "start",
    "state_weights",
    "values",
]
