"""Figures of the evidence: what is drawn from which stage."""

from functools import partial

import polars as pl

from gpbe.analysis.stored import Stored
from gpbe.experiments.evidence import computation, names
from gpbe.figures import FigureSpec, Notes

GROUP = "The evidence"


FRESH = (names.VERDICT, names.SECOND)
"""The stages of fresh runs, of which a figure needs the first."""


def _figure(name: str, describe: str, shows: tuple[str, ...], table: str, **options: object) -> FigureSpec:
    """A figure that shows results of these stages, of which it needs the first."""

    def made(stored: Stored) -> pl.DataFrame:
        return getattr(computation, table)(stored, **options)

    drawing = f"gpbe.experiments.evidence.drawing:draw_{name.removeprefix('evidence-').replace('-', '_')}"
    return FigureSpec(name, describe, shows[:1], drawing, made, partial(_notes, shows=shows), GROUP)


def _notes(stored: Stored, shows: tuple[str, ...]) -> Notes:
    """How much stands behind a figure, and whether there is more to come."""
    said = "; ".join(f"{name}: {stored.amounts[name]}" for name in shows if name in stored.amounts)
    missing = tuple(f"Not complete: {stored.lacking[name]}." for name in shows if name in stored.lacking)
    return Notes((said,) if said else (), missing)


FIGURES = (
    _figure(
        "evidence-voted",
        "learning curves of fresh runs, with the one setting an algorithm that won the vote of the domains",
        FRESH,
        "curves_of",
        choice="voted",
    ),
    _figure(
        "evidence-tuned",
        "learning curves of fresh runs, with the setting that was tuned for each domain",
        FRESH,
        "curves_of",
        choice="tuned",
    ),
    _figure(
        "evidence-gaps",
        "how far QRC is ahead of the other algorithms in each domain, with limits: what most claims rest on",
        FRESH,
        "gaps",
    ),
    _figure(
        "evidence-runs",
        "how return is spread over fresh runs of the tuned settings, in each domain",
        FRESH,
        "tuned_runs",
    ),
    _figure(
        "evidence-settings",
        "how mean return is spread over the screened settings, in each domain",
        (names.SCREEN,),
        "screened_settings",
    ),
    _figure(
        "evidence-profiles",
        "share of runs above each part of the way, mean over domains, voted and tuned; dots are interquartile means",
        FRESH,
        "profiles",
    ),
    _figure(
        "evidence-sensitivity",
        "what one setting for all domains costs, beside a setting for each (Adkins et al. 2024)",
        (names.SCREEN, *FRESH),
        "sensitivities",
    ),
)
