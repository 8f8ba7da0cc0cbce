"""`gpbe run` and `gpbe status`: experiments into results folders."""

from contextlib import suppress
from dataclasses import asdict
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import Positional

from gpbe.cli.options import ExperimentName, Folder, Into, Json, Number, Real, Results, Scale
from gpbe.cli.terminal import Stopped, check_writable, console, print_json
from gpbe.errors import InputError
from gpbe.process import prepare
from gpbe.wording import counted, duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpbe.experiments import Experiment
    from gpbe.runner import Local, Ray


def run(
    name: Positional[ExperimentName],
    scale: Scale = "quick",
    on: str = "local",
    workers: Number = None,
    patience: Real = None,
    out: Into = Path("out"),
    start: Folder = None,
    estimate: bool = False,
    imports: bool = False,
    json: Json = False,
) -> None:
    """Run an experiment into a results folder, or the rest of it; it can be interrupted at any time and run again.

    Args:
        name: an experiment from `gpbe list experiments`, `all` of these, or a file with your own: a sweep in a .toml
            file, or everything that a .py file makes when it is executed
        scale: smoke takes seconds, quick minutes on two cores, paper is as large as in the paper
        on: local, ray, or ray:ADDRESS (such as ray:auto) for a cluster
        workers: how many processes; one for each core if left out
        patience: seconds that a chunk may take before its worker is ended and it is tried again; no limit if left out
        out: results go into the folder `results` in it
        start: a folder with packed results (see `gpbe pack`) to go on from, where `out` has none yet; if evidence there
            has chosen settings, `all` at the quick scale replicates these in place of the sweeps of control
        estimate: only tell what it would cost on this machine
        imports: let a .toml file name environments and algorithms in modules, which are imported
        json: print JSON
    """
    prepare()
    from gpbe import experiments, runner

    if start is not None and not start.is_dir():
        raise InputError(f"--start {start}: there is no such folder; name one with packed results (see gpbe pack)")
    chosen = experiments.planned(name, scale, out, start, imports)
    if estimate:
        _estimate([next(chosen)[0]] if name in experiments.STAGED else _known(chosen), workers, json)
        return
    executor = executor_on(on, workers)
    if patience is not None and not patience > 0:
        raise InputError(f"--patience {patience:g} should be more than 0 seconds")
    check_writable(out)
    reports = []
    for each, folder in chosen:
        _unpack(start, folder)
        display = runner.progress(each.name, unit=each.unit)
        report = experiments.run(
            each, folder, executor=executor, display=display, patience=inf if patience is None else patience
        )
        row = {"experiment": each.name, "unit": each.unit, "folder": str(folder), **asdict(report.counts)}
        if report.interrupted:
            raise Stopped(f"interrupted; the same command goes on from {folder}", report.signal)
        reports.append(row)
        if not json:
            console().print(_said(row))
        if row["failed"] and name in experiments.STAGED:
            break
    if json:
        print_json(reports)
    failed = sum(row["failed"] for row in reports)
    if failed:
        raise InputError(f"{failed:,} chunks failed (gpbe status {out} counts them); the same command tries them again")


def _known(chosen: "Iterator[tuple[Experiment, Path]]") -> "list[Experiment]":
    """The experiments that are known before anything runs; later rounds of a search depend on earlier ones."""
    found = [next(chosen)[0]]
    with suppress(InputError):
        found.extend(each for each, _ in chosen)
    return found


def _unpack(start: Path | None, folder: Path) -> None:
    """Begin with the packed results of a folder, if there are any and it has none."""
    from gpbe import store

    packed = None if start is None else start / f"{folder.name}.parquet"
    if packed is not None and packed.exists() and not (folder / "manifest.json").exists():
        store.unpack(packed, folder)


def pack(results: Positional[Results], target: Positional[Into]) -> None:
    """Pack results into one file each, verified and compressed, to keep or to go on from elsewhere.

    Of several results folders, one that has nothing yet is left out.

    Args:
        results: a results folder, or a folder with several in its `results`
        target: the folder to write the files into; each has the name of its results folder
    """
    from gpbe import store

    folders = _folders(results)
    check_writable(target)
    begun = [folder for folder in folders if store.status(folder).done]
    for folder in begun or folders:
        file = store.pack(folder, target / f"{folder.name}.parquet")
        console().print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")
    for folder in folders:
        if folder not in begun:
            console().print(f"{folder}: left out, since no chunk is finished yet")


