"""The drawing of the architecture is that of the code."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_drawing_is_that_of_the_code():
    script = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    drawn = (ROOT / "docs" / "img" / "architecture.svg").read_text()
    assert script["draw"]() == drawn, "draw it anew: make drawing"


def test_what_is_drawn_is_reduced_and_points_down():
    script = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    direct = script["imports"]()
    height = script["heights"](direct)
    assert all(height[a] > height[b] for a, b in direct)
    chain = {("a", "b"), ("b", "c"), ("a", "c")}
    assert script["reduced"](chain) == {("a", "b"), ("b", "c")}


def test_every_box_is_within_the_drawing():
    script = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    boxes = re.findall(r'<rect x="(-?\d+)" y="\d+" width="(\d+)"', script["draw"]())
    assert len(boxes) == len(script["rooms"]()) + 1
    assert all(int(x) >= 0 and int(x) + int(width) <= script["WIDTH"] for x, width in boxes)


def test_the_table_has_every_room():
    script = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    rows = re.findall(r"(?m)^\| (`.*?) \|", (ROOT / "docs" / "architecture.md").read_text())
    told = [room for row in rows for room in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted([*script["rooms"](), *script["foundations"]()])
