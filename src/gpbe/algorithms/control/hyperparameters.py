"""The hyperparameters of control. Which of them an algorithm has is said in its record (see `table`)."""

from math import nan
from typing import Any, NamedTuple

from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.algorithms.linear.hyperparameters import Hypers as Linear


class Hypers(NamedTuple):
    """Numbers that may be swept: none of them changes the compiled program. The defaults are their declarations.

    >>> Hypers._field_defaults["tau"].bounds
    '0 or more'
    """

    step_size: Any = Hyperparameter(
        "of the optimizer", 2.0**-10, open=True, paper=tuple(2.0**k for k in range(-12, -6))
    )
    beta: Any = Hyperparameter("penalty on the weights of h", 1.0, paper=(0.0, 0.5, 1.0, 1.5))
    tau: Any = Hyperparameter(
        "temperature of mellowmax (0: hard max), or of SBEED's policy",
        0.0,
        paper=(0.0, *(10.0**k for k in range(-4, 1))),
    )
    eta: Any = Hyperparameter(
        "SBEED's; 0: residual gradient, 1: correction", 1.0, high=1.0, paper=tuple(10.0**k for k in range(-3, 1))
    )
    nu: Any = Hyperparameter("policy's step size over the critic's", 1.0, paper=tuple(2.0**k for k in range(-4, 2)))
    epsilon: Any = Hyperparameter("probability of a random action, at the start", 0.1, high=1.0)
    epsilon_final: Any = Hyperparameter("and after epsilon_steps; the same if left out", nan, high=1.0)
    epsilon_steps: Any = Hyperparameter("steps over which epsilon changes along a line", 0.0)
    gamma: Any = Hyperparameter("discount", 0.99, high=1.0)
    huber: Any = Linear._field_defaults["huber"]
    lam: Any = Hyperparameter("decay of traces, lambda", 0.8, high=1.0)
    ratio: Any = Hyperparameter("step size of h over that of q, with traces", 1.0, open=True)
    kappa: Any = Hyperparameter("by how much steps that could overshoot are shortened", 2.0, open=True)


WIDTH = Hyperparameter("of QRC-Sep's layers for h, over those for q", 1.0, open=True, paper=(0.25, 0.5, 1.0, 2.0))
"""The width of QRC-Sep's network for h; in the paper 8 to 64 units, or 16 to 128. Each value is a program."""
