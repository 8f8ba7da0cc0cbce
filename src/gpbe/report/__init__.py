"""The report: every figure with the table behind it, the paper's claims with what the data say, and what it took.

`gather` collects a `Report` from stored results; `write` makes one HTML page of it. The paper's claims are data too
(`CLAIMS`), and `judge` gives verdicts without any page.
"""

from gpbe.analysis.evidence import Fact, Finding
from gpbe.report.claims import CLAIMS, Judged, claims_table, judge
from gpbe.report.claims.claim import Claim
from gpbe.report.claims.levels import MARGIN, SOLVED
from gpbe.report.gather import costs, draw_all, gather, machine
from gpbe.report.model import Cost, Provenance, Report, ReportFigure
from gpbe.report.page import render, write

__all__ = [
    "CLAIMS",
    "MARGIN",
    "SOLVED",
    "Claim",
    "Cost",
    "Fact",
    "Finding",
    "Judged",
    "Provenance",
    "Report",
    "ReportFigure",
    "claims_table",
    "costs",
    "draw_all",
    "gather",
    "judge",
    "machine",
    "render",
    "write",
]
