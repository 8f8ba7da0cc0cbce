"""What there is, a line each: for `gpbe list` and for people who build menus."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gpbe import exact, mdp
from gpbe.algorithms import linear, nonlinear
from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.exact.weightings import WEIGHTINGS
from gpbe.wording import counted


def catalog() -> dict[str, dict[str, str]]:
    """Kinds of things by name, each thing with one line about it."""
    from gpbe import experiments
    from gpbe.algorithms import control

    return {
        "problems": {name: entry.description for name, entry in mdp.ZOO.items()},
        "algorithms": {
            name: f"{a.update}, {a.bootstrapping}, {a.weighting}: {a.paper}" for name, a in linear.ALGORITHMS.items()
        },
        "networks": {name: f"{a.form}, h {a.h}, {a.weighting}: {a.paper}" for name, a in nonlinear.ALGORITHMS.items()},
        "control": {name: f"{a.describe}: {a.paper}" for name, a in control.ALGORITHMS.items()},
        "experiments": {
            e.name: f"{e.describe}; {e.work:,} {e.unit}"
            for e in (experiments.find(n, "paper") for n in experiments.NAMES)
        }
        | {
            name: f"{row['describe']}; {counted(len(row['stages']), 'stage')}: {', '.join(row['stages'])}"
            for name, row in staged().items()
        },
        "figures": {name: spec.describe for name, spec in experiments.FIGURES.items()},
        "objectives": {name: (build.__doc__ or "").splitlines()[0] for name, build in exact.OBJECTIVES.items()}
        | {name: loss.description for name, loss in exact.ROBUST.items()},
        "weightings": {name: weighting.description for name, weighting in WEIGHTINGS.items()},
        "bounds": {name: bound.description for name, bound in exact.BOUNDS.items()},
    }


def staged() -> dict[str, dict[str, Any]]:
    """The experiments in stages by name, each with the names of its stages, which results are kept under.

    >>> staged()["evidence"]["stages"][:2]
    ['evidence-screen', 'evidence-race']
    """
    from gpbe import experiments

    return {
        name: {"describe": each.describe, "stages": [stage.name for stage in each.stages("paper")]}
        for name, each in experiments.STAGED.items()
    }


def algorithms() -> dict[str, dict[str, Any]]:
    """The linear prediction algorithms by name: their axes, what they promise, and their hyperparameters."""
    return _told(linear.ALGORITHMS, ("weighting", "sound", "needs"))


def control_algorithms() -> dict[str, dict[str, Any]]:
    """The control algorithms by name: their axes and their hyperparameters, with the paper's ranges."""
    from gpbe.algorithms.control.table import ALGORITHMS

    return {
        name: {"label": a.look.label if a.look else name, "axes": a.axes, "describe": a.describe, "paper": a.paper}
        | {"hyperparameters": {h: _about(declared, h in a.grid()) for h, declared in a.declared.items()}}
        for name, a in ALGORITHMS.items()
    }


def _about(h: Hyperparameter, swept: bool) -> dict[str, Any]:
    default = None if math.isnan(h.default) else h.default
    return {"default": default, "meaning": h.meaning} | ({"paper": list(h.paper)} if swept else {})


def network_algorithms() -> dict[str, dict[str, Any]]:
    """The algorithms of prediction with networks by name: their axes and their hyperparameters."""
    return _told(nonlinear.ALGORITHMS, ("weighting",))


def _told(algorithms: Mapping[str, Any], follows: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Algorithms of prediction: what is declared of each, and what `follows` from that."""
    return {
        name: {
            **{field.name: getattr(a, field.name) for field in fields(a) if field.name != "look"},
            "label": a.look.label,
            **{name: getattr(a, name) for name in follows},
            "hyperparameters": list(a.hyperparameters),
        }
        for name, a in algorithms.items()
    }
