"""The report: every figure with the table behind it, the paper's claims with what the data say, and what it took.

`gather` collects a `Report` from sweeps and from a folder of figures; `write` makes one HTML page of it. The paper's
claims are data too (`CLAIMS`), and `judge` gives verdicts without any page.
"""

from gpbe.report.claims import CLAIMS, Judged, claims_table, judge
from gpbe.report.evidence import Fact, Finding
from gpbe.report.gather import control_figures, costs, gather, machine, stored_figures
from gpbe.report.judging import Claim
from gpbe.report.levels import LEVELS, MARGIN, SOLVED
from gpbe.report.model import Cost, Provenance, Report, ReportFigure
from gpbe.report.page import render, write

__all__ = [
    "CLAIMS",
    "LEVELS",
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
    "control_figures",
    "costs",
    "gather",
    "judge",
    "machine",
    "render",
    "stored_figures",
    "write",
]
