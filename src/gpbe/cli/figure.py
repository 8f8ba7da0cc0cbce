"""`gpbe figure` and `gpbe report`: drawings of stored results, and the page that tells what they show."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gpbe.cli.options import Json, Packed, Scale
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.errors import InputError


def figure(
    name: Positional[str],
    scale: Scale = "quick",
    out: Path = Path("out"),
    source: Packed = None,
    json: Json = False,
) -> None:
    """Draw a figure of the paper, or all of them, from what `gpbe run` has stored; writes PNG, PDF and the table.

    Args:
        name: a name from `gpbe list figures`, or `all`
        scale: which results
        out: the folder to write into, and in which `results` are looked for
        source: draw from packed results in this folder (see `gpbe pack`) instead
        json: print JSON
    """
    from gpbe import experiments
    from gpbe.report import draw_all

    names = tuple(experiments.FIGURES) if name == "all" else (experiments.find_figure(name).name,)
    stored = experiments.open_results(scale, out) if source is None else experiments.open_packed(source)
    if stored.tables or stored.stages:
        check_writable(out)
    drawn, skipped = draw_all(stored, names, out)
    if not drawn:
        raise InputError(skipped.get(name, f"no results at the {scale} scale in {out}; first: gpbe run all"))
    rows: list[dict[str, Any]] = [
        {
            "figure": each.name,
            "from": "; ".join(filter(None, map(stored.amounts.get, experiments.FIGURES[each.name].needs))),
            "scale": scale if source is None else "as packed",
            "seconds": round(each.seconds, 2),
            "files": [str(path) for path in each.files],
        }
        for each in drawn
    ]
    if json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table("figure", "from", "seconds", "files", box=None, pad_edge=False)
    for row in rows:
        stem = row["files"][0].removesuffix(".png")
        kinds = ",".join(Path(f).suffix.lstrip(".") for f in row["files"])
        table.add_row(row["figure"], row["from"], f"{row['seconds']:.1f}", f"{stem}.{{{kinds}}}")
    console().print(table)
    for each, why in skipped.items():
        console().print(f"{each}: not drawn; {why}")


def report(
    scale: Scale = "quick",
    out: Path = Path("out"),
    source: Packed = None,
    json: Json = False,
) -> None:
    """Draw every figure, and write one HTML page with all of them and which claims of the paper the results support.

    Args:
        scale: which results
        out: the folder with `results`, into which figures, their tables and report.html are written
        source: judge by packed results in this folder (the evidence), and show what `out` has as a replication
        json: print JSON: where it is, and the claims with their verdicts
    """
    from gpbe import experiments
    from gpbe import report as page

    own = experiments.open_results(scale, out)
    if source is None and not (own.tables or own.stages):
        raise InputError(f"there is nothing to report: no results at the {scale} scale in {out}; first: gpbe run all")
    check_writable(out)
    made = datetime.now(UTC).isoformat(timespec="minutes")
    folders, commands = experiments.folders(scale, out), [f"gpbe run all --scale {scale}"] * bool(own.tables)
    if source is None:
        whole = page.gather(own, out, folders, (*commands, f"gpbe report --scale {scale}"), made)
    else:
        folders = {**experiments.packed_files(source), **folders}
        said = (*commands, f"gpbe report --from {source}")
        mine = own if own.tables or own.stages else None
        whole = page.gather(experiments.open_packed(source), out, folders, said, made, mine)
    path = page.write(out / "report.html", whole)
    if json:
        print_json({"report": str(path), "claims": page.records(whole.claims)})
    else:
        console().print(f"report: {path.resolve()}")
