"""Pieces of the page: tables, figures, claims, cost. Each is a function from data to HTML."""

import base64
import re
import struct
from collections.abc import Sequence
from html import escape
from math import isfinite

import polars as pl

from gpbe.analysis.findings import ERROR, Fact, Finding
from gpbe.analysis.inference import Outcome
from gpbe.pages.html import rows_of, slug
from gpbe.report.claims import Judged
from gpbe.report.model import STEPS, Cost, Dependence, ReportFigure
from gpbe.wording import duration

ROWS = 12
"""How many rows of a table behind a figure are shown."""
FACTS = 3
"""Numbers of a claim that are shown at once; the others are folded away."""
SIGNS: dict[Outcome, str] = {"holds": "✓", "does not hold": "✗", "undecided": "?"}
PLURAL: dict[Outcome, str] = {"holds": "hold", "does not hold": "do not hold"}
PAPER_STEPS = 6.48e10
"""The steps of all control experiments of the paper."""
PNG = b"\x89PNG\r\n\x1a\n"


def table_behind(table: pl.DataFrame, source: str) -> str:
    """The first rows of a table, folded, and how to get all of them. Columns without any value are left out."""
    shown = table.select(name for name in table.columns if table[name].null_count() < table.height)
    numbers = [k for k, kind in enumerate(shown.dtypes) if kind.is_numeric()]
    first = f"the first {ROWS} of {table.height:,} rows" if table.height > ROWS else f"{table.height:,} rows"
    whole = ""
    if source:
        whole = f"<p>The whole table: <code>polars.read_parquet({escape(repr(source))})</code></p>"
    return (
        f"<details><summary>The table behind it: {first}</summary>\n"
        f"{rows_of(shown.columns, shown.head(ROWS).rows(), numbers)}\n{whole}</details>"
    )


def titled(caption: str, table: pl.DataFrame) -> str:
    """A table with its caption: its first rows, and the others behind a fold."""
    shown = table.select(name for name in table.columns if table[name].null_count() < table.height)
    numbers = [k for k, kind in enumerate(shown.dtypes) if kind.is_numeric()]
    head = rows_of(shown.columns, shown.head(ROWS).rows(), numbers)
    if (rest := shown.slice(ROWS)).height:
        folded = rows_of(shown.columns, rest.rows(), numbers)
        head += f"\n<details><summary>{rest.height:,} more rows</summary>\n{folded}</details>"
    return f"<h3>{escape(caption)}</h3>\n{head}"


def image(data: bytes, description: str) -> str:
    """A picture, within the page itself."""
    kind, size = "svg+xml", ""
    if data.startswith(PNG):
        width, height = struct.unpack(">II", data[16:24])
        kind, size = "png", f' width="{width}" height="{height}" style="--natural: {width}px"'
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return f'<img src="{source}" alt="{escape(description)}"{size}>'


def figure(each: ReportFigure) -> str:
    """A figure with everything that belongs to it."""
    caption = escape(each.caption[:1].upper() + each.caption[1:])
    notes = "".join(f"<li>{_powers(escape(note))}</li>" for note in each.notes)
    table = table_behind(each.table, each.source) if each.table is not None else ""
    return (
        f'<figure id="figure-{slug(each.name)}">\n<h3>{escape(each.name)}</h3>\n'
        f'<div class="plate" tabindex="0">{image(each.image, each.caption)}</div>\n'
        f"<figcaption><p>{caption.rstrip('.')}.</p>{f'<ul>{notes}</ul>' if notes else ''}</figcaption>\n"
        f"{table}\n</figure>"
    )


def _powers(text: str) -> str:
    """Powers of two with raised exponents."""
    return re.sub(r"\b2\^-(\d+)", "2<sup>−\\1</sup>", text)


def badge(verdict: Outcome, count: int | None = None) -> str:
    """A verdict, told by sign, word and color; or how many claims have it."""
    words = verdict if count is None else _amount(verdict, count)
    return f'<span class="verdict {slug(verdict)}"><b aria-hidden="true">{SIGNS[verdict]}</b> {words}</span>'


def tally(judged: Sequence[Judged]) -> str:
    """How many claims hold, and so on."""
    found = [each.finding.verdict for each in judged]
    return " ".join(badge(verdict, found.count(verdict)) for verdict in SIGNS if verdict in found)


def claims(judged: Sequence[Judged]) -> str:
    """The claims with their verdicts and numbers, in the order of the paper; beside them those of a replication."""
    again = any(each.replicated is not None for each in judged)
    rows = "\n".join(
        f'<tr id="claim-{slug(each.claim.name)}"><td>{escape(each.claim.text)} '
        f'<span class="where">{escape(each.claim.where)}</span></td>'
        f"<td>{badge(each.finding.verdict)}</td>{_again(each) if again else ''}"
        f"<td>{_numbers(each.finding)}{_closing(each)}</td></tr>"
        for each in judged
    )
    names = ["The paper says", "The evidence", "Your replication"] if again else ["The paper says", "These data"]
    head = "".join(f"<th>{name}</th>" for name in (*names, "Numbers, with intervals"))
    return f'<table class="claims">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'


