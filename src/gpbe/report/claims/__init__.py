"""The paper's claims that results can decide, and what stored results say about them.

A claim is a small function in one of the modules here. Those of `studies` are decided by exact numbers, or by
statistics where a study samples; the others by statistics of runs of control.
"""

from dataclasses import dataclass

import polars as pl

from gpbe.analysis.evidence import Finding
from gpbe.analysis.stored import Stored
from gpbe.report.claims import ablations, benchmark, robust, studies, voting
from gpbe.report.claims.claim import Claim

CLAIMS: tuple[Claim, ...] = tuple(
    value
    for module in (studies, benchmark, ablations, voting, robust)
    for value in vars(module).values()
    if isinstance(value, Claim)
)
"""In the order of the paper."""


@dataclass(frozen=True)
class Judged:
    """A claim with its finding."""

    claim: Claim
    finding: Finding


def judge(stored: Stored) -> tuple[Judged, ...]:
    """Every claim, judged on stored results."""
    return tuple(Judged(claim, claim.judge(stored)) for claim in CLAIMS)


def claims_table(judged: tuple[Judged, ...]) -> pl.DataFrame:
    """Claims as a table. Columns: claim, text, where, experiments, verdict, numbers."""
    return pl.DataFrame(
        {
            "claim": [each.claim.name for each in judged],
            "text": [each.claim.text for each in judged],
            "where": [each.claim.where for each in judged],
            "experiments": [list(each.claim.experiments) for each in judged],
            "verdict": [each.finding.verdict for each in judged],
            "numbers": [each.finding.numbers for each in judged],
        }
    )
