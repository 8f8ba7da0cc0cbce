"""The report: every figure with the table behind it, the paper's claims with what the data say, and what it took.

`gather` collects a `Report` from stored results; `write` makes one HTML page of it. The paper's claims are data too
(`CLAIMS`), and `judge` gives verdicts without any page.
"""

from gpbe.analysis.findings import Fact, Finding
from gpbe.experiments.evidence.levels import MARGIN, SOLVED
from gpbe.report.claims import CLAIMS, Claim, Judged, claims_table, judge, records, tally
from gpbe.report.gather import by_solved, costs, draw_all, gather, gather_own, machine
from gpbe.report.markdown import page_of, results_page
from gpbe.report.model import Cost, Provenance, Report, ReportFigure
from gpbe.report.page import render, write
from gpbe.report.parts import shortened

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
    "by_solved",
    "claims_table",
    "costs",
    "draw_all",
    "gather",
    "gather_own",
    "judge",
    "machine",
    "page_of",
    "records",
    "render",
    "results_page",
    "shortened",
    "tally",
    "write",
]
