"""The tables of the evidence's figures, from stored stages."""

from itertools import product

import numpy as np
import polars as pl
from jaxtyping import Float

from gpbe.analysis import inference
from gpbe.analysis.curves import curves
from gpbe.analysis.findings import Cell
from gpbe.analysis.performance import performance
from gpbe.analysis.settings import setting_means
from gpbe.analysis.stored import Stored
from gpbe.envs.domains import DOMAINS, PAPER
from gpbe.errors import InputError
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.design import ABLATIONS, BENCHMARK
from gpbe.experiments.evidence.gathered import Gathered, from_stages
from gpbe.experiments.evidence.levels import bounds_of
from gpbe.experiments.evidence.sources import looks_of
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


def gaps(stored: Stored) -> pl.DataFrame:
    """How far QRC is ahead of each other algorithm of the benchmark, in parts of the way, by the last complete look.

    Columns: choice, domain, algorithm (the other), gap, low, high (limits at level 95 %), runs (of each setting).
    """
    looks = looks_of(stored)
    if not looks or not looks[-1].fresh:
        raise InputError(f"{names.VERDICT} is missing; first: gpbe run evidence")
    case, rows = Case(looks[-1]), []
    for choice, domain, other in product(("voted", "tuned"), PAPER, BENCHMARK):
        if other != "qrc":
            fact = case.better(choice, domain, "qrc", other)
            ends = (float(x) for x in (fact.interval.estimate, fact.interval.low, fact.interval.high))
            rows.append((choice, domain, other, *ends, min(basis.runs for basis in fact.basis)))
    return pl.DataFrame(rows, schema=["choice", "domain", "algorithm", "gap", "low", "high", "runs"], orient="row")


def sensitivities(stored: Stored) -> pl.DataFrame:
    """What one setting for all domains costs each algorithm, in parts of the way.

    Columns: algorithm, settings, tuned, single, loss (chosen and judged on the same screened runs, which flatters),
    fair_loss (the same with one of two screened runs choosing and the other judging), and, once there are fresh runs,
    of the benchmark's algorithms fresh_loss, low, high: the tuned settings over the voted one.
    """
    data, rows = _gathered(stored), []
    for algorithm in (*BENCHMARK, *ABLATIONS):
        late = [data.late(algorithm, domain) for domain in PAPER]
        screened = np.array([[runs[k][:2] for runs in late] for k in late[0]])
        tuned, single = _best(screened.mean(-1))
        fair = inference.sensitivity(screened).loss.estimate
        row = {"algorithm": algorithm, "settings": len(screened), "tuned": tuned, "single": single}
        rows.append(row | {"loss": tuned - single, "fair_loss": float(fair)} | _fresh_loss(data, algorithm))
    kinds = {name: pl.Float64 for name in ("fresh_loss", "low", "high")}
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def _best(means: Float[Array, "settings domains"]) -> tuple[float, float]:
    """The mean over domains of the best setting of each, and of the best for all."""
    return float(means.max(0).mean()), float(means.mean(1).max())


def _fresh_loss(data: Gathered, algorithm: str) -> dict[str, float | None]:
    columns = ("fresh_loss", "low", "high")
    if algorithm not in BENCHMARK or not data.fresh:
        return dict.fromkeys(columns)
    pairs = [[Cell(algorithm, d, data.setting(choice, algorithm, d)) for d in PAPER] for choice in ("tuned", "voted")]
    differ = [(one, other) for one, other in zip(*pairs, strict=True) if one != other]
    if not differ:
        return dict.fromkeys(columns, 0.0)
    cells = [cell for pair in differ for cell in pair]
    loss = inference.contrast(
        [data.judged(cell) for cell in cells],
        np.tile([1.0, -1.0], len(differ)) / len(PAPER),
        [bounds_of(cell.domain) for cell in cells],
    ).interval()
    return dict(zip(columns, map(float, (loss.estimate, loss.low, loss.high)), strict=True))


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
