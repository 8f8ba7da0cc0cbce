"""What trained agents get if they stop exploring: greedy actions, beside how they act while they learn."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from gpbe.experiments.evidence.sweeps import JUDGES_ASIDE

LARGE = 1000
"""Apart from each other: seeds of the agents that are trained at once."""


def evaluate(
    domain: str, algorithm: str, setting: Mapping[str, Any], first: int, runs: int, steps: int, episodes: int
) -> pl.DataFrame:
    """Train some runs and play whole episodes with greedy actions: a row a run, with its mean return.

    Columns: domain, algorithm, run, performance (with greedy actions), learning (the mean return over the last quarter
    of learning).
    """
    import gpbe

    trained = gpbe.train(domain, algorithm, steps=steps, runs=runs, seed=JUDGES_ASIDE + LARGE * (1 + first), **setting)
    means = [trained.agent(run=k).evaluate(episodes=episodes, seed=first + k).mean for k in range(runs)]
    return pl.DataFrame(
        {
            "domain": [domain] * runs,
            "algorithm": [algorithm] * runs,
            "run": np.arange(first, first + runs),
            "performance": np.array(means, float),
            "learning": trained.finals.astype(float),
        }
    )
