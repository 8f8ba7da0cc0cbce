"""Fresh runs that judge learning by streams on MinAtar: the settings that the sweep `streaming` chose (docs/traces.md).

The step size of each algorithm in each game is the best at lambda 0.8 in the sweep. Q(lambda) and QRC(lambda) are also
run with the other step sizes, and with the other lambdas at that step size; QRC(lambda) also with the step size that is
best without traces. All of these runs are fresh, with a seed that chose nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from gpbe.analysis.curves import curves
from gpbe.analysis.performance import performance
from gpbe.analysis.stored import Stored
from gpbe.analysis.tables import Table
from gpbe.envs.domains import MINATAR
from gpbe.experiments.control.design import DeclaredSweep
from gpbe.experiments.experiment import Scale, Stage
from gpbe.experiments.sweep import Sweep, Swept
from gpbe.figures import FigureSpec

NAME = "streaming-verdict"
LAM = 0.8
"""The lambda of both papers on streams."""
SENSITIVE = ("q-lambda", "qrc-lambda")
"""Algorithms whose sensitivity is judged."""
WITHOUT_TRACES = ("qrc-lambda",)
"""Algorithms that are judged with lambda 0 too, at its own best step size."""
SEED = 1
RUNS: Mapping[Scale, int] = {"smoke": 2, "paper": 12}
SCALE = {
    "Asterix-MinAtar": 3.0,
    "Breakout-MinAtar": 8.0,
    "Freeway-MinAtar": 20.0,
    "Seaquest-MinAtar": 2.0,
    "SpaceInvaders-MinAtar": 20.0,
}
"""The return that is a score of 1 in each game, of the order of what runs of this length reach: games weigh about alike
in means over them."""


@dataclass(frozen=True)
class Verdict:
    """The experiment whose runs judge; it follows from the sweep, and from nothing else."""

    sweep: DeclaredSweep
    name: str = NAME
    describe: str = "traces without replay on MinAtar: the settings that the sweep chose, on fresh runs"
    section: str = ""

    @property
    def figures(self) -> tuple[FigureSpec, ...]:
        """Learning curves of the fresh runs."""
        draws = f"{__package__}.drawing:draw_verdict"
        about = "learning curves on MinAtar of methods with traces and without replay: fresh runs of chosen step sizes"
        return (FigureSpec(NAME, about, (NAME,), draws, verdict_curves, group="Control"),)

    def stages(self, scale: Scale) -> tuple[Stage, ...]:
        """One, after the sweep: a small one to try it with, or the design itself."""
        size: Scale = "smoke" if scale == "smoke" else "paper"
        return (Stage(NAME, (self.sweep.name,), lambda tables: fresh(self.sweep, tables[0], size)),)


def fresh(declared: DeclaredSweep, screened: Table, scale: Scale) -> Sweep:
    """The chosen settings in each game."""
    sweep = declared.at(scale)
    performances = performance(screened)
    swept = tuple(
        Swept(each.algorithm, each.grid, domains=(domain,), only=chosen(performances, each.algorithm, domain))
        for domain, each in sweep.parts()
        if domain in MINATAR
    )
    games = tuple(name for name in sweep.domains if name in MINATAR)
    about = {"every": sweep.every, "seed": SEED, "describe": Verdict.describe, "options": sweep.options}
    return Sweep(NAME, games, swept, RUNS[scale], sweep.steps, **about)


def chosen(performances: pl.DataFrame, algorithm: str, domain: str) -> tuple[int, ...]:
    """The settings of an algorithm that are judged in a game."""
    key = ("setting", "step_size", "lam")
    mine = performances.filter(algorithm=algorithm, domain=domain)
    means = mine.group_by(*key).agg(pl.col("performance").mean()).sort("setting")
    best = _best(means.filter(with_lam(LAM)))
    settings = {best["setting"]}
    if algorithm in SENSITIVE:
        settings |= set(means.filter(with_lam(LAM) | (pl.col("step_size") == best["step_size"]))["setting"])
    without = means.filter(with_lam(0.0))
    if algorithm in WITHOUT_TRACES and without.height:
        settings.add(_best(without)["setting"])
    return tuple(sorted(settings))


def _best(means: pl.DataFrame) -> dict[str, Any]:
    """The first of the best settings."""
    return means.row(int(means["performance"].to_numpy().argmax()), named=True)


def with_lam(lam: float) -> pl.Expr:
    """Whether a row has this lambda."""
    return (pl.col("lam") - lam).abs() < 1e-6


def scored(runs: Table) -> pl.DataFrame:
    """A row for each run on MinAtar with its score: its return over that of `SCALE`, and 0 if no episode ended."""
    games = performance(runs, worst=dict.fromkeys(SCALE, 0.0)).filter(pl.col("domain").is_in(list(SCALE)))
    scale = pl.col("domain").replace_strict(SCALE, return_dtype=pl.Float64)
    return games.with_columns(score=pl.col("performance") / scale).drop("performance")


def chosen_step_size(rows: pl.DataFrame) -> float:
    """The step size that was chosen for an algorithm in a game: the one that ran with the largest lambda."""
    return rows.filter(pl.col("lam") == pl.col("lam").max())["step_size"][0]


def verdict_curves(stored: Stored) -> pl.DataFrame:
    """Learning curves of the fresh runs with the chosen step sizes and lambda 0.8."""
    runs, key = stored.stages[NAME].lazy(), ("algorithm", "domain", "setting")
    settings = runs.select(*key, "step_size", "lam").unique().collect()
    picks = [
        rows.filter(with_lam(LAM), step_size=chosen_step_size(rows)).select(key)
        for _, rows in settings.group_by("algorithm", "domain", maintain_order=True)
    ]
    return curves(runs, pl.concat(picks), worst=dict.fromkeys(SCALE, 0.0))
