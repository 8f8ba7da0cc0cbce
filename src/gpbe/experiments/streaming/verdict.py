"""Fresh runs that judge learning by streams on MinAtar: the settings that the sweep `streaming` chose (docs/traces.md).

The step size of each algorithm in each game is the best at lambda 0.8 in the sweep; QRC(lambda) is also run with the
step size that is best without traces. Around these, in half as many runs, Q(lambda) and QRC(lambda) have the other step
sizes, and the other lambdas at the chosen step size. All of these runs are fresh, with a seed that chose nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from gpbe.analysis.curves import curves
from gpbe.analysis.performance import performance
from gpbe.analysis.sensitivity import sensitivity
from gpbe.analysis.stored import Stored
from gpbe.analysis.tables import Table
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
RUNS: Mapping[Scale, tuple[int, int]] = {"smoke": (2, 2), "paper": (8, 4)}
"""Runs of a chosen setting, and of one around it. What is lost over three settings is 2/3 of the chosen one less 1/3 of
each other: for a given number of runs it is known best if these have half as many."""
SCALE = {
    "Asterix-MinAtar": 3.0,
    "Breakout-MinAtar": 8.0,
    "Freeway-MinAtar": 20.0,
    "SpaceInvaders-MinAtar": 20.0,
}
"""The return that is a score of 1 in each game, of the order of what such runs reach: games weigh about alike in means
over them. Seaquest is left out: a step of it takes as long as two or three of the others (docs/traces.md)."""
GAMES = tuple(SCALE)


@dataclass(frozen=True)
class Verdict:
    """The experiment whose runs judge; it follows from the sweep, and from nothing else."""

    sweep: DeclaredSweep
    name: str = NAME
    describe: str = "traces without replay on MinAtar: the settings that the sweep chose, on fresh runs"
    section: str = ""

    @property
    def figures(self) -> tuple[FigureSpec, ...]:
        """Learning curves of the fresh runs, and what they say of sensitivity."""
        about = {
            "": "learning curves on MinAtar of methods with traces and without replay: fresh runs of chosen step sizes",
            "-step-sizes": "how return on MinAtar depends on the step size with lambda 0.8, in fresh runs",
            "-lambdas": "how return on MinAtar depends on lambda with the chosen step sizes, in fresh runs",
        }
        tables = (verdict_curves, by_step_size, by_lambda)
        return tuple(
            FigureSpec(
                NAME + end,
                text,
                (NAME,),
                f"{__package__}.drawing:draw_verdict{end.replace('-', '_')}",
                table,
                group="Control",
            )
            for (end, text), table in zip(about.items(), tables, strict=True)
        )

    def stages(self, scale: Scale) -> tuple[Stage, ...]:
        """One, after the sweep: a small one to try it with, or the design itself."""
        size: Scale = "smoke" if scale == "smoke" else "paper"
        return (Stage(NAME, (self.sweep.name,), lambda tables: fresh(self.sweep, tables[0], size)),)


def fresh(declared: DeclaredSweep, screened: Table, scale: Scale) -> Sweep:
    """The chosen settings in each game, and those around them."""
    sweep, swept = declared.at(scale), []
    performances = performance(screened)
    for domain, each in sweep.parts():
        if domain in GAMES:
            for only, runs in zip(chosen(performances, each, domain), RUNS[scale], strict=True):
                if only:
                    swept.append(Swept(each.algorithm, each.grid, domains=(domain,), only=only, runs=runs))
    games = tuple(name for name in sweep.domains if name in GAMES)
    about = {"every": sweep.every, "seed": SEED, "describe": Verdict.describe, "options": sweep.options}
    return Sweep(NAME, games, tuple(swept), RUNS[scale][0], sweep.steps, **about)


def chosen(performances: pl.DataFrame, swept: Swept, domain: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The settings of an algorithm that were chosen in a game, and those around them that sensitivity needs."""
    mine = performances.filter(algorithm=swept.algorithm, domain=domain)
    means = mine.group_by("setting", "step_size", "lam").agg(pl.col("performance").mean()).sort("setting")
    best = _best(means.filter(with_lam(LAM)))
    judged, without = {best["setting"]}, means.filter(with_lam(0.0))
    if swept.algorithm in WITHOUT_TRACES and without.height:
        judged.add(_best(without)["setting"])
    whole = Swept(swept.algorithm, swept.grid).numbered().items()
    around = {k for k, x in whole if x["lam"] == LAM or x["step_size"] == best["step_size"]} - judged
    return tuple(sorted(judged)), tuple(sorted(around)) if swept.algorithm in SENSITIVE else ()


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


def by_step_size(stored: Stored) -> pl.DataFrame:
    """A row for each step size of the algorithms whose sensitivity is judged, with lambda 0.8."""
    return sensitivity(_sensitive(stored).filter(with_lam(LAM)), "step_size")


def by_lambda(stored: Stored) -> pl.DataFrame:
    """A row for each lambda, with the step size that was chosen for lambda 0.8."""
    parts = _sensitive(stored).group_by("algorithm", "domain", maintain_order=True)
    return sensitivity(pl.concat([rows.filter(step_size=chosen_step_size(rows)) for _, rows in parts]), "lam")


def _sensitive(stored: Stored) -> pl.DataFrame:
    runs = performance(stored.stages[NAME], worst=dict.fromkeys(SCALE, 0.0))
    return runs.filter(pl.col("algorithm").is_in(SENSITIVE))