def _folders(results: Path) -> list[Path]:
    """A results folder or packed file itself, or those in the folder `results` of another."""
    from gpbe.experiments.results import RESULTS

    itself = results.is_file() or (results / "manifest.json").exists()
    return [results] if itself else sorted(results.glob(f"{RESULTS}/*/")) or [results]


def _said(row: dict[str, Any]) -> str:
    """One line that sums up a run: chunks, work, speed, time, failures and the folder."""
    rate = row["steps_done"] / max(row["seconds"], 1e-9) if not row["skipped"] else row["rate"]
    chunks = f"{row['skipped'] + row['done']:,} of {row['total']:,} chunk{'s' if row['total'] > 1 else ''}"
    failed = f", {row['failed']:,} failed" if row["failed"] else ""
    speed = f" ({rate:,.0f}/s)" if row["done"] else ""
    took = duration(row["seconds"])
    return f"{row['experiment']}: {chunks}, {row['steps_done']:,} {row['unit']}{speed}, {took}{failed}: {row['folder']}"


def executor_on(on: str, count: int | None) -> "Local | Ray":
    """Where --on says that work is done."""
    from gpbe import runner

    where, _, address = on.partition(":")
    if where == "local" and not address:
        return runner.Local(count)
    if where == "ray":
        return runner.Ray(address or None, count)
    raise InputError(f"--on {on} is not a place to run; use local, ray, or ray:ADDRESS such as ray:auto")


def _estimate(chosen: "Sequence[Experiment]", count: int | None, json: bool) -> None:
    """What experiments cost here, calibrated now."""
    from gpbe.cli.speed import cores, measure_speed
    from gpbe.experiments.cost import cost_of

    speed = measure_speed({d for e in chosen for d in getattr(e, "domains", ())}, keep=False)
    workers = cores(count)
    rows = []
    for each in chosen:
        cost = cost_of(each, speed)
        known = isfinite(cost.core_seconds)
        times = {"core_seconds": cost.core_seconds, "seconds": cost.seconds(workers)} if known else {}
        rows.append({"experiment": each.name, "work": each.work, "unit": each.unit, **times})
    if json:
        print_json({"steps_per_second": speed.rates, "workers": workers, "experiments": rows})
        return
    from rich.table import Table

    table = Table("experiment", "work", "on one core", f"on {counted(workers, 'worker')}", box=None, pad_edge=False)
    for row in rows:
        times = (duration(max(1, row[k])) if k in row else "unknown" for k in ("core_seconds", "seconds"))
        table.add_row(row["experiment"], f"{row['work']:,} {row['unit']}", *times)
    console().print(table)
    said = ", ".join(f"{domain} {rate:,.0f}" for domain, rate in speed.rates.items())
    if said:
        console().print(f"steps a second of QRC on one core of this machine, measured now: {said}")


def status(results: Positional[Results] = Path("out"), verify: bool = False, json: Json = False) -> None:
    """Tell how far experiments are: chunks done, missing, failed, and runs that diverged.

    Args:
        results: a results folder, or a folder with several in its `results`
        verify: compare every part with its checksum again, also those that were found whole before
        json: print JSON
    """
    from gpbe import store

    folders = _folders(results)
    rows: list[dict[str, Any]] = [
        {"folder": str(folder), "unit": store.spec(folder).get("unit", "steps")}
        | asdict(store.status(folder, verify=verify))
        for folder in folders
    ]
    if json:
        print_json(rows)
        return
    from rich.table import Table

    columns = ("results", "done", "missing", "failed", "invalid", "diverged runs", "work", "worker time")
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        done = f"{row['done']:,} of {row['total']:,}"
        numbers = (f"{row[k]:,}" for k in ("missing", "failed", "invalid", "diverged"))
        work = f"{row['steps_done']:,} {row['unit']}"
        table.add_row(row["folder"], done, *numbers, work, duration(row["seconds"]))
    console().print(table)
