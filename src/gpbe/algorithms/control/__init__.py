"""Control: how the outputs of an agent's networks should change, given one replayed transition."""

import importlib
from typing import TYPE_CHECKING, Any

from gpbe.algorithms.control.table import ALGORITHMS, ControlAlgorithm, find_algorithm

if TYPE_CHECKING:
    from gpbe.algorithms.control.action_values import ActionValues
    from gpbe.algorithms.control.actor_critic import PolicyGradient
    from gpbe.algorithms.control.agent import Action, Agent, Choice, Hypers, Sampled, Spec
    from gpbe.algorithms.control.sbeed import SBEED, SBEEDQ

__all__ = [
    "ALGORITHMS",
    "SBEED",
    "SBEEDQ",
    "Action",
    "ActionValues",
    "Agent",
    "Choice",
    "ControlAlgorithm",
    "Hypers",
    "PolicyGradient",
    "Sampled",
    "Spec",
    "find_algorithm",
]

_HOMES = {
    "ActionValues": "action_values",
    "PolicyGradient": "actor_critic",
    "SBEED": "sbeed",
    "SBEEDQ": "sbeed",
    **dict.fromkeys(("Action", "Agent", "Choice", "Hypers", "Sampled", "Spec"), "agent"),
}


def __getattr__(name: str) -> Any:
    """The table can be read without JAX; what needs it is imported when first used."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"gpbe.algorithms.control.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
