"""Collecting a report: figures drawn from stored results, verdicts, versions, machine and cost."""

import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from gpbe import figures, store
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError
from gpbe.experiments import FIGURES, own
from gpbe.experiments.control.design import SIZES
from gpbe.experiments.evidence.levels import SOLVED_AT
from gpbe.experiments.evidence.sources import has_evidence, looks_of, sweeps_in
from gpbe.report.claims import CLAIMS, ControlClaim, judge
from gpbe.report.model import STEPS, Cost, Dependence, Provenance, Report, ReportFigure

DPI = 150
RUNS, STEPS_A_RUN = (SIZES["paper"][key] for key in ("runs", "steps"))


class Drawn(NamedTuple):
    """A figure that was drawn."""

    spec: figures.FigureSpec
    drawing: figures.Drawing
    seconds: float
    files: tuple[Path, ...] = ()
    """What was written of it."""

    @property
    def name(self) -> str:
        """The figure's."""
        return self.spec.name


def draw_all(
    stored: Stored, specs: Iterable[figures.FigureSpec] = tuple(FIGURES.values()), out: Path | None = None
) -> tuple[list[Drawn], dict[str, str]]:
    """Draw what stored results allow, into the folder `out` if given; and why the rest cannot be drawn."""
    drawn, skipped = [], {}
    for spec in specs:
        started = time.perf_counter()
        try:
            drawing = figures.draw(spec, stored)
            files = tuple(figures.write(drawing, spec.name, out)) if out else ()
        except InputError as error:
            skipped[spec.name] = str(error)
            continue
        drawn.append(Drawn(spec, drawing, time.perf_counter() - started, files))
    return drawn, skipped


def gather(
    stored: Stored,
    out: Path | None = None,
    folders: Mapping[str, Path] | None = None,
    commands: Sequence[str] = (),
    made: str = "",
    mine: Stored | None = None,
) -> Report:
    """A report on stored results: all figures that they allow, written into `out` if given, and every claim.

    `folders` says by experiment where its results are, for what they cost; `commands` made them. With results that are
    `mine`, verdicts on these stand beside the others, and figures show them where `stored` has nothing to show.
    """
    there = bool(stored.tables or stored.stages)
    drawn, skipped = draw_all(stored if mine is None else _together(stored, mine), out=out) if there else ([], {})
    return Report(
        scale=stored.scale or "",
        figures=tuple(map(_shown, drawn)),
        claims=judge(stored, mine) if there else (),
        solved=by_solved(stored) if stored.stages else (),
        caveat=shorter(stored),
        provenance=Provenance(tuple(commands), store.versions(), machine(), costs(folders or {}), made),
        skipped=skipped,
    )


def gather_own(name: str, place: Path, out: Path, commands: Sequence[str] = (), made: str = "") -> Report:
    """A report on a sweep of one's own, whose results are in `place`: all figures, written into `out`, and tables."""
    stored, spec = own.open_own(name, place), store.spec(place)
    drawn, skipped = draw_all(stored, own.figures_of(name, spec).values(), out)
    return Report(
        title=name,
        figures=tuple(map(_shown, drawn)),
        tables=own.tables_of(stored, spec),
        caveat=stored.lacking.get(name, ""),
        provenance=Provenance(tuple(commands), store.versions(), machine(), costs({name: place}), made),
        skipped=skipped,
    )


def _together(stored: Stored, own: Stored) -> Stored:
    """One's own results, and of what is not among them the stored."""
    lacking = {name: why for name, why in stored.lacking.items() if name not in own.tables}
    return replace(
        stored,
        tables={**stored.tables, **own.tables},
        lacking={**lacking, **{name: why for name, why in own.lacking.items() if name in own.tables}},
        amounts={**stored.amounts, **own.amounts},
        stages={**stored.stages, **own.stages},
    )


def by_solved(stored: Stored) -> tuple[Dependence, ...]:
    """The claims that depend on the number for "solved", with the verdict at each number."""
    looks = looks_of(stored)
    return tuple(
        Dependence(claim.text, {part: claim.judge(looks, part).verdict for part in SOLVED_AT})
        for claim in CLAIMS
        if isinstance(claim, ControlClaim) and claim.on_solved and looks
    )


def shorter(stored: Stored) -> str:
    """What to bear in mind of runs of control that are shorter or fewer than the paper's."""
    sweeps = sweeps_in(stored)
    if has_evidence(stored) or not sweeps.runs:
        return ""
    rows = sweeps.survey.select("fewest", steps=pl.col("every") * pl.col("points")).rows()
    runs, steps = (min(column) for column in zip(*rows, strict=True))
    if steps >= STEPS_A_RUN and runs >= RUNS:
        return ""
    return (
        f"The claims about control are about {RUNS} runs of {STEPS_A_RUN:,} steps; the verdicts here are about "
        f"{runs:,} run{'s' if runs > 1 else ''} of {steps:,}."
    )


def _shown(drawn: Drawn) -> ReportFigure:
    from gpbe.figures import style

    spec, drawing = drawn.spec, drawn.drawing
    source = next((str(path) for path in drawn.files if path.suffix == ".parquet"), "")
    image = style.rendered(drawing.figure, "png", DPI)
    return ReportFigure(drawn.name, spec.describe, image, drawing.table, drawing.notes, source, spec.group)


def costs(folders: Mapping[str, Path]) -> tuple[Cost, ...]:
    """What the sweeps in some folders took."""
    found = []
    for name, folder in folders.items():
        s = store.status(folder)
        unit = store.spec(folder).get("unit", STEPS)
        found.append(Cost(name, s.done, s.total, s.failed, s.diverged, s.steps_done, s.steps_total, s.seconds, unit))
    return tuple(found)


def machine() -> dict[str, str]:
    """The machine that this runs on: system, processor, cores, memory."""
    found = {"system": f"{platform.system()} {platform.release()}", "processor": _processor()}
    found["cores"] = str(os.cpu_count() or "unknown")
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        found["memory"] = f"{size / 2**30:.0f} GiB"
    except (AttributeError, OSError, ValueError):  # not every system tells
        found["memory"] = "unknown"
    return found


def _processor() -> str:
    cpu = Path("/proc/cpuinfo")
    if cpu.is_file():
        for line in cpu.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