def _closing(each: Judged) -> str:
    """What would decide an open claim; of a missing stage its numbers tell."""
    said = "" if each.finding.missing else each.closing
    return f'<p class="where">{escape(said[:1].upper() + said[1:])}.</p>' if said else ""


def _again(each: Judged) -> str:
    """What one's own runs say, with their numbers behind a fold."""
    finding = each.replicated
    if finding is None or finding.missing:
        return '<td><span class="where">not in it</span></td>'
    return f"<td>{badge(finding.verdict)}<details><summary>numbers</summary>{_numbers(finding)}</details></td>"


def decisive(finding: Finding, most: int = FACTS) -> list[Fact]:
    """The facts that say what the verdict says, the surest first; of a claim that is open, those that are."""
    told = [fact for fact in finding.facts if fact.outcome(finding.level) == finding.verdict]

    def sureness(fact: Fact) -> tuple[bool, float]:
        return not isfinite(float(fact.interval.estimate)), min(fact.p)

    return sorted(told or finding.facts, key=sureness)[:most]


def shortened(finding: Finding, most: int = FACTS) -> str:
    """The numbers of a finding in a few words: what is asked, and at most so many of the facts that decided."""
    if finding.missing:
        return finding.missing
    said = "; ".join(map(str, decisive(finding, most)))
    said += f"; {counted(finding)}" if len(finding.facts) > most else ""
    return f"{finding.remark}: {said}" if finding.remark else said


def counted(finding: Finding) -> str:
    """How many of the facts say what, each for itself.

    >>> from gpbe.analysis.findings import exactly, every, found
    >>> counted(found(every([exactly("a", 1.0, True), exactly("b", 2.0, True), exactly("c", 3.0, False)])))
    'of 3, 2 hold, 1 does not hold'
    """
    outcomes = [fact.outcome(finding.level) for fact in finding.facts]
    numbers: dict[Outcome, int] = {verdict: outcomes.count(verdict) for verdict in SIGNS}
    said = [_amount(verdict, count) for verdict, count in numbers.items() if count]
    return f"of {len(outcomes)}, {', '.join(said)}" if len(said) > 1 else f"all {said[0]}"


def _amount(verdict: Outcome, count: int) -> str:
    return f"{count} {verdict if count == 1 else PLURAL.get(verdict, verdict)}"


def _numbers(finding: Finding) -> str:
    """What the claim asks, the numbers that decided it, and the others behind a fold."""
    remark = finding.missing or finding.remark
    said = f"<p>{escape(remark[:1].upper() + remark[1:])}</p>" if remark else ""
    said += f'<p class="where">{escape(finding.where)}</p>' if finding.where else ""
    if len(finding.facts) <= FACTS:
        return said + _facts(finding.facts, finding.level)
    every = _facts(finding.facts, finding.level)
    folded = f"<details><summary>{counted(finding).capitalize()}</summary>{every}</details>"
    return said + _facts(decisive(finding), finding.level) + folded


def _facts(facts: Sequence[Fact], level: float = ERROR) -> str:
    items = "".join(
        f'<li class="{slug(fact.outcome(level))}"><b title="{fact.outcome(level)}">{SIGNS[fact.outcome(level)]}</b> '
        f"{escape(str(fact))}</li>"
        for fact in facts
    )
    return f'<ul class="facts">{items}</ul>' if items else ""


def solved(found: Sequence[Dependence]) -> str:
    """The claims whose verdicts depend on what counts as solved."""
    numbers = list(found[0].verdicts)
    rows = [[each.claim, *(f"{SIGNS[verdict]} {verdict}" for verdict in each.verdicts.values())] for each in found]
    table = rows_of(["claim", *(f"{part:g} of the way" for part in numbers)], rows)
    return f"<h3>Verdicts that depend on what counts as solved</h3>\n{table}"


def cost(costs: Sequence[Cost]) -> str:
    """What the experiments took."""
    columns = ["experiment", "chunks", "failed", "diverged runs", "work", "time of all workers"]
    rows = [
        [
            each.experiment,
            f"{each.done:,} of {each.total:,}",
            f"{each.failed:,}",
            f"{each.diverged:,}",
            f"{each.steps:,}{'' if each.steps == each.all_steps else f' of {each.all_steps:,}'} {each.unit}",
            duration(each.seconds),
        ]
        for each in costs
    ]
    if len(costs) > 1:
        steps = sum(each.steps for each in costs if each.unit == STEPS)
        rows.append(["together", "", "", "", f"{steps:,} {STEPS}", duration(sum(each.seconds for each in costs))])
    return rows_of(columns, rows, range(1, 6)) + brute_force(costs)


def brute_force(costs: Sequence[Cost]) -> str:
    """What the evidence took, beside the paper's design."""
    mine = [each for each in costs if each.experiment.startswith("evidence-")]
    if not mine:
        return ""
    steps, hours = sum(each.steps for each in mine), sum(each.seconds for each in mine) / 3600
    return (
        f"<p>The evidence took {steps:.3g} steps and {hours:.1f} core-hours; the paper's design has {PAPER_STEPS:.3g} "
        f"steps, {PAPER_STEPS / max(steps, 1):.0f} times as many.</p>"
    )
