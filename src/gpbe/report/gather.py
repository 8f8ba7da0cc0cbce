"""Collecting a report: figures drawn from sweeps, figures found in a folder, verdicts, versions, machine and cost."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from gpbe import store
from gpbe.errors import InputError
from gpbe.figures import FIGURES, style
from gpbe.figures.control import CONTROL_FIGURES, Sweeps
from gpbe.figures.control import draw as draw_control
from gpbe.report.claims import judge
from gpbe.report.model import STEPS, Cost, Provenance, Report, ReportFigure

CONTROL, STORED = "Control", "Fixed points and prediction"
DPI = 150
RUNS, STEPS_A_RUN = 100, 100_000
"""The paper's."""


def gather(
    sweeps: Sweeps | None,
    out: Path | None = None,
    folders: Mapping[str, Path] | None = None,
    commands: Sequence[str] = (),
    made: str = "",
    also: Iterable[str] | None = None,
    missing: Mapping[str, str] | None = None,
) -> Report:
    """A report on sweeps, with the other figures that are in `out`.

    `folders` says by experiment where its results are, for what they cost; `commands` made them. `also` names the other
    figures, all that are there if left out; `missing` says why some are not.
    """
    drawn, skipped = control_figures(sweeps, out) if sweeps else ([], {})
    provenance = Provenance(tuple(commands), store.versions(), machine(), costs(folders or {}), made)
    return Report(
        scale=(sweeps.scale or "") if sweeps else "",
        figures=(*drawn, *(stored_figures(out, also) if out else ())),
        claims=judge(sweeps) if sweeps else (),
        caveat=shorter(sweeps) if sweeps else "",
        provenance=provenance,
        skipped={**(missing or {}), **skipped},
    )


def shorter(sweeps: Sweeps) -> str:
    """What to bear in mind of runs that are shorter or fewer than the paper's."""
    rows = sweeps.survey.select("fewest", steps=pl.col("every") * pl.col("points")).rows()
    runs, steps = (min(column) for column in zip(*rows, strict=True))
    if steps >= STEPS_A_RUN and runs >= RUNS:
        return ""
    return (
        f"The claims are about {RUNS} runs of {STEPS_A_RUN:,} steps; the verdicts here are about {runs:,} "
        f"run{'s' if runs > 1 else ''} of {steps:,}."
    )


def control_figures(sweeps: Sweeps, out: Path | None = None) -> tuple[list[ReportFigure], dict[str, str]]:
    """Every control figure that the sweeps allow, and why the others cannot be drawn.

    `out` is where `gpbe.figures.control.make` wrote the whole tables, for the reader's use; nothing is read there.
    """
    figures, skipped = [], {}
    for name, spec in CONTROL_FIGURES.items():
        try:
            drawing = draw_control(name, sweeps)
        except InputError as error:
            skipped[name] = str(error)
            continue
        source = str(out / f"{name}.parquet") if out else ""
        image = style.rendered(drawing.figure, "png", DPI)
        figures.append(ReportFigure(name, spec.describe, image, drawing.table, drawing.notes, source, CONTROL))
    return figures, skipped


def stored_figures(out: Path, names: Iterable[str] | None = None) -> list[ReportFigure]:
    """The figures that `gpbe figure` left in a folder, with their tables, in the order of the paper.

    Those of control are left out, unless `names` asks for them.
    """
    figures = []
    for name in FIGURES if names is None else names:
        image, table = out / f"{name}.png", out / f"{name}.parquet"
        if image.is_file():
            rows = pl.read_parquet(table) if table.is_file() else None
            source = str(table) if rows is not None else ""
            caption = FIGURES[name].describe if name in FIGURES else name
            figures.append(ReportFigure(name, caption, image.read_bytes(), rows, (), source, STORED))
    return figures


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
