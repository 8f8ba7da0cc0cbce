"""Which hyperparameters an algorithm has, what they may be, and their defaults."""

from typing import NamedTuple

import numpy as np

from gpbe.algorithms.linear.table import Algorithm


class Range(NamedTuple):
    low: float
    high: float
    open: bool
    """Is `low` itself excluded?"""
    default: float
    meaning: str


RANGES: dict[str, Range] = {
    "step_size": Range(0, np.inf, True, 0.01, "step size of w"),
    "ratio": Range(0, np.inf, True, 1.0, "step size of h over that of w"),
    "lam": Range(0, 1, False, 0.0, "trace parameter lambda (zeta for AB-Trace)"),
    "beta": Range(0, np.inf, False, 1.0, "regularization of h (TDRC)"),
    "c_bar": Range(0, np.inf, True, 1.0, "clip of the trace's ratio (V-trace)"),
    "rho_bar": Range(0, np.inf, True, 1.0, "clip of the TD error's ratio (V-trace)"),
    "followon_decay": Range(0, 1, False, 0.9, "decay of the followon in place of the discount, ETD(lambda, beta)"),
    "power": Range(0, np.inf, False, 0.0, "the step size falls as (1 + t / delay)^-power"),
    "delay": Range(0, np.inf, True, 1000.0, "transitions after which the step size begins to fall"),
    "ridge": Range(0, np.inf, False, 1e-3, "added to the diagonal of LSTD's sum over transitions"),
}


def names_for(a: Algorithm) -> list[str]:
    """The hyperparameters that an algorithm has."""
    steps = a.update != "least-squares"
    has = {
        "step_size": steps,
        "power": steps and not a.finite_sum,
        "delay": steps and not a.finite_sum,
        "ridge": not steps,
        "ratio": a.second_weights,
        "beta": a.regularized,
        "c_bar": a.bootstrapping == "v-trace",
        "rho_bar": a.bootstrapping == "v-trace",
        "followon_decay": a.decayed_followon,
    }
    return [name for name in RANGES if has.get(name, True)]


def defaults_for(a: Algorithm) -> dict[str, float]:
    """Defaults; ratios stay unclipped outside V-trace, and inside it where clipping would break the gradient."""
    values = {name: r.default for name, r in RANGES.items()}
    if a.bootstrapping != "v-trace" or a.second_weights:
        values["rho_bar"] = np.inf
    return values
