"""Draw what logs and large finite problems cost, from what benchmarks have measured, and print it as tables.

    python benchmarks/logs.py 1e5 1e6 1e7 1e8 --json docs/img/cost-rows.json
    python benchmarks/sparse.py > docs/img/cost-states.json
    python docs/draw_cost.py

writes docs/img/cost-rows.png and docs/img/cost-states.png, of those files that are there.
"""

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gpbe.figures import style

Point = tuple[str, float, float, float | None]
"""What was done, the size, seconds, and megabytes if they were measured."""
FOLDER = Path(__file__).parent / "img"
TITLES = {"rows": "rows of a log, twenty features each", "states": "states of a grid, four actions, 100 features"}


def of_rows(measured: list[dict[str, Any]]) -> list[Point]:
    """Each command is a process of its own."""
    return [(m["command"], m["rows"], m["seconds"], m["MB"]) for m in measured]


def of_states(measured: list[dict[str, Any]]) -> list[Point]:
    """One process does all of it, and its memory is that of the last step."""
    points: list[Point] = []
    for m in measured:
        points += [(step, m["states"], m["seconds"][step], None) for step in ("make", "values and weightings")]
        points.append(("diagnose", m["states"], m["seconds"]["diagnose"], 1024 * m["peak GiB up to the diagnosis"]))
    return points


def draw(points: list[Point], label: str) -> Figure:
    """Seconds at the left, memory at the right, a line for each thing that was done."""
    names = list(dict.fromkeys(name for name, *_ in points))
    with style.figure(9, 3.6) as fig:
        for axis, column, what in zip(fig.subplots(1, 2), (2, 3), ("seconds", "MB at the peak"), strict=True):
            for k, name in enumerate(names):
                mine = sorted((p[1], p[column]) for p in points if p[0] == name and p[column] is not None)
                color = style.COLORS[k % len(style.COLORS)]
                axis.plot([x for x, _ in mine], [y for _, y in mine], "o-", color=color, label=name, markersize=4)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_xlabel(label)
            axis.set_ylabel(what)
        handles, labels = fig.axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=4)
    return fig


def table(points: list[Point]) -> str:
    """Markdown: a row for each thing that was done, a column for each size."""
    sizes = sorted({size for _, size, *_ in points})
    lines = ["| | " + " | ".join(f"{size:,}" for size in sizes) + " |", "| --- |" + " --- |" * len(sizes)]
    for name in dict.fromkeys(name for name, *_ in points):
        mine = {
            size: f"{seconds:.3g} s" + (f", {memory:,.0f} MB" if memory is not None else "")
            for n, size, seconds, memory in points
            if n == name
        }
        lines.append(f"| {name} | " + " | ".join(mine.get(size, "") for size in sizes) + " |")
    return "\n".join(lines)


def main() -> None:
    for kind, read in (("rows", of_rows), ("states", of_states)):
        file = FOLDER / f"cost-{kind}.json"
        if file.exists():
            points = read(json.loads(file.read_text()))
            style.save_as(draw(points, TITLES[kind]), FOLDER / f"cost-{kind}.png")
            print(f"{table(points)}\n")


if __name__ == "__main__":
    main()
