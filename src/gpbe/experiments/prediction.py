"""Linear prediction on six small problems: one sweep, looked at in three ways.

As in Ghiassian et al. (2020): every algorithm learns from the same data, with step sizes in powers of 2 and, if it has
second weights, several ratios of their step size to the first; TDRC has no ratio to tune, which is its point. Settings
are chosen by the mean of the error over learning, on the runs that are shown. Lambda is 0.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import gpbe
from gpbe import mdp

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

Advance = Callable[[int], None]


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
PLANS = {plan.work: plan for plan in (SMOKE, QUICK, PAPER)}


def plan_for(runs: int) -> Plan:
    """The largest plan that needs no more than so many runs."""
    return PLANS[max((work for work in PLANS if work <= runs), default=min(PLANS))]


class Sweep(NamedTuple):
    settings: pl.DataFrame
    """A row for each setting and metric."""
    curves: pl.DataFrame
    """Of the best setting under each metric."""


_SWEEPS: dict[Plan, Sweep] = {}
"""Three figures look at one sweep; in one process it is made once."""


def sweep(plan: Plan, advance: Advance = lambda runs: None) -> Sweep:
    """Learn everything. `advance` is told how many more runs are done."""
    if plan in _SWEEPS:
        advance(plan.work)
        return _SWEEPS[plan]
    jobs = [(plan, problem, algorithm) for problem in plan.problems for algorithm in plan.algorithms]
    parts = []
    # Threads, since compiling takes most of the time and holds no lock.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, part in zip(jobs, pool.map(lambda job: _learn(*job), jobs), strict=True):
            parts.append(part)
            advance(len(plan.settings(job[2])) * plan.runs)
    settings, curves = zip(*parts, strict=True)
    _SWEEPS[plan] = Sweep(pl.concat(settings), pl.concat(curves))
    return _SWEEPS[plan]


def _learn(plan: Plan, problem: str, algorithm: str) -> Sweep:
    from gpbe.experiments.tables import curves_table, settings_table

    exponents = np.array(plan.settings(algorithm), dtype=float)
    hypers: dict[str, Any] = {"step_size": 2 ** exponents[:, 0]}
    if algorithm in TWO_STEP_SIZES:
        hypers["ratio"] = 2 ** exponents[:, 1]
    with np.errstate(over="ignore"):  # what diverges may square beyond the largest float
        result = gpbe.predict(
            PROBLEMS[problem](),
            algorithm,
            steps=plan.steps,
            runs=plan.runs,
            metrics=METRICS,
            every=EVERY,
            average=True,
            **hypers,
        )
        best = {metric: result.best(metric).index for metric in METRICS}
        curves = pl.concat(curves_table(result, [k]).filter(metric=metric) for metric, k in best.items())
        settings = settings_table(result)
    names = pl.lit(problem).alias("problem"), pl.lit(algorithm).alias("algorithm")
    ratio = [] if algorithm in TWO_STEP_SIZES else [pl.lit(None, pl.Float64).alias("ratio")]
    front = ("problem", "algorithm", "step_size", "ratio")
    settings, curves = (
        table.with_columns(*names, *ratio).select(*front, pl.exclude(*front, "setting")) for table in (settings, curves)
    )
    return Sweep(settings, curves)


def curves(runs: int, advance: Advance = lambda runs: None) -> pl.DataFrame:
    """Learning curves of the chosen settings: mean and standard error over runs of both metrics."""
    return sweep(plan_for(runs), advance).curves


def sensitivity(runs: int, advance: Advance = lambda runs: None) -> pl.DataFrame:
    """The area of each step size, with the best ratio for it."""
    table = sweep(plan_for(runs), advance).settings
    by = ("problem", "algorithm", "metric", "step_size")
    # Infinite areas come last; among them any ratio will do.
    return table.sort("area", maintain_order=True).unique(by, keep="first", maintain_order=True).sort(*by)


def bars(runs: int, advance: Advance = lambda runs: None) -> pl.DataFrame:
    """The area of each algorithm's best setting, over that of TDRC on the same problem."""
    best = sweep(plan_for(runs), advance).settings.filter(choice="best").drop("choice")
    tdrc = best.filter(algorithm="tdrc").select("problem", "metric", tdrc="area")
    return (
        best.join(tdrc, on=("problem", "metric"), maintain_order="left")
        .with_columns(relative=pl.col("area") / pl.col("tdrc"), relative_error=pl.col("area_error") / pl.col("tdrc"))
        .drop("tdrc")
    )
