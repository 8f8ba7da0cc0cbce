"""Control: how the outputs of an agent's networks should change, given one replayed transition."""

from typing import TYPE_CHECKING

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.record import ControlAlgorithm
from gpbe.algorithms.control.table import ALGORITHMS, find_algorithm
from gpbe.lazy import all_names, imported_when_used

if TYPE_CHECKING:
    from gpbe.algorithms.control.agent import (
        Action,
        Agent,
        ByPolicy,
        ByValue,
        Choice,
        Errors,
        Measurable,
        Sampled,
        Spec,
    )
    from gpbe.algorithms.control.traces import Streamed, Traced, TracedValues, Tracing

__all__ = [
    "ALGORITHMS",
    "Action",
    "Agent",
    "ByPolicy",
    "ByValue",
    "Choice",
    "ControlAlgorithm",
    "Errors",
    "Hypers",
    "Measurable",
    "Sampled",
    "Spec",
    "Streamed",
    "Traced",
    "TracedValues",
    "Tracing",
    "find_algorithm",
]

# The table can be read without JAX.
_HOMES = {
    "gpbe.algorithms.control.agent": (
        "Action",
        "Agent",
        "ByPolicy",
        "ByValue",
        "Choice",
        "Errors",
        "Measurable",
        "Sampled",
        "Spec",
    ),
    "gpbe.algorithms.control.traces": ("Streamed", "Traced", "TracedValues", "Tracing"),
}
__getattr__ = imported_when_used(__name__, {name: home for home, names in _HOMES.items() for name in names})
__dir__ = all_names(__name__)
