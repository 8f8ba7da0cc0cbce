"""`gpbe claims`: every claim of the paper with its verdict, from stored evidence."""

from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from gpbe.cli.options import File, Json
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.files.atomic import write_atomic

From = Annotated[Path, arg(name="from", metavar="FOLDER", help_behavior_hint="")]
SIGNS = {"holds": ("✓", "green"), "does not hold": ("✗", "red"), "undecided": ("?", "yellow")}


def claims(source: From = Path("results"), page: File = None, json: Json = False) -> None:
    """Print every claim of the paper with its verdict, the numbers that decided it, and which runs these are.

    Args:
        source: a folder with packed results (see `gpbe pack`); the repository's own is ./results
        page: write them into this Markdown file, with what they took and how they depend on what counts as solved
        json: print JSON
    """
    from gpbe import experiments, report

    stored = experiments.open_packed(source)
    judged = report.judge(stored)
    if page is not None:
        files = experiments.packed_files(source)
        solved = report.by_solved(stored) if stored.stages else ()
        check_writable(page.parent)
        write_atomic(page, report.results_page(judged, solved, report.costs(files), files).encode())
    if json:
        print_json(report.records(judged))
        return
    from rich.table import Table

    table = Table("claim", "verdict", "numbers", "decided by", box=None, pad_edge=False, padding=(0, 2, 1, 0))
    for each in judged:
        sign, color = SIGNS[each.finding.verdict]
        short = report.shortened(each.finding)
        table.add_row(each.claim.text, f"[{color}]{sign} {each.finding.verdict}[/]", short, each.finding.where)
    console().print(table)
    console().print(report.tally(judged))
