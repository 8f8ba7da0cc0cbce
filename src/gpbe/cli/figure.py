"""`gpbe figure` and `gpbe report`: drawings of stored results, and the page that tells what they show."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gpbe.cli.options import Json, Scale
from gpbe.cli.results import RESULTS, folder_of
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.errors import InputError

_FIRST = "first: gpbe run all"


def figure(
    name: Positional[str],
    scale: Scale = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Draw a figure of the paper, or all of them, from what `gpbe run` has stored; writes PNG, PDF and the table.

    Args:
        name: a name from `gpbe list figures`, or `all`
        scale: which results
        out: the folder to write into, and in which `results` are looked for
        json: print JSON
    """
    from gpbe import figures
    from gpbe.figures.control import CONTROL_FIGURES

    names = [each for each in (*figures.FIGURES, *CONTROL_FIGURES) if name in ("all", each)]
    if not names:
        figures.find(name, also=tuple(CONTROL_FIGURES))
    if (out / RESULTS).is_dir():
        check_writable(out)
    sweeps = _open_sweeps(scale, out) if set(names) & set(CONTROL_FIGURES) else None
    written, skipped = draw_all(names, sweeps, scale, out)
    if not written:
        raise InputError(skipped.get(name, f"no results at the {scale} scale in {out}; {_FIRST}"))
    if json:
        print_json(written)
        return
    from rich.table import Table

    table = Table("figure", "from", "seconds", "files", box=None, pad_edge=False)
    for row in written:
        stem = row["files"][0].removesuffix(".png")
        kinds = ",".join(Path(f).suffix.lstrip(".") for f in row["files"])
        table.add_row(row["figure"], row["from"], f"{row['seconds']:.1f}", f"{stem}.{{{kinds}}}")
    console().print(table)
    for each, why in skipped.items():
        console().print(f"{each}: not drawn; {why}")


def report(
    scale: Scale = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Draw every figure, and write one HTML page with all of them and which claims of the paper the results support.

    Args:
        scale: which results
        out: the folder with `results`, into which figures, their tables and report.html are written
        json: print JSON: where it is, and the claims with their verdicts
    """
    from gpbe import experiments, figures
    from gpbe import report as page
    from gpbe.figures.control import CONTROL_FIGURES

    folders = {name: folder for name in experiments.NAMES if (folder := _stored(name, scale, out))}
    if not folders:
        raise InputError(f"there is nothing to report: no results at the {scale} scale in {out}; {_FIRST}")
    check_writable(out)
    sweeps = _open_sweeps(scale, out)
    written, missing = draw_all([*figures.FIGURES, *CONTROL_FIGURES], sweeps, scale, out)
    also = [row["figure"] for row in written if row["figure"] in figures.FIGURES]
    commands = (f"gpbe run all --scale {scale}", f"gpbe report --scale {scale}")
    made = datetime.now(UTC).isoformat(timespec="minutes")
    whole = page.gather(sweeps, out, folders, commands, made, also, missing)
    path = out / "report.html"
    page.write(path, whole)
    if json:
        claims = page.claims_table(whole.claims).to_dicts() if whole.claims else []
        print_json({"report": str(path), "claims": claims})
    else:
        console().print(f"report: {path.resolve()}")


def draw_all(names: list[str], sweeps: Any, scale: str, out: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Draw what the stored results allow: what was written, and why the rest was not."""
    from gpbe import figures

    written, skipped = [], {}
    for name in names:
        started = time.perf_counter()
        try:
            source, paths = (
                _draw_study(name, scale, out) if name in figures.FIGURES else _draw_control(name, sweeps, scale, out)
            )
        except InputError as error:
            skipped[name] = str(error)
            continue
        seconds = round(time.perf_counter() - started, 2)
        written.append(
            {"figure": name, "from": source, "scale": scale, "seconds": seconds, "files": [str(p) for p in paths]}
        )
    return written, skipped


def _draw_study(name: str, scale: str, out: Path) -> tuple[str, list[Path]]:
    from gpbe import figures, store

    study = figures.FIGURES[name].study
    folder, command = _stored(study, scale, out), f"gpbe run {study} --scale {scale}"
    if folder is None:
        raise InputError(f"no results at the {scale} scale in {out}; first: {command}")
    status = store.status(folder)
    if not status.complete:
        raise InputError(f"{folder} has {status.done:,} of {status.total:,} chunks; the rest: {command}")
    rows = store.scan(folder).collect()
    return f"{status.steps_done:,} {store.spec(folder)['unit']}", figures.make(name, rows, out)


def _draw_control(name: str, sweeps: Any, scale: str, out: Path) -> tuple[str, list[Path]]:
    from gpbe.figures import control

    if sweeps is None:
        needed = control.CONTROL_FIGURES[name].experiments[-1]
        raise InputError(f"no results at the {scale} scale in {out}; first: gpbe run {needed} --scale {scale}")
    return "stored runs", control.make(name, sweeps, out)


def _stored(name: str, scale: str, out: Path) -> Path | None:
    """The results folder of one of the paper's experiments, if it is there."""
    folder = folder_of(name, scale, out, own=False)
    return folder if (folder / "manifest.json").exists() else None


def _open_sweeps(scale: str, out: Path) -> Any:
    """The runs of control that are there so far."""
    from gpbe import store
    from gpbe.experiments.control import MEMBERS
    from gpbe.figures.control import Sweeps

    folders = {name: _stored(name, scale, out) for name in MEMBERS}
    runs = {
        name: store.scan(folder, verify=False)
        for name, folder in folders.items()
        if folder is not None and store.status(folder).done
    }
    return Sweeps(runs, scale=scale) if runs else None
