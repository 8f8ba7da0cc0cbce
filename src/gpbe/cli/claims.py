"""`gpbe claims`: every claim of the paper with its verdict, from stored evidence."""

from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from gpbe.cli.options import Json
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.files.atomic import write_atomic

From = Annotated[Path, arg(name="from", metavar="FOLDER", help_behavior_hint="")]
Pages = Annotated[tuple[Path, ...], arg(metavar="FILE ...", help_behavior_hint="")]
COLORS = {"holds": "green", "does not hold": "red", "undecided": "yellow"}


def claims(source: From = Path("results"), page: Pages = (), json: Json = False) -> None:
    """Print every claim of the paper with its verdict, the numbers that decided it, and which runs these are.

    Args:
        source: a folder with packed results (see `gpbe pack`); the repository's own is ./results
        page: write them into these Markdown files, with what they took and how they depend on what counts as solved; a
            file with a marked table of claims (as README.md has) gets that table made anew and is left alone otherwise
        json: print JSON
    """
    from gpbe import experiments, report

    stored = experiments.open_packed(source)
    judged = report.judge(stored)
    if page:
        files = experiments.packed_files(source)
        solved = report.by_solved(stored) if stored.stages else ()
        texts = [report.page_of(path, judged, solved, report.costs(files), files) for path in page]
        for path, text in zip(page, texts, strict=True):
            check_writable(path.parent)
            write_atomic(path, text.encode())
    if json:
        print_json(report.records(judged))
        return
    from rich.table import Table
    from rich.text import Text

    from gpbe.report.parts import SIGNS

    table = Table("claim", "verdict", "numbers", "decided by", box=None, pad_edge=False, padding=(0, 2, 1, 0))
    for each in judged:
        verdict = each.finding.verdict
        marked = Text(f"{SIGNS[verdict]} {verdict}", style=COLORS[verdict])
        table.add_row(each.claim.text, marked, report.shortened(each.finding), each.finding.where)
    console().print(table)
    console().print(report.tally(judged))
