"""`gpbe run` and `gpbe status`: experiments into results folders."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gpbe.cli.options import Json, Number, Scale
from gpbe.cli.results import RESULTS, folder_of
from gpbe.cli.terminal import check_writable, console, print_json
from gpbe.errors import InputError
from gpbe.workers import prepare


def run(
    name: Positional[str],
    scale: Scale = "quick",
    on: str = "local",
    workers: Number = None,
    out: Path = Path("out"),
    estimate: bool = False,
    json: Json = False,
) -> None:
    """Run an experiment into a results folder, or the rest of it; it can be interrupted at any time and run again.

    Args:
        name: an experiment from `gpbe list experiments`, `all` of these, or a .toml file with one of your own; also a
            figure that is not about control, which is computed and drawn in one go
        scale: smoke takes seconds, quick minutes on two cores, paper is as large as in the paper
        on: local, ray, or ray:ADDRESS (such as ray:auto) for a cluster
        workers: how many processes; one for each core if left out
        out: results go into the folder `results` in it
        estimate: only tell what it would cost on this machine
        json: print JSON
    """
    run_and_show(name, scale, on, workers, out, estimate, json)


def status(results: Positional[Path] = Path("out"), verify: bool = False, json: Json = False) -> None:
    """Tell how far experiments are: chunks done, missing, failed, and runs that diverged.

    Args:
        results: a results folder, or a folder with several in its `results`
        verify: compare every part with its checksum
        json: print JSON
    """
    show_status(results, verify, json)


def find_sweeps(name: str, scale: str) -> list[Any]:
    """An experiment of the paper, all of them, or one's own in a file."""
    from gpbe.experiments import control, sweeps

    if Path(name).suffix == ".toml":
        return [sweeps.read(name)]
    if name == "all":
        return [control.sweep(each, scale) for each in control.MEMBERS]  # pyright: ignore[reportArgumentType]
    if name not in control.MEMBERS:
        import difflib

        from gpbe import figures

        known = (*control.MEMBERS, *figures.FIGURES)
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}, all, or a .toml file"
        raise InputError(f"there is no experiment {name!r}; {hint}")
    return [control.sweep(name, scale)]  # pyright: ignore[reportArgumentType]


def run_and_show(name: str, scale: str, on: str, workers: int | None, out: Path, estimate: bool, json: bool) -> None:
    """Everything that can be wrong is found before anything is run."""
    from gpbe import figures

    if name in figures.FIGURES:  # computed in seconds or minutes, in one go
        from gpbe.cli.figure import draw_and_show

        draw_and_show(name, scale, out, json)
        return
    prepare()
    sweeps_ = find_sweeps(name, scale)
    if estimate:
        _estimate(sweeps_, workers, json)
        return
    executor = _executor(on, workers)
    check_writable(out)
    from gpbe import sweep
    from gpbe.experiments.sweeps import RUNNER

    reports, own = [], Path(name).suffix == ".toml"
    for each in sweeps_:
        folder = folder_of(each.name, scale, out, own)
        report = sweep.run(
            folder, each.spec(), each.chunks(), RUNNER, executor=executor, display=sweep.progress(each.name)
        )
        reports.append({"experiment": each.name, "folder": str(folder), **asdict(report.counts)})
        if report.interrupted:
            raise InputError(f"interrupted; the same command goes on from {folder}")
    if json:
        print_json(reports)
        return
    for report in reports:
        rate = report["steps_done"] / max(report["seconds"], 1e-9) if not report["skipped"] else report["rate"]
        took = timedelta(seconds=round(report["seconds"]))
        failed = f", {report['failed']} failed (gpbe status tells which)" if report["failed"] else ""
        console().print(
            f"{report['experiment']}: {report['skipped'] + report['done']:,} of {report['total']:,} chunks, "
            f"{report['steps_done']:,} steps, {took}, {rate:,.0f} steps/s{failed}: {report['folder']}"
        )


def _executor(on: str, count: int | None) -> Any:
    from gpbe import sweep

    where, _, address = on.partition(":")
    if where == "local" and not address:
        return sweep.Local(count)
    if where == "ray":
        return sweep.Ray(address or None, count)
    raise InputError(f"--on {on} is not a place to run; use local, ray, or ray:ADDRESS such as ray:auto")


def _estimate(sweeps_: list[Any], count: int | None, json: bool) -> None:
    """Steps, and time from a short calibration: how fast QRC is here, and how the others compare to it."""
    import os

    from gpbe.experiments.cost import RELATIVE_SPEED, calibrate

    cores = count or len(os.sched_getaffinity(0))
    rates = {domain: calibrate(domain) for domain in sorted({d for s in sweeps_ for d in s.domains})}
    rows = []
    for s in sweeps_:
        seconds = sum(
            swept.count * s.runs * s.steps / (rates[domain] * RELATIVE_SPEED[swept.algorithm])
            for domain in s.domains
            for swept in s.algorithms
        )
        rows.append(
            {"experiment": s.name, "settings": s.settings, "steps": s.total_steps, "core_hours": seconds / 3600}
        )
    if json:
        print_json({"steps_per_second": rates, "workers": cores, "experiments": rows})
        return
    from rich.table import Table

    table = Table("experiment", "settings", "steps", "core hours", f"on {cores} workers", box=None, pad_edge=False)
    for row in rows:
        wall = timedelta(seconds=round(row["core_hours"] * 3600 / cores))
        table.add_row(
            row["experiment"], f"{row['settings']:,}", f"{row['steps']:,}", f"{row['core_hours']:,.2f}", str(wall)
        )
    console().print(table)
    said = ", ".join(f"{domain} {rate:,.0f}" for domain, rate in rates.items())
    console().print(f"steps a second of QRC on one core of this machine, measured now: {said}")


def show_status(what: Path, verify: bool, json: bool) -> None:
    from gpbe import store

    folders = [what] if (what / "manifest.json").exists() else sorted(what.glob(f"{RESULTS}/*/")) or [what]
    rows: list[dict[str, Any]] = [
        {"folder": str(folder)} | asdict(store.status(folder, verify=verify)) for folder in folders
    ]
    if json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table(
        "results",
        "done",
        "missing",
        "failed",
        "invalid",
        "diverged runs",
        "steps",
        "worker time",
        box=None,
        pad_edge=False,
    )
    for row in rows:
        done = f"{row['done']:,} of {row['total']:,}"
        numbers = (f"{row[k]:,}" for k in ("missing", "failed", "invalid", "diverged"))
        spent = str(timedelta(seconds=round(row["seconds"])))
        table.add_row(row["folder"], done, *numbers, f"{row['steps_done']:,}", spent)
    console().print(table)
