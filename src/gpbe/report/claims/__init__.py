"""The paper's claims that results can decide, and what stored results say about them.

A claim is a small function: those of `studies` ask the table of a study, those of `gpbe.experiments.evidence.claims`
ask runs of control. There is one list of all of them, and one way to judge.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from gpbe.analysis.findings import Fact, Finding, lacking
from gpbe.analysis.inference import false_discovery
from gpbe.analysis.stored import Stored
from gpbe.experiments.evidence.claims import CLAIMS as CONTROL
from gpbe.experiments.evidence.claims.claim import REPEATS, ControlClaim, repeats_of
from gpbe.experiments.evidence.levels import SOLVED
from gpbe.experiments.evidence.sources import Looks, looks_of, replicated_in
from gpbe.report.claims import robust, streams, studies
from gpbe.report.claims.claim import StudyClaim

Claim = StudyClaim | ControlClaim


def place(where: str) -> tuple[int, list[int]]:
    """What claims are ordered by: sections by their numbers, then appendices, then other papers.

    >>> sorted(["Dai 2018", "appendix B", "section 10", "section 9.2, violins"], key=place)
    ['section 9.2, violins', 'section 10', 'appendix B', 'Dai 2018']
    """
    if section := re.match(r"section ([\d.]+)", where):
        return 0, [int(number) for number in section[1].split(".")]
    return 1 if where.startswith("appendix") else 2, []


def _all() -> Iterator[Claim]:
    for module in (studies, robust, streams):
        yield from (value for value in vars(module).values() if isinstance(value, StudyClaim))
    yield from CONTROL


CLAIMS: tuple[Claim, ...] = tuple(sorted(_all(), key=lambda claim: place(claim.where)))
"""All claims, in the order of the paper; then those of papers that build on it."""
NOTHING = "no runs of control are stored; first: gpbe run evidence"


@dataclass(frozen=True)
class Judged:
    """A claim with what stored results say of it, and what one's own replication says."""

    claim: Claim
    finding: Finding
    replicated: Finding | None = None
    q: float | None = None
    """The false discovery rate at which its verdict would be made; None for what no chance is in, or no data."""
    closing: str = ""
    """What it would take to decide it, where it is open."""


def judge(stored: Stored, own: Stored | None = None, solved: float = SOLVED) -> tuple[Judged, ...]:
    """Every claim, judged on stored results; and beside that on results of one's own."""
    looks = looks_of(stored)
    findings = _findings(stored, looks, solved)
    mine = [None] * len(CLAIMS) if own is None else _findings(own, replicated_in(own, stored), solved)
    rows = zip(CLAIMS, findings, mine, _rates(findings), _closings(findings, looks), strict=True)
    return tuple(Judged(*row) for row in rows)


def _findings(stored: Stored, looks: Looks, solved: float) -> list[Finding]:
    def of(claim: Claim) -> Finding:
        if isinstance(claim, StudyClaim):
            return claim.judge(stored)
        return claim.judge(looks, solved) if looks else lacking(NOTHING)

    return [of(claim) for claim in CLAIMS]


def _closings(findings: list[Finding], looks: Looks) -> list[str]:
    """What it would take to decide each claim that is open."""
    repeats = repeats_of(looks[-1]) if looks else {}

    def of(claim: Claim, finding: Finding) -> str:
        if finding.verdict != "undecided" or finding.missing:
            return finding.missing
        if isinstance(claim, StudyClaim):
            return "more runs are needed"
        times = claim.decided_by(repeats)
        if times is None:
            return f"{max(REPEATS)} times as many runs like these would not decide it"
        return f"{'twice' if times == 2 else f'{times} times'} as many runs like these would decide it"

    return [of(claim, finding) for claim, finding in zip(CLAIMS, findings, strict=True)]


def _rates(findings: list[Finding]) -> list[float | None]:
    """Benjamini and Yekutieli's false discovery rate over all claims that chance has a part in."""
    sampled = [k for k, finding in enumerate(findings) if not finding.exact and not finding.missing]
    rates: list[float | None] = [None] * len(findings)
    if sampled:
        found = false_discovery([findings[k].p for k in sampled], "benjamini-yekutieli")
        for k, rate in zip(sampled, found, strict=True):
            rates[k] = float(rate)
    return rates


def records(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    """Claims as JSON has them: `claim` (its words), `verdict`, `numbers`, `where` (the runs that decided), and more.

    `numbers` is a list: what each is, its estimate, its limits at level 95 % (null where there are none), and what it
    says for itself. `p` is null where no chance is in a claim or nothing is stored, and so is `q`.
    """
    return [
        {
            "claim": each.claim.text,
            "name": each.claim.name,
            "paper": each.claim.where,
            "verdict": each.finding.verdict,
            "asked": each.finding.remark,
            "numbers": [_number(fact, each.finding.level) for fact in each.finding.facts],
            "where": each.finding.where,
            "missing": each.finding.missing,
            "closing": each.closing,
            "p": None if each.finding.exact or each.finding.missing else each.finding.p,
            "q": each.q,
            "replicated": None if each.replicated is None else each.replicated.verdict,
        }
        for each in judged
    ]


def _number(fact: Fact, level: float) -> dict[str, Any]:
    ends = {name: float(getattr(fact.interval, name)) for name in ("estimate", "low", "high")}
    told = {name: value if math.isfinite(value) else None for name, value in ends.items()}
    return {"what": fact.what, **told, "verdict": fact.outcome(level)}


def claims_table(judged: Iterable[Judged]) -> pl.DataFrame:
    """Claims as a table, a row each.

    Columns: claim, text, paper (the place there), verdict, numbers, where (which runs decided), p, q (null where no
    chance is in it), missing (why there is nothing to decide by).
    """
    rows = [
        {
            "claim": each["name"],
            "text": each["claim"],
            "paper": each["paper"],
            "verdict": each["verdict"],
            "numbers": judgement.finding.numbers,
            **{name: each[name] for name in ("where", "p", "q", "missing")},
        }
        for each, judgement in ((records([one])[0], one) for one in judged)
    ]
    return pl.DataFrame(rows, schema_overrides={"p": pl.Float64, "q": pl.Float64})


def tally(judged: Iterable[Judged]) -> str:
    """How many claims have which verdict, in a line."""
    judged = tuple(judged)
    counts = Counter(each.finding.verdict for each in judged)
    lack = sum(bool(each.finding.missing) for each in judged)
    rates = [each.q for each in judged if each.q is not None and each.finding.verdict != "undecided"]
    said = f"{counts['holds']} hold, {counts['does not hold']} do not hold, {counts['undecided']} undecided"
    said += f" ({lack} of these for want of runs)" if lack else ""
    if rates:
        said += f"; false discovery rate of the decided ones at most {max(rates):.2g} (Benjamini and Yekutieli)"
    return said
