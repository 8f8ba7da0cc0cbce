"""Two problems that no data can tell apart, learned from data (Sutton and Barto 2018, section 11.6; paper, 4.2).

Both show A and B with the same probabilities; in the second B is two states. A small network has the values of A and B.
Methods that see observations only cannot tell the problems apart and learn the same values in both: those of the
identifiable BE, (0, 0), or of the TDE. The BE's own minimum differs between them (in the second it is that of the TDE,
since nothing there is left to chance but which B comes next). It is reached in both only by methods that know more than
the data say: the hidden state (for h), or a model to draw a second transition from.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import gpbe
from gpbe import exact, mdp
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece
from gpbe.mdp import PredictionProblem


class Method(NamedTuple):
    label: str
    algorithm: str
    objective: str
    """What it minimizes."""
    sees: str
    hidden: bool = False
    """Is h a function of the hidden state? Otherwise of the observation."""
    given: Mapping[str, Any] = MappingProxyType({})


METHODS = (
    Method("TDC", "tdc", "ibe", "observations", False, {"ratio": 4.0}),
    Method("KBE", "kbe", "ibe", "observations", False, {"kernel": "same", "step_size": 0.4}),
    Method("residual gradient", "residual-gradient", "tde", "observations"),
    Method("TDC, h of states", "tdc", "be", "hidden states", True, {"ratio": 4.0}),
    Method("double sampling", "double-sampling", "be", "a model"),
)
GAMMA = 0.5
"""With a larger discount the values' common offset, which data determine worst, would blur the picture."""
ALIASES = {"identifiability-1": [0, 1], "identifiability-2": [0, 1, 1]}


def optimum(problem: PredictionProblem, objective: str) -> np.ndarray:
    """Values of A and B where the objective is least."""
    options = {"aliases": ALIASES[problem.name]} if objective == "ibe" else {}
    return exact.solution(problem, objective, "behavior", **options).values[:2]


def pieces(scale: Scale) -> list[Piece]:
    """A method on one of the two problems each; the smallest scale has every other method."""
    runs, steps = {"smoke": (4, 1000), "quick": (20, 10_000), "paper": (50, 10_000)}[scale]
    call = f"{__name__}:learn"
    return [
        Piece(call, (method.label, which, runs, steps), runs)
        for method in METHODS[:: 2 if scale == "smoke" else 1]
        for which in (0, 1)
    ]


def learn(label: str, which: int, runs: int, steps: int) -> pl.DataFrame:
    """The values of A and B that a method learns in a problem, averaged over the last half of learning; a row a run."""
    method = next(m for m in METHODS if m.label == label)
    problem = mdp.identifiability_pair(GAMMA)[which]
    basis: dict[str, Any] = {}
    if method.algorithm == "tdc":
        basis = {"basis": np.eye(problem.mdp.n_states) if method.hidden else problem.features}
    given: dict[str, Any] = {"step_size": 0.1} | basis | dict(method.given)
    points = 20
    result = gpbe.predict(
        problem,
        method.algorithm,
        net=(8,),
        steps=steps,
        runs=runs,
        every=steps // points,
        batch=32,
        buffer=steps,
        metrics=("rmsbe",),
        power=0.5,
        **given,
    )
    learned, best = result.values[:, points // 2 :].mean(1), optimum(problem, method.objective)
    return pl.DataFrame(
        {
            "method": [method.label] * runs,
            "sees": [method.sees] * runs,
            "objective": [method.objective] * runs,
            "problem": [problem.name] * runs,
            "run": np.arange(runs),
            "value_a": learned[:, 0].astype(float),
            "value_b": learned[:, 1].astype(float),
            "exact_a": np.full(runs, best[0]),
            "exact_b": np.full(runs, best[1]),
        }
    )
