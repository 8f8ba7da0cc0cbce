"""Linear prediction on six small problems: one sweep, looked at in three ways.

As in Ghiassian et al. (2020): every algorithm learns from the same data, with step sizes in powers of 2 and, if it has
second weights, several ratios of their step size to the first; TDRC has no ratio to tune, which is its point. Settings
are chosen by the mean of the error over learning, on the runs that are shown. Lambda is 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import gpbe
from gpbe import mdp
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece

PROBLEMS: dict[str, Callable[[], mdp.PredictionProblem]] = {
    "tabular": lambda: mdp.problem("random-walk-5", representation="tabular"),
    "inverted": lambda: mdp.problem("random-walk-5", representation="inverted"),
    "dependent": lambda: mdp.problem("random-walk-5", representation="dependent"),
    "boyan": mdp.boyan,
    "baird": mdp.baird,
    "collision": mdp.collision,
}
ALGORITHMS = ("td", "v-trace", "etd", "tdc", "gtd2", "htd", "tdrc")
TWO_STEP_SIZES = ("tdc", "gtd2", "htd")
METRICS = ("rmspbe", "rmsve")
EVERY = 10
CURVE = ["step", "mean", "standard_error"]


@dataclass(frozen=True)
class Plan:
    """How much to learn; exponents are of 2."""

    steps: int
    runs: int
    step_sizes: tuple[int, ...]
    ratios: tuple[int, ...]
    algorithms: tuple[str, ...] = ALGORITHMS
    problems: tuple[str, ...] = tuple(PROBLEMS)

    def settings(self, algorithm: str) -> list[tuple[int, int]]:
        """Exponents of step size and ratio."""
        ratios = self.ratios if algorithm in TWO_STEP_SIZES else (0,)
        return [(a, r) for a in self.step_sizes for r in ratios]

    @property
    def work(self) -> int:
        """Runs of all settings of all algorithms on all problems."""
        return len(self.problems) * sum(len(self.settings(a)) * self.runs for a in self.algorithms)


SMOKE = Plan(500, 3, (-9, -7, -5, -3), (0,), ("td", "tdc", "tdrc"), ("tabular", "inverted", "boyan", "baird"))
QUICK = Plan(3000, 30, tuple(range(-12, 1)), (-4, 0, 4))
PAPER = Plan(3000, 200, tuple(range(-14, 2)), tuple(range(-6, 7)))
PLANS: dict[Scale, Plan] = {"smoke": SMOKE, "quick": QUICK, "paper": PAPER}


def pieces(scale: Scale) -> list[Piece]:
    """An algorithm on a problem each."""
    return pieces_of(PLANS[scale])


def pieces_of(plan: Plan) -> list[Piece]:
    """Any plan."""
    return [
        Piece(
            f"{__name__}:learn",
            (problem, algorithm, [list(s) for s in plan.settings(algorithm)], plan.runs, plan.steps),
            len(plan.settings(algorithm)) * plan.runs,
        )
        for problem in plan.problems
        for algorithm in plan.algorithms
    ]


def learn(problem: str, algorithm: str, settings: list[list[int]], runs: int, steps: int) -> pl.DataFrame:
    """A row for each setting (exponents of step size and ratio) and metric; the best one also has its curve."""
    from gpbe.learn.tables import curves_table, settings_table

    exponents = np.array(settings, dtype=float)
    hypers: dict[str, Any] = {"step_size": 2 ** exponents[:, 0]}
    if algorithm in TWO_STEP_SIZES:
        hypers["ratio"] = 2 ** exponents[:, 1]
    with np.errstate(over="ignore"):  # what diverges may square beyond the largest float
        result = gpbe.predict(
            PROBLEMS[problem](),
            algorithm,
            steps=steps,
            runs=runs,
            metrics=METRICS,
            every=EVERY,
            average=True,
            **hypers,
        )
        best = {metric: result.best(metric).index for metric in METRICS}
        curves = pl.concat(curves_table(result, [k]).filter(metric=metric) for metric, k in best.items())
        table = settings_table(result)
    nested = curves.group_by("setting", "metric", maintain_order=True).agg(CURVE)
    ratio = pl.col("ratio") if algorithm in TWO_STEP_SIZES else pl.lit(None, pl.Float64).alias("ratio")
    front = ("problem", "algorithm", "step_size", "ratio")
    return (
        table.join(nested, on=("setting", "metric"), how="left", maintain_order="left")
        .with_columns(pl.lit(problem).alias("problem"), pl.lit(algorithm).alias("algorithm"), ratio)
        .select(*front, pl.exclude(*front, "setting"))
    )


def curves(rows: pl.DataFrame) -> pl.DataFrame:
    """Learning curves of the chosen settings: mean and standard error over runs of both metrics."""
    chosen = rows.filter(pl.col("mean").is_not_null())
    return chosen.select("problem", "algorithm", "step_size", "ratio", "metric", *CURVE).explode(CURVE)


def sensitivity(rows: pl.DataFrame) -> pl.DataFrame:
    """The area of each step size, with the best ratio for it."""
    by = ("problem", "algorithm", "metric", "step_size")
    # Infinite areas come last; among them any ratio will do.
    table = rows.drop(CURVE).sort("area", maintain_order=True)
    return table.unique(by, keep="first", maintain_order=True).sort(*by)


def bars(rows: pl.DataFrame) -> pl.DataFrame:
    """The area of each algorithm's best setting, over that of TDRC on the same problem."""
    best = rows.filter(choice="best").drop("choice", *CURVE)
    tdrc = best.filter(algorithm="tdrc").select("problem", "metric", tdrc="area")
    return (
        best.join(tdrc, on=("problem", "metric"), maintain_order="left")
        .with_columns(relative=pl.col("area") / pl.col("tdrc"), relative_error=pl.col("area_error") / pl.col("tdrc"))
        .drop("tdrc")
    )
