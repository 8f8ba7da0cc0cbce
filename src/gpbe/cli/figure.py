"""`gpbe figure` and `gpbe report`: drawings, and the page that tells what they show."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gpbe.cli.options import Json, Scale
from gpbe.cli.results import folder_of
from gpbe.cli.terminal import check_writable, console, print_json, progress
from gpbe.errors import InputError


def figure(
    name: Positional[str],
    scale: Scale = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Draw a figure of the paper, or all of them; writes PNG, PDF and the table behind it.

    Figures of control are drawn from results that `gpbe run` has stored; the others are computed, which takes seconds.

    Args:
        name: a name from `gpbe list figures`, or `all`
        scale: smoke takes seconds, quick a minute or so on two cores, paper is as large as in the paper
        out: the folder to write into, and in which `results` are looked for
        json: print JSON
    """
    draw_and_show(name, scale, out, json)


def report(
    scale: Scale = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Write one HTML page with every figure, the tables behind them, and which claims of the paper the results support.

    Args:
        scale: which results
        out: the folder with `results` and figures, into which report.html is written
        json: print JSON: where it is, and the claims with their verdicts
    """
    write_report(scale, out, json)


def stored(scale: str, out: Path) -> dict[str, Path]:
    """Results folders of the paper's control experiments that are there, by experiment."""
    from gpbe.experiments.control import MEMBERS

    folders = {name: folder_of(name, scale, out, own=False) for name in MEMBERS}
    return {name: folder for name, folder in folders.items() if (folder / "manifest.json").exists()}


def open_sweeps(folders: dict[str, Path], scale: str) -> Any:
    from gpbe import store
    from gpbe.figures.control import Sweeps

    runs = {}
    for name, folder in folders.items():
        if store.status(folder).done:
            runs[name] = store.scan(folder, verify=False)
    return Sweeps(runs, scale=scale) if runs else None


def draw_and_show(name: str, scale: Any, out: Path, json: bool) -> None:
    from gpbe import figures
    from gpbe.figures.control import CONTROL_FIGURES

    check_writable(out)
    control = [each for each in CONTROL_FIGURES if name in ("all", each)]
    others = [each for each in figures.FIGURES if name in ("all", each)]
    if not control and not others:
        figures.find(name, also=tuple(CONTROL_FIGURES))
    written, skipped = [], {}
    for each in others:
        spec, started = figures.FIGURES[each], time.perf_counter()
        with progress(each, spec.work[scale], spec.unit) as advance:
            paths = figures.make(each, scale, out, advance)
        written.append(_row(each, f"{spec.work[scale]:,} {spec.unit}", scale, started, paths))
    if control:
        written += _draw_control(control, scale, out, skipped, only=name != "all")
    if json:
        print_json(written)
        return
    from rich.table import Table

    table = Table("figure", "size", "seconds", "files", box=None, pad_edge=False)
    for row in written:
        stem = row["files"][0].removesuffix(".png")
        kinds = ",".join(Path(f).suffix.lstrip(".") for f in row["files"])
        table.add_row(row["figure"], row["size"], f"{row['seconds']:.1f}", f"{stem}.{{{kinds}}}")
    console().print(table)
    for each, why in skipped.items():
        console().print(f"{each}: not drawn; {why}")


def _draw_control(names: list[str], scale: str, out: Path, skipped: dict[str, str], only: bool) -> list[dict[str, Any]]:
    from gpbe.figures import control

    sweeps, written = open_sweeps(stored(scale, out), scale), []
    for each in names:
        started = time.perf_counter()
        needed = control.CONTROL_FIGURES[each].experiments
        try:
            if sweeps is None:
                raise InputError(f"no results at the {scale} scale in {out}; first: gpbe run {needed[-1]}")
            paths = control.make(each, sweeps, out)
        except InputError as error:
            if only:
                raise
            skipped[each] = str(error)
            continue
        written.append(_row(each, "stored runs", scale, started, paths))
    return written


def _row(name: str, size: str, scale: str, started: float, paths: list[Path]) -> dict[str, Any]:
    seconds = round(time.perf_counter() - started, 2)
    return {"figure": name, "size": size, "scale": scale, "seconds": seconds, "files": [str(p) for p in paths]}


def write_report(scale: str, out: Path, json: bool) -> None:
    """The tables that the page points to are written first."""
    from gpbe import report

    folders = stored(scale, out)
    sweeps = open_sweeps(folders, scale)
    if sweeps is None and not any(out.glob("*.png")):
        raise InputError(f"there is nothing to report in {out}; first: gpbe run all, gpbe figure all")
    if sweeps is not None:
        _draw_control(_all_control(), scale, out, {}, only=False)
    commands = (f"gpbe run all --scale {scale}", f"gpbe figure all --scale {scale}", f"gpbe report --scale {scale}")
    made = datetime.now(UTC).isoformat(timespec="minutes")
    whole = report.gather(sweeps, out, folders=folders, commands=commands, made=made)
    path = out / "report.html"
    report.write(path, whole)
    if json:
        print_json(
            {"report": str(path), "claims": report.claims_table(whole.claims).to_dicts() if whole.claims else []}
        )
    else:
        console().print(f"report: {path.resolve()}")


def _all_control() -> list[str]:
    from gpbe.figures.control import CONTROL_FIGURES

    return list(CONTROL_FIGURES)
