"""How often does off-policy TD diverge on random problems? `gpbe run examples/divergence.py`, then `gpbe status out`.

A study of one's own: a function that returns a table, and the calls to make of it. Each call is a chunk, so the study
can be interrupted, resumed and run on a cluster like any other experiment.
"""

import numpy as np
import polars as pl

from gpbe import exact, mdp
from gpbe.experiments.study import Piece, Study


def verdicts(features: int, seed: int, count: int) -> pl.DataFrame:
    """What `exact.td_stability` says of TD under d_b and under emphatic weights, a row a problem."""
    rng, rows = np.random.default_rng([features, seed]), []
    for _ in range(count):
        garnet = mdp.random_mdp(states=10, actions=2, branching=3, gamma=0.95, rng=rng)
        target, behavior = rng.dirichlet([0.3, 0.3], size=(2, 10))
        behavior = 0.9 * behavior + 0.05  # the behavior takes every action now and then
        problem = mdp.PredictionProblem(garnet, target, behavior, rng.normal(size=(10, features)))
        said = {d: exact.td_stability(problem, d).verdict for d in ("behavior", "emphatic")}
        rows.append({"features": features, **said})
    return pl.DataFrame(rows)


divergence = Study(
    name="divergence",
    describe="how often off-policy TD diverges on random problems, by the number of features",
    unit="problems",
    scale="quick",
    pieces=tuple(Piece("divergence:verdicts", (k, seed, 250), 250) for k in (1, 2, 4, 8) for seed in range(4)),
)
