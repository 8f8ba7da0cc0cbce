"""The stages of the experiment `evidence` as sweeps: each a function of the plan and of what earlier ones stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from gpbe.analysis.performance import performance
from gpbe.experiments.evidence.choices import Cells, chosen, chosen_cells, finalists, raced
from gpbe.experiments.evidence.claims import open_cells
from gpbe.experiments.evidence.design import PLAN, SMOKE, Plan, grid_of, part_of
from gpbe.experiments.evidence.figures import FIGURES
from gpbe.experiments.evidence.gathered import from_stages
from gpbe.experiments.evidence.names import CHOOSING, FINAL, RACE, SCREEN, SECOND, VERDICT
from gpbe.experiments.evidence.sides import side_stages
from gpbe.experiments.evidence.sweeps import CHOOSES, JUDGES, sweep_of
from gpbe.experiments.experiment import Scale, Stage
from gpbe.experiments.sweep import Sweep, Swept
from gpbe.figures import FigureSpec


@dataclass(frozen=True)
class Evidence:
    """The experiment that decides the paper's claims about control, in stages (docs/evidence.md)."""

    name: str = "evidence"
    describe: str = "the paper's claims about control: settings screened, raced, and judged on fresh runs"
    section: str = "9"
    figures: tuple[FigureSpec, ...] = FIGURES

    def stages(self, scale: Scale) -> tuple[Stage, ...]:
        """What is run, in this order; the smoke scale tries it in seconds, the others are the design itself."""
        plan = SMOKE if scale == "smoke" else PLAN
        return (
            Stage(SCREEN, (), lambda tables: screen(plan)),
            Stage(RACE, (SCREEN,), _after(plan, race)),
            Stage(FINAL, (SCREEN, RACE), _after(plan, final)),
            Stage(VERDICT, CHOOSING, _after(plan, verdict)),
            Stage(SECOND, (*CHOOSING, VERDICT), lambda tables: second(tables, plan)),
            *side_stages(plan),
        )


def screen(plan: Plan) -> Sweep:
    """Every setting of the small grids and a random part of the large ones, in every domain.

    >>> sweep = screen(PLAN)
    >>> sweep.work // sweep.steps
    3272
    """
    swept = tuple(Swept(name, grid_of(name), only=part_of(name).settings) for name in plan.algorithms)
    return sweep_of(SCREEN, "every part of every grid, in every domain", plan, swept, plan.screen, 0, CHOOSES)


def race(performances: pl.DataFrame, plan: Plan) -> Sweep:
    """The best settings so far and their neighbors, with more runs."""
    swept = _swept(raced(performances, plan))
    return sweep_of(RACE, "the best settings and their neighbors", plan, swept, plan.race, plan.screen, CHOOSES)


def final(performances: pl.DataFrame, plan: Plan) -> Sweep:
    """The best of these, with more runs still."""
    swept = _swept(finalists(performances, plan))
    first = plan.screen + plan.race
    return sweep_of(FINAL, "the best settings of the race", plan, swept, plan.final, first, CHOOSES)


def verdict(performances: pl.DataFrame, plan: Plan) -> Sweep:
    """The chosen settings alone, with runs that nothing was chosen by."""
    cells = chosen_cells(chosen(performances, plan))
    swept = tuple(
        Swept(name, grid_of(name), domains=(domain,), only=settings, runs=plan.runs_of(domain))
        for (name, domain), settings in cells.items()
    )
    return sweep_of(VERDICT, "the chosen settings, on fresh runs", plan, swept, 1, 0, JUDGES)


def second(tables: Sequence[pl.LazyFrame], plan: Plan) -> Sweep | None:
    """The second verdict: as many runs again of settings that an undecided claim is about; None if there is none."""
    gathered = from_stages(dict(zip((*CHOOSING, VERDICT), tables, strict=True)), {}, plan)
    cells: dict[tuple[str, str], tuple[int, ...]] = {}
    for algorithm, domain, setting in sorted(open_cells(gathered)):
        cells[algorithm, domain] = (*cells.get((algorithm, domain), ()), setting)
    swept = tuple(
        Swept(name, grid_of(name), (), (domain,), settings, plan.runs_of(domain), plan.runs_of(domain))
        for (name, domain), settings in cells.items()
    )
    return sweep_of(SECOND, "the settings of undecided claims, again", plan, swept, 1, 0, JUDGES) if swept else None


def _swept(cells: Cells) -> tuple[Swept, ...]:
    return tuple(Swept(name, grid_of(name), domains=(domain,), only=s) for (name, domain), s in cells.items())


def _after(plan: Plan, build: Callable[[pl.DataFrame, Plan], Sweep]) -> Callable[[Sequence[pl.LazyFrame]], Sweep]:
    """A stage that is built from the performances of all runs of the stages before it."""
    return lambda tables: build(performance(pl.concat(tables, how="diagonal_relaxed")), plan)
