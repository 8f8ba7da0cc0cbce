"""Baird's star, run by run: TD diverges from values that it could represent, gradient methods do not.

One step size for all, so that nothing but the update differs; TDC and GTD2 need second weights that move faster, and
TDRC needs no such choice. ETD is sound too, but its variance is so large here that its runs tell little of that
(Sutton and Barto 2018, section 11.8).
"""

from typing import Any

import numpy as np
import polars as pl

import gpbe
from gpbe import mdp
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece

STEP_SIZE, STEPS, EVERY = 2.0**-7, 3000, 20
ALGORITHMS: dict[str, dict[str, Any]] = {
    "td": {},
    "etd": {},
    "tdc": {"ratio": 16.0},
    "gtd2": {"ratio": 16.0},
    "tdrc": {},
}


RUNS: dict[Scale, int] = {"smoke": 2, "quick": 20, "paper": 100}


def pieces(scale: Scale) -> list[Piece]:
    """An algorithm each."""
    return [Piece(f"{__name__}:learn", (name, RUNS[scale]), RUNS[scale]) for name in ALGORITHMS]


def learn(algorithm: str, runs: int) -> pl.DataFrame:
    """Errors of some runs: one row a run and point."""
    second = ALGORITHMS[algorithm]
    with np.errstate(over="ignore"):
        result = gpbe.predict(
            mdp.baird(), algorithm, steps=STEPS, runs=runs, every=EVERY, step_size=STEP_SIZE, **second
        )
    points = len(result.steps)
    errors = {metric: result.curves[metric].astype(float).ravel() for metric in ("rmsve", "rmspbe")}
    columns = {"run": np.repeat(np.arange(runs), points), "step": np.tile(result.steps, runs), **errors}
    settings = {"algorithm": algorithm, "step_size": STEP_SIZE, "ratio": second.get("ratio")}
    literals = (
        pl.lit(value, pl.Float64 if key != "algorithm" else pl.String).alias(key) for key, value in settings.items()
    )
    return pl.DataFrame(columns).select(*literals, pl.all())
