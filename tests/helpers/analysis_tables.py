"""Tables that the tests of analysis are made of."""

import numpy as np
import polars as pl

from gpbe import analysis

STEP_SIZES, TAUS = (0.125, 0.25, 0.5), (0.0, 1.0)


def runs_table(returns: dict[tuple[str, str, int], np.ndarray], every: int = 500) -> pl.DataFrame:
    """A runs table from (runs, points) returns by (domain, algorithm, setting): tau varies fastest."""
    rows = [
        {
            "domain": domain,
            "algorithm": algorithm,
            "setting": setting,
            "step_size": STEP_SIZES[setting // 2 % 3],
            "tau": TAUS[setting % 2] if algorithm != "sbeed" else None,
            "run": run,
            "every": every,
            "returns": curve.tolist(),
            "diverged_at": -1,
        }
        for (domain, algorithm, setting), curves in returns.items()
        for run, curve in enumerate(np.asarray(curves, float))
    ]
    kinds = {"returns": pl.List(pl.Float32), "tau": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def performances_table(values: dict[tuple[str, str, int], list[float]]) -> pl.DataFrame:
    """A table of performances from what each run of each (domain, algorithm, setting) achieved."""
    return analysis.performance(runs_table({key: np.asarray(v)[:, None] for key, v in values.items()}), last=1)


def random_sweep(seed: int = 0, runs: int = 5, points: int = 12) -> pl.DataFrame:
    """Two algorithms with six settings each in three domains."""
    rng = np.random.default_rng(seed)
    keys = [(d, a, s) for d in ("acrobot", "hill", "pole") for a in ("qrc", "sbeed") for s in range(6)]
    return runs_table({key: rng.normal(rng.normal(scale=3), 1, (runs, points)) for key in keys})


SWEEP = random_sweep()
PERFORMANCES = analysis.performance(SWEEP)
