"""The hyperparameters of linear prediction. Which of them an algorithm has follows from its axes (see `table`)."""

from typing import Any, NamedTuple

from gpbe.algorithms.hyperparameters import Hyperparameter


class Hypers(NamedTuple):
    """Numbers that may be swept: none of them changes the compiled program. The defaults are their declarations.

    >>> Hypers._field_defaults["lam"].bounds
    'in [0, 1]'
    """

    step_size: Any = Hyperparameter("step size of w", 0.01, open=True)
    ratio: Any = Hyperparameter("step size of h over that of w", 1.0, open=True)
    lam: Any = Hyperparameter("trace parameter lambda (zeta for AB-Trace)", 0.0, high=1.0)
    beta: Any = Hyperparameter("regularization of h (TDRC)", 1.0)
    huber: Any = Hyperparameter(
        "bound on |h| (Huber PBE); infinite for squared errors, small for absolute ones", 1.0, open=True, endless=True
    )
    c_bar: Any = Hyperparameter("clip of the trace's ratio (V-trace)", 1.0, open=True, endless=True)
    rho_bar: Any = Hyperparameter("clip of the TD error's ratio (V-trace)", 1.0, open=True, endless=True)
    followon_decay: Any = Hyperparameter(
        "decay of the followon in place of the discount, ETD(lambda, beta)", 0.9, high=1.0
    )
    power: Any = Hyperparameter("the step size falls as (1 + t / delay)^-power", 0.0)
    delay: Any = Hyperparameter("updates after which the step size begins to fall", 1000.0, open=True)
    ridge: Any = Hyperparameter("added to the diagonal of LSTD's sum over transitions", 1e-3)
