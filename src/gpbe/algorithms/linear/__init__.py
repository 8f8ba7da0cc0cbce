"""Linear prediction as one algebra: what is corrected, how long the sample is trusted, how the weights move."""

from gpbe.algorithms.linear.bootstrapping import Probabilities, action_lambda
from gpbe.algorithms.linear.expected import expected_system, expected_update, product_weighting
from gpbe.algorithms.linear.hyperparameters import Hypers
from gpbe.algorithms.linear.table import ALGORITHMS, Algorithm, find
from gpbe.algorithms.linear.traces import Limits, Trace, advance
from gpbe.algorithms.linear.updates import DIRECTIONS, Step, bounded, td_error

__all__ = [
    "ALGORITHMS",
    "DIRECTIONS",
    "Algorithm",
    "Hypers",
    "Limits",
    "Probabilities",
    "Step",
    "Trace",
    "action_lambda",
    "advance",
    "bounded",
    "expected_system",
    "expected_update",
    "find",
    "product_weighting",
    "td_error",
]
