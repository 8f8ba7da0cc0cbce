"""The hyperparameters of prediction with networks. Which of them an algorithm has follows from its axes."""

from typing import Any, NamedTuple

from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.algorithms.linear.hyperparameters import Hypers as Linear

_SHARED = Linear._field_defaults


class Hypers(NamedTuple):
    """Numbers that may be swept: none of them changes the compiled program. The defaults are their declarations.

    >>> Hypers._field_defaults["lam"].bounds
    'in [0, 1]'
    """

    step_size: Any = _SHARED["step_size"]
    ratio: Any = _SHARED["ratio"]
    beta: Any = _SHARED["beta"]
    huber: Any = _SHARED["huber"]
    lam: Any = Hyperparameter("trace parameter within a window of n transitions; 1 makes n-step returns", 1.0, high=1.0)
    bandwidth: Any = Hyperparameter("width of the kernel (KBE)", 1.0, open=True)
    power: Any = _SHARED["power"]
    delay: Any = _SHARED["delay"]
