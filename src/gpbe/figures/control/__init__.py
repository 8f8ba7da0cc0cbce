"""Figures of the control experiments. They read runs tables and nothing else: a figure never starts a run.

Each is a function from `Sweeps` (the runs tables by experiment) to a `Drawing` (figure, table behind it, notes).
Incomplete sweeps are drawn as far as they go, and the figure says what is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpbe.errors import InputError
from gpbe.figures import style
from gpbe.figures.control import (
    bakeoff,
    basis,
    hyperparameters,
    policies,
    runoff,
    runs,
    saddlepoint,
    step_sizes,
    tuned,
    without_lunar_lander,
)
from gpbe.figures.control.panels import Drawing
from gpbe.figures.control.sweeps import EXPERIMENTS, Sweeps

__all__ = ["CONTROL_FIGURES", "EXPERIMENTS", "ControlFigure", "Drawing", "Sweeps", "draw", "make"]


@dataclass(frozen=True)
class ControlFigure:
    """A figure of the paper's section on control, or of its appendix on voting."""

    name: str
    describe: str
    experiments: tuple[str, ...]
    """Those whose runs it shows."""
    draw: Callable[[Sweeps], Drawing]


CONTROL_FIGURES: dict[str, ControlFigure] = {
    figure.name: figure
    for figure in (
        ControlFigure(
            "bakeoff",
            "learning curves in four domains, with the one setting an algorithm that wins a Condorcet vote",
            ("bakeoff",),
            bakeoff.draw,
        ),
        ControlFigure(
            "hyperparameters",
            "how mean return is spread over hyperparameter settings, in each domain",
            ("bakeoff",),
            hyperparameters.draw,
        ),
        ControlFigure(
            "runs",
            "how return is spread over runs in one domain (Lunar Lander if it ran), with the best settings",
            ("bakeoff",),
            runs.draw,
        ),
        ControlFigure(
            "step-sizes",
            "how return is spread over runs for every step size, in each domain",
            ("bakeoff",),
            step_sizes.draw,
        ),
        ControlFigure(
            "saddlepoint",
            "gradient correction against saddlepoint updates: returns of runs in each domain",
            ("bakeoff", "saddlepoint"),
            saddlepoint.draw,
        ),
        ControlFigure(
            "basis",
            "a shared network, a separate one, or gradient features for h: returns of runs in each domain",
            ("bakeoff", "basis"),
            basis.draw,
        ),
        ControlFigure(
            "policies",
            "action values against parameterized policies: mean return over hyperparameter settings",
            ("bakeoff", "policies"),
            policies.draw,
        ),
        ControlFigure(
            "tuned",
            "learning curves in four domains, with the best setting of each domain",
            ("bakeoff",),
            tuned.draw,
        ),
        ControlFigure(
            "without-lunar-lander",
            "learning curves with the setting that wins a Condorcet vote in which Lunar Lander has no say",
            ("bakeoff",),
            without_lunar_lander.draw,
        ),
        ControlFigure(
            "runoff",
            "learning curves with the setting that wins an instant runoff of the domains",
            ("bakeoff",),
            runoff.draw,
        ),
    )
}


def draw(name: str, sweeps: Sweeps) -> Drawing:
    """Draw a figure by its name; a second time, the same drawing."""
    if name in sweeps.drawings:
        return sweeps.drawings[name]
    if name not in CONTROL_FIGURES:
        raise InputError(f"there is no control figure {name!r}; the figures are {', '.join(CONTROL_FIGURES)}")
    needed = CONTROL_FIGURES[name].experiments
    if not set(needed) & set(sweeps.runs):
        raise InputError(f"the figure {name} shows runs of {' and '.join(needed)}; run `gpbe run {needed[-1]}` first")
    sweeps.drawings[name] = CONTROL_FIGURES[name].draw(sweeps)
    return sweeps.drawings[name]


def make(name: str, sweeps: Sweeps, out: Path) -> list[Path]:
    """Draw a figure and write it (PNG and PDF) and its table (Parquet and CSV) into `out`. Returns what was written."""
    drawing = draw(name, sweeps)
    return style.save_with_table(drawing.figure, drawing.table, out / name)
