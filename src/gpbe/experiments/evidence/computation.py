"""The tables of the evidence's figures, from stored stages."""

import numpy as np
import polars as pl

from gpbe.analysis import inference
from gpbe.analysis.curves import curves
from gpbe.analysis.findings import Cell
from gpbe.analysis.performance import performance
from gpbe.analysis.settings import setting_means
from gpbe.analysis.stored import Stored
from gpbe.envs.domains import DOMAINS, PAPER
from gpbe.errors import InputError
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.design import ABLATIONS, BENCHMARK
from gpbe.experiments.evidence.gathered import Gathered, from_stages
from gpbe.shapes import Array

WORST = {name: domain.bounds[0] for name, domain in DOMAINS.items()}
THRESHOLDS = np.linspace(-0.2, 1.2, 57)


def curves_of(stored: Stored, choice: str) -> pl.DataFrame:
    """Learning curves of the fresh runs of the benchmark's algorithms, chosen in some way."""
    picks = _picks(stored, choice)
    return curves(_fresh(stored), picks, worst=WORST)


def tuned_runs(stored: Stored) -> pl.DataFrame:
    """A row for each fresh run of the tuned settings."""
    picks = _picks(stored, "tuned")
    runs = performance(_fresh(stored), worst=WORST)
    return runs.join(picks, on=["algorithm", "domain", "setting"], how="semi")


def screened_settings(stored: Stored) -> pl.DataFrame:
    """A row for each screened setting with its mean return over all steps, best first."""
    means = setting_means(performance(stored.stages[names.SCREEN], 1.0, WORST))
    return means.sort("domain", "algorithm", "mean", descending=[False, False, True])


def profiles(stored: Stored) -> pl.DataFrame:
    """Performance profiles of the benchmark's algorithms, with the interquartile mean.

    Columns: choice, algorithm, part (of the way), share (of runs above it, mean over domains), low, high, iqm, iqm_low,
    iqm_high.
    """
    data, frames = _gathered(stored), []
    for choice in ("voted", "tuned"):
        for algorithm in BENCHMARK:
            scores = [data.judged(Cell(algorithm, d, data.setting(choice, algorithm, d))) for d in PAPER]
            profile, middle = inference.performance_profile(scores, THRESHOLDS), inference.iqm(scores)
            columns = {"share": profile.estimate, "low": profile.low, "high": profile.high, "part": THRESHOLDS}
            frames.append(
                pl.DataFrame(columns).with_columns(
                    pl.lit(choice).alias("choice"),
                    pl.lit(algorithm).alias("algorithm"),
                    iqm=pl.lit(float(middle.estimate)),
                    iqm_low=pl.lit(float(middle.low)),
                    iqm_high=pl.lit(float(middle.high)),
                )
            )
    return pl.concat(frames)


def sensitivities(stored: Stored) -> pl.DataFrame:
    """What one setting for all domains costs each algorithm, in parts of the way.

    Columns: algorithm, settings, tuned, single, loss (chosen and judged on the same screened runs, which flatters), and
    for algorithms whose finalists ran in every domain fair_loss, low, high: cross-fitted over all runs that chose.
    """
    data, rows = _gathered(stored), []
    for algorithm in (*BENCHMARK, *ABLATIONS):
        late = [data.late(algorithm, domain) for domain in PAPER]
        means = np.array([[late[d][k].mean() for d in range(len(PAPER))] for k in late[0]])
        tuned, single = float(means.max(0).mean()), float(means.mean(1).max())
        row = {"algorithm": algorithm, "settings": len(means), "tuned": tuned, "single": single, "loss": tuned - single}
        rows.append(row | _fair(_finalists(data, algorithm)))
    kinds = {name: pl.Float64 for name in ("fair_loss", "low", "high")}
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def _fair(scores: Array | None) -> dict[str, float | None]:
    if scores is None:
        return {"fair_loss": None, "low": None, "high": None}
    loss = inference.sensitivity(scores).loss
    return {"fair_loss": float(loss.estimate), "low": float(loss.low), "high": float(loss.high)}


def _finalists(data: Gathered, algorithm: str) -> Array | None:
    """The runs of settings that were in the final in every domain, (settings, domains, runs)."""
    mine = {cell: runs for cell, runs in data.choosing.items() if cell.algorithm == algorithm}
    most = max(map(len, mine.values()))
    if most < 4:
        return None
    there = {cell.setting for cell, runs in mine.items() if len(runs) == most}
    kept = [s for s in sorted(there) if all(len(mine.get(Cell(algorithm, d, s), ())) == most for d in PAPER)]
    return np.array([[mine[Cell(algorithm, d, s)] for d in PAPER] for s in kept]) if len(kept) > 1 else None


def _gathered(stored: Stored) -> Gathered:
    return from_stages(stored.stages, stored.lacking, look=2 if names.SECOND in stored.stages else 1)


def _fresh(stored: Stored) -> pl.LazyFrame:
    tables = [stored.stages[name].lazy() for name in (names.VERDICT, names.SECOND) if name in stored.stages]
    if not tables:
        raise InputError(f"{names.VERDICT} is missing; first: gpbe run evidence")
    return pl.concat(tables, how="diagonal_relaxed")


def _picks(stored: Stored, choice: str) -> pl.DataFrame:
    """The chosen settings of the benchmark's algorithms."""
    data = from_stages(stored.stages, stored.lacking)
    rows = [(a, d, data.setting(choice, a, d)) for a in BENCHMARK for d in PAPER]
    return pl.DataFrame(rows, schema=["algorithm", "domain", "setting"], orient="row")
