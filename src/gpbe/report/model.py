"""What a report is made of: `gpbe.report.gather` collects it, and `gpbe.report.page` writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from gpbe.analysis.inference import Outcome
from gpbe.report.claims import Judged

STEPS = "steps"


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A picture with its caption and the table behind it."""

    name: str
    caption: str
    image: bytes
    """PNG or SVG."""
    table: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    """Sentences below the caption: which settings were chosen, what is missing."""
    source: str = ""
    """The file that holds the whole table."""
    group: str = "Figures"
    """Under which heading it stands."""


@dataclass(frozen=True)
class Cost:
    """What an experiment took."""

    experiment: str
    done: int
    total: int
    failed: int
    diverged: int
    steps: int
    all_steps: int
    seconds: float
    """The time of all workers together."""
    unit: str = STEPS
    """What `steps` counts; learning steps, in sweeps of control."""


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from."""

    commands: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    costs: tuple[Cost, ...] = ()
    made: str = ""
    """When, in words; empty for a page that is the same each time."""


@dataclass(frozen=True)
class Dependence:
    """How a verdict depends on the number for what counts as solved."""

    claim: str
    verdicts: Mapping[float, Outcome]


@dataclass(frozen=True, eq=False)
class Report:
    """A whole report."""

    title: str = "The generalized projected Bellman error"
    scale: str = ""
    figures: tuple[ReportFigure, ...] = ()
    claims: tuple[Judged, ...] = ()
    solved: tuple[Dependence, ...] = ()
    """The claims whose verdicts depend on that number."""
    caveat: str = ""
    """How these runs differ from those that the claims are about."""
    provenance: Provenance = field(default_factory=Provenance)
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Figures that could not be drawn, and why."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Tables by caption."""
