"""Where results are kept, and opening all that are there at a scale."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from gpbe import store
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError
from gpbe.experiments.experiment import Experiment, Scale
from gpbe.experiments.files import read
from gpbe.experiments.registry import NAMES, STAGED, find

RESULTS = "results"


def folder_of(name: str, scale: str, out: Path, own: bool = False) -> Path:
    """The results folder of an experiment of the paper at a scale, or of one's own."""
    return out / RESULTS / (name if own else f"{name}-{scale}")


def folders(scale: str, out: Path) -> dict[str, Path]:
    """The results folders of the paper's experiments that are there, by name."""
    found = {name: folder_of(name, scale, out) for name in NAMES}
    return {name: folder for name, folder in found.items() if (folder / "manifest.json").exists()}


def open_results(scale: str, out: Path) -> Stored:
    """All results at a scale, and for what is not there the reason."""
    tables, lacking, amounts = {}, {}, {}
    there = folders(scale, out)
    for name in NAMES:
        command = f"gpbe run {name} --scale {scale}"
        if name not in there:
            lacking[name] = f"no results at the {scale} scale in {out}; first: {command}"
            continue
        try:
            status = store.status(there[name])
        except InputError as error:
            lacking[name] = str(error)
            continue
        if not status.complete:
            lacking[name] = f"{there[name]} has {status.done:,} of {status.total:,} chunks; the rest: {command}"
        if status.done:
            amounts[name] = f"{status.steps_done:,} {store.spec(there[name]).get('unit', 'steps')}"
            tables[name] = store.scan(there[name])
    return Stored(tables, scale, lacking, amounts)


def planned(name: str, scale: str, out: Path, imports: bool = False) -> Iterator[tuple[Experiment, Path]]:
    """What `gpbe run NAME` runs, one after the other, each with its results folder.

    `all` are the paper's; a file has one's own; and of an experiment in stages the next one is made when the one before
    is done, from what is then stored. With `imports` a .toml file may name modules to import.
    """
    if Path(name).suffix in (".toml", ".py"):
        for experiment in read(name, imports):
            yield experiment, folder_of(experiment.name, scale, out, own=True)
    elif name in STAGED:
        yield from _staged(name, scale, out)
    else:
        for each in NAMES if name == "all" else (name,):
            yield find(each, scale), folder_of(each, scale, out)


def _staged(name: str, scale: str, out: Path) -> Iterator[tuple[Experiment, Path]]:
    """The stages of an experiment. Only the smoke scale is another one; at the others the design is the same."""
    for stage in STAGED[name].stages(cast(Scale, scale)):
        before = [store.scan(folder_of(each, scale, out, own=scale != "smoke")) for each in stage.after]
        yield stage.build(before), folder_of(stage.name, scale, out, own=scale != "smoke")
