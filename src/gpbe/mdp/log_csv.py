"""Where a CSV file does not fit: its reader tells what it cannot read, but not in which row."""

import csv
import re
from collections.abc import Iterator

from gpbe.errors import one_line

_CELL = re.compile(
    r"could not parse `(?P<cell>.*?)` as dtype `.*?` at column '(?P<name>.*?)' \(column number (\d+)\)", re.S
)


def misfit(path: str, said: str) -> str | None:
    """The first row of a file that is what its reader complains of, in words; None if there is no such row."""
    cell, more = _CELL.search(said), "more fields than defined" in said
    if cell is None and not more:
        return None
    try:
        rows = _rows(path)
        header = next(rows, [])
        for row, fields in enumerate(rows):
            if more and len(fields) > len(header):
                return f"row {row} has {len(fields)} entries, but the header has {len(header)}"
            if cell is not None and len(fields) >= int(cell[3]) and fields[int(cell[3]) - 1] == cell["cell"]:
                return f"{cell['name']}[row {row}] is {one_line(repr(cell['cell']))}; it should be a number"
    except (OSError, UnicodeError, csv.Error):
        return None
    return None


def _rows(path: str) -> Iterator[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.reader(file)
