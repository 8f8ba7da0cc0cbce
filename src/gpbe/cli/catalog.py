"""What there is, a line each: for `gpbe list` and for people who build menus."""

import math
from typing import Any, get_args

from gpbe import exact, figures, mdp
from gpbe.algorithms.linear import ALGORITHMS
from gpbe.exact.weightings import Name

WEIGHTINGS = {
    "behavior": "d_b, the stationary distribution of the behavior",
    "target": "d_pi, the stationary distribution of the target policy",
    "followon": "f = (I - P')^-1 d_b, discounted visits of the target on excursions from the behavior",
    "emphatic": "m = lam d_b + (1 - lam) f, the weighting of ETD(lam)",
    "start": "the start distribution",
    "uniform": "the same weight for every state",
}
assert set(WEIGHTINGS) == set(get_args(Name))


def catalog() -> dict[str, dict[str, str]]:
    """Kinds of things by name, each thing with one line about it."""
    from gpbe import experiments
    from gpbe.algorithms import control
    from gpbe.figures.control import CONTROL_FIGURES

    return {
        "problems": {name: entry.description for name, entry in mdp.ZOO.items()},
        "algorithms": {
            name: f"{a.update}, {a.bootstrapping}, {a.weighting}: {a.paper}" for name, a in ALGORITHMS.items()
        },
        "control": {name: f"{a.describe}: {a.paper}" for name, a in control.ALGORITHMS.items()},
        "experiments": {
            e.name: f"{e.describe}; {e.work:,} {e.unit}"
            for e in (experiments.find(n, "paper") for n in experiments.NAMES)
        },
        "figures": {name: spec.describe for name, spec in figures.FIGURES.items()}
        | {name: spec.describe for name, spec in CONTROL_FIGURES.items()},
        "objectives": {name: (build.__doc__ or "").splitlines()[0] for name, build in exact.OBJECTIVES.items()},
        "weightings": WEIGHTINGS,
        "bounds": {name: bound.description for name, bound in exact.BOUNDS.items()},
    }


def algorithms() -> dict[str, dict[str, Any]]:
    """The linear prediction algorithms by name: their axes, what they promise, and their hyperparameters."""
    from gpbe.algorithms.linear.hyperparameters import names_for

    axes = (
        "prior",
        "bootstrapping",
        "update",
        "mirror_prox",
        "variance_reduction",
        "weighting",
        "sound",
        "needs",
        "paper",
    )
    return {
        name: {axis: getattr(a, axis) for axis in axes} | {"hyperparameters": names_for(a)}
        for name, a in ALGORITHMS.items()
    }


def control_algorithms() -> dict[str, dict[str, Any]]:
    """The control algorithms by name: their axes and their hyperparameters, with the paper's ranges."""
    from gpbe.algorithms.control.table import ALGORITHMS, RANGES

    return {
        name: {"axes": a.axes, "describe": a.describe, "paper": a.paper}
        | {
            "hyperparameters": {
                h: {"default": None if math.isnan(RANGES[h].default) else a.defaults()[h], "meaning": RANGES[h].meaning}
                | ({"paper": list(RANGES[h].paper)} if h in a.swept else {})
                for h in a.hyperparameters
            }
        }
        for name, a in ALGORITHMS.items()
    }


def network_algorithms() -> dict[str, dict[str, Any]]:
    """The algorithms of prediction with networks by name: their axes and their hyperparameters."""
    from gpbe.algorithms.nonlinear import ALGORITHMS, names_for

    axes = ("form", "h", "curvature", "regularized", "prior", "weighting", "paper")
    return {
        name: {axis: getattr(a, axis) for axis in axes} | {"hyperparameters": names_for(a)}
        for name, a in ALGORITHMS.items()
    }
