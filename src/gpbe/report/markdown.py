"""The verdicts as a page of the documentation: Markdown that is made from stored results and from nothing else."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gpbe.checks import check_known
from gpbe.errors import InputError
from gpbe.report.claims import Judged, tally
from gpbe.report.model import STEPS, Cost, Dependence
from gpbe.report.parts import FACTS, PAPER_STEPS, SIGNS, shortened

TITLE = "# The paper's claims, and what the evidence says"
MARK = "<!-- made from"
BLOCK = re.compile(r"(<!-- claims: ([\w\s,-]+?) -->\n)(.*?)(<!-- end of claims -->)", re.DOTALL)
"""Where a page of any kind has a table of some claims: their names, then the table, which is made."""


def page_of(
    path: Path, judged: Sequence[Judged], solved: Sequence[Dependence], costs: Sequence[Cost], files: Mapping[str, Path]
) -> str:
    """The new text of a file: the whole page; or its present text, with its table of claims made anew if it has one.

    Anything else that somebody has written there is not overwritten.
    """
    try:
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8; name a Markdown file") from None
    if BLOCK.search(before):
        return with_table(before, judged, files)
    if before.strip() and not before.startswith(TITLE):
        raise InputError(
            f"{path} is not a page of verdicts, and has no table marked <!-- claims: ... -->; name another file"
        )
    return results_page(judged, solved, costs, files)


def results_page(
    judged: Sequence[Judged], solved: Sequence[Dependence], costs: Sequence[Cost], files: Mapping[str, Path]
) -> str:
    """The whole page; it names the files that it was made from, with their checksums."""
    parts = [
        TITLE,
        "Made by `gpbe claims --from results --page docs/results.md`; [the evidence](evidence.md) says how verdicts "
        f"are reached, and was written before them. {tally(judged)[:1].upper()}{tally(judged)[1:]}.",
        "Numbers are parts of the way from a random policy's return (0) to Gymnasium's threshold (1) where claims are "
        "about control, with intervals at level 95 %; q is the false discovery rate at which a verdict would be made.",
    ]
    for place in dict.fromkeys(each.claim.where for each in judged):
        mine = [each for each in judged if each.claim.where == place]
        parts.append(f"## {place[:1].upper()}{place[1:]}\n" + _table(mine))
    if solved:
        parts.append("## What counts as solved\n" + _solved(solved))
    if costs:
        parts.append("## What it took\n" + _cost(costs))
    return "\n\n".join([*parts, fingerprint(files)]) + "\n"


def with_table(page: str, judged: Sequence[Judged], files: Mapping[str, Path]) -> str:
    """A page of any kind with its table of some claims made anew."""

    def made(block: re.Match[str]) -> str:
        names = [name.strip() for name in block[2].split(",")]
        for name in names:
            check_known(name, by_name, "claim")
        rows = ["| claim | verdict | numbers |", "| --- | --- | --- |"]
        rows += [_row(_claim_cells(by_name[name], most=1)[:3]) for name in names]
        rows += ["", f"{tally(judged)[:1].upper()}{tally(judged)[1:]}.", fingerprint(files), ""]
        return block[1] + "\n".join(rows) + block[4]

    by_name = {each.claim.name: each for each in judged}
    return BLOCK.sub(made, page)


def fingerprint(files: Mapping[str, Path]) -> str:
    """The line that tells which results a page was made from."""
    sums = (f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for name, path in sorted(files.items()))
    return f"{MARK} {', '.join(sums)} -->"


def _table(judged: Iterable[Judged]) -> str:
    rows = ["| claim | verdict | numbers | decided by | q |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*rows, *(_row(_claim_cells(each)) for each in judged)])


def _claim_cells(judged: Judged, most: int = FACTS) -> tuple[str, ...]:
    finding = judged.finding
    numbers = shortened(finding, most)
    if judged.closing and not finding.missing:
        numbers += f". {judged.closing[:1].upper()}{judged.closing[1:]}"
    q = "" if judged.q is None else f"{judged.q:.2g}"
    return judged.claim.text, f"{SIGNS[finding.verdict]} {finding.verdict}", numbers, finding.where, q


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _solved(found: Sequence[Dependence]) -> str:
    numbers = list(found[0].verdicts)
    rows = ["| claim | " + " | ".join(f"{part:g}" for part in numbers) + " |", "| --- " * (1 + len(numbers)) + "|"]
    rows += [f"| {each.claim} | " + " | ".join(each.verdicts.values()) + " |" for each in found]
    return "Verdicts for other parts of the way at which a domain counts as solved.\n\n" + "\n".join(rows)


def _cost(costs: Sequence[Cost]) -> str:
    rows = ["| results | chunks | work | core-hours |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {c.experiment} | {c.done:,} of {c.total:,} | {c.steps:,} {c.unit} | {c.seconds / 3600:.2f} |" for c in costs
    ]
    steps = sum(c.steps for c in costs if c.unit == STEPS)
    hours = sum(c.seconds for c in costs) / 3600
    said = f"Together {steps:.3g} steps of control and {hours:.1f} core-hours."
    if steps:
        said += f" The paper's design has {PAPER_STEPS:.3g} steps: {PAPER_STEPS / steps:.0f} times as many."
    return "\n".join(rows) + f"\n\n{said}"
