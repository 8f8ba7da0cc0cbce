"""Control: how the outputs of an agent's networks should change, given one replayed transition."""

from typing import TYPE_CHECKING

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import ALGORITHMS, ControlAlgorithm, find_algorithm
from gpbe.lazy import imported_when_used

if TYPE_CHECKING:
    from gpbe.algorithms.control.agent import Action, Agent, ByPolicy, ByValue, Choice, Sampled, Spec

__all__ = [
    "ALGORITHMS",
    "Action",
    "Agent",
    "ByPolicy",
    "ByValue",
    "Choice",
    "ControlAlgorithm",
    "Hypers",
    "Sampled",
    "Spec",
    "find_algorithm",
]

# The table can be read without JAX.
_AGENT = ("Action", "Agent", "ByPolicy", "ByValue", "Choice", "Sampled", "Spec")
__getattr__ = imported_when_used(__name__, dict.fromkeys(_AGENT, "gpbe.algorithms.control.agent"))
