"""Draw the rooms of gpbe and which of them import which, from the code itself, into docs/img/architecture.svg.

python docs/draw_architecture.py           write the drawing
python docs/draw_architecture.py --check   only tell whether the drawing is that of the code (exit code 1 if not)

A room is a package; the modules beside the packages (errors, checks, shapes and so on) are one room, the foundations. A
line leads from a room to one below it that it imports, unless that follows from others: what is drawn is the transitive
reduction of the import graph, each room as low as what it imports allows.
"""

import ast
import re
import sys
import textwrap
from html import escape
from itertools import product
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gpbe"
TARGET = ROOT / "docs" / "img" / "architecture.svg"
BASE = "foundations"
ROW, BOX_WIDTH, BOX_HEIGHT, GAP, MOST = 122, 222, 86, 22, 3
"""Sizes in pixels, and how many boxes stand beside each other: with more, a page would make their words too small."""
WIDTH = MOST * (BOX_WIDTH + GAP) + GAP

Edges = set[tuple[str, str]]


def rooms() -> list[str]:
    """The packages of gpbe."""
    return sorted(each.name for each in SOURCE.iterdir() if (each / "__init__.py").is_file())


def foundations() -> list[str]:
    """The modules beside them."""
    return sorted(each.stem for each in SOURCE.glob("*.py") if not each.stem.startswith("__"))


def imports() -> Edges:
    """Pairs of rooms of which the first imports the second."""
    graph = grimp.build_graph("gpbe", exclude_type_checking_imports=True, cache_dir=None)

    def imported(a: str, b: str) -> bool:
        return graph.direct_import_exists(importer=f"gpbe.{a}", imported=f"gpbe.{b}", as_packages=True)

    direct = {(a, b) for a, b in product(rooms(), rooms()) if a != b and imported(a, b)}
    return direct | {(a, BASE) for a in rooms() if any(imported(a, b) for b in foundations())}


def reduced(direct: Edges) -> Edges:
    """Without the pairs that follow from others."""
    return {(a, b) for a, b in direct if not _other_way(direct, a, b)}


def _other_way(direct: set[tuple[str, str]], start: str, end: str) -> bool:
    """Does a way of more than one import lead from `start` to `end`?"""
    open_, seen = [b for a, b in direct if a == start and b != end], set()
    while open_:
        room = open_.pop()
        if room == end:
            return True
        if room not in seen:
            seen.add(room)
            open_ += [b for a, b in direct if a == room]
    return False


def heights(direct: Edges) -> dict[str, int]:
    """How many rooms stand on each other below each room."""
    found = {BASE: 0}
    while len(found) < len(rooms()) + 1:
        for room in rooms():
            below = [b for a, b in direct if a == room]
            if room not in found and all(b in found for b in below):
                found[room] = 1 + max((found[b] for b in below), default=0)
    return found


def sentence(room: str) -> str:
    """The first sentence of a room's docstring."""
    if room == BASE:
        return ", ".join(foundations())
    said = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text())) or ""
    return re.split(r"(?<=[.])\s|\n\n", said)[0].replace("\n", " ").replace("`", "")


def rows_of(height: dict[str, int]) -> list[list[str]]:
    """The rooms from top to bottom; those of one height in as many rows as they need."""
    found = []
    for level in range(max(height.values()), -1, -1):
        level_rooms = sorted(room for room, at in height.items() if at == level)
        count = -(-len(level_rooms) // MOST)
        size = -(-len(level_rooms) // count)
        found += [level_rooms[k : k + size] for k in range(0, len(level_rooms), size)]
    return found


def draw() -> str:
    """The drawing as SVG."""
    direct = imports()
    height = heights(direct)
    rows = rows_of(height)
    places = {}
    for below, row in enumerate(rows):
        for k, room in enumerate(row):
            x = WIDTH / 2 + (k - (len(row) - 1) / 2) * (BOX_WIDTH + GAP)
            places[room] = (x, 16 + below * ROW)
    lines = [_line(places[a], places[b]) for a, b in sorted(reduced(direct))]
    boxes = [_box(room, *place) for room, place in sorted(places.items())]
    size = f"0 0 {WIDTH} {16 + len(rows) * ROW}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">',
            '<rect width="100%" height="100%" fill="white"/>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From the lower edge of a box to the upper edge of another, around boxes that stand between them."""
    (x0, y0), (x1, y1) = start, end
    rows = round((y1 - y0) / ROW)
    side = 0 if rows == 1 else (1 if x0 + x1 >= WIDTH else -1) * (BOX_WIDTH / 2 + 18 + 10 * rows)
    middle = (x0 + x1) / 2 + side
    way = f"M{x0:.0f} {y0 + BOX_HEIGHT:.0f} Q{middle:.0f} {(y0 + BOX_HEIGHT + y1) / 2:.0f} {x1:.0f} {y1:.0f}"
    return f'<path d="{way}" fill="none" stroke="#7F7F7F" stroke-width="1.3"/>'


def _box(room: str, x: float, y: float) -> str:
    said = textwrap.wrap(sentence(room), 36)
    said = said if len(said) <= 4 else [*said[:3], f"{said[3].rstrip('.,:;')} ..."]
    words = "".join(
        f'<text x="{x:.0f}" y="{y + 35 + 14 * k:.0f}" font-size="12" text-anchor="middle">{escape(line)}</text>'
        for k, line in enumerate(said)
    )
    return (
        f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
        f'fill="#EAF3F9" stroke="#0072B2"/><text x="{x:.0f}" y="{y + 17:.0f}" font-size="15" font-weight="bold" '
        f'text-anchor="middle">{escape(room)}</text>{words}'
    )


if __name__ == "__main__":
    drawn = draw()
    if "--check" in sys.argv:
        sys.exit(not TARGET.is_file() or TARGET.read_text() != drawn)
    TARGET.write_text(drawn)
    print(TARGET)
