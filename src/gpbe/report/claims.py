"""The paper's empirical claims about control (section 9 and the appendix on voting), and what data say about them."""

from dataclasses import dataclass

import polars as pl

from gpbe.figures.control.sweeps import Sweeps
from gpbe.report import ablation_claims, benchmark_claims, voting_claims
from gpbe.report.evidence import Finding
from gpbe.report.judging import Claim

CLAIMS: tuple[Claim, ...] = tuple(
    value
    for module in (benchmark_claims, ablation_claims, voting_claims)
    for value in vars(module).values()
    if isinstance(value, Claim)
)
"""In the order of the paper."""


@dataclass(frozen=True)
class Judged:
    """A claim with its finding."""

    claim: Claim
    finding: Finding


def judge(sweeps: Sweeps) -> tuple[Judged, ...]:
    """Every claim, judged on some data."""
    return tuple(Judged(claim, claim.judge(sweeps)) for claim in CLAIMS)


def claims_table(judged: tuple[Judged, ...]) -> pl.DataFrame:
    """Columns: claim, text, where, verdict, numbers."""
    return pl.DataFrame(
        {
            "claim": [each.claim.name for each in judged],
            "text": [each.claim.text for each in judged],
            "where": [each.claim.where for each in judged],
            "verdict": [each.finding.verdict for each in judged],
            "numbers": [each.finding.numbers for each in judged],
        }
    )
