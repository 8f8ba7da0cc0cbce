"""`gpbe claims`: every claim of the paper with its verdict, from stored evidence."""

from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from gpbe.cli.options import Json
from gpbe.cli.terminal import console, print_json

From = Annotated[Path, arg(name="from", metavar="FOLDER", help_behavior_hint="")]
SIGNS = {"holds": ("✓", "green"), "does not hold": ("✗", "red"), "undecided": ("?", "yellow")}


def claims(source: From = Path("results"), json: Json = False) -> None:
    """Print every claim of the paper with its verdict, the numbers that decided it, and which runs these are.

    Args:
        source: a folder with packed results (see `gpbe pack`); the repository's own is ./results
        json: print JSON
    """
    from gpbe import experiments, report

    judged = report.judge(experiments.open_packed(source))
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
