"""The aliased example, learned by a network: H = F, an H in between, and an H of every function (paper, section 5.1).

The network sees A, B or C. h is linear in given features: those of F; the same and the difference between A1 and A2,
with a ridge of 1 on that; the same without a ridge. As H grows, B and C move away from their true values, as the exact
solutions do (`gpbe.experiments.aliased`).
"""

import numpy as np
import polars as pl

import gpbe
from gpbe import exact, mdp
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece
from gpbe.experiments.widening import widened

SETS = {"H = F": np.inf, "H in between (ridge 1)": 1.0, "H = everything": 0.0}


SIZES: dict[Scale, tuple[int, int]] = {"smoke": (2, 400), "quick": (10, 4000), "paper": (30, 4000)}
"""Runs for each H, and steps of each."""


def pieces(scale: Scale) -> list[Piece]:
    """An H each."""
    runs, steps = SIZES[scale]
    return [Piece(f"{__name__}:learn", (name, runs, steps), runs) for name in SETS]


def learn(name: str, runs: int, steps: int) -> pl.DataFrame:
    """TDC from replay with one H: values of A, B and C, one row a run, point and observation."""
    problem, ridge = mdp.aliased(), SETS[name]
    d = problem.behavior_distribution
    phi, penalty = widened(problem, [1.0, 0.0, 0.0, 0.0], d), np.array([0.0, 0.0, 0.0, ridge])
    if np.isinf(ridge):
        phi, penalty = problem.features, np.zeros(3)
    result = gpbe.predict(
        problem,
        "tdc",
        net=(16,),
        basis=phi,
        ridge=penalty,
        steps=steps,
        runs=runs,
        every=steps // 100,
        batch=32,
        step_size=0.05,
        ratio=10.0,
        power=0.5,
        metrics=("rmsgpbe",),
    )
    best = exact.solution(problem, "pbe", d, projection=phi, ridge=penalty).values
    seen, points = [0, 2, 3], len(result.steps)
    values = result.values[:, :, seen].astype(float)
    return pl.DataFrame(
        {
            "set": [name] * values.size,
            "ridge": np.full(values.size, ridge),
            "run": np.repeat(np.arange(runs), points * 3),
            "step": np.tile(np.repeat(result.steps, 3), runs),
            "observation": np.tile(["A", "B", "C"], runs * points),
            "value": values.ravel(),
            "exact": np.tile(best[seen], runs * points),
            "true_value": np.tile([0.5, 1.0, 0.0], runs * points),
        }
    )
