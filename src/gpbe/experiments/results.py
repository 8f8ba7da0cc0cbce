"""Where results are kept, and opening all that are there: folders of one's own at a scale, or packed files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import polars as pl

from gpbe import store
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError
from gpbe.experiments.experiment import Experiment, Scale
from gpbe.experiments.files import read
from gpbe.experiments.registry import DECLARED, NAMES, SCALES, STAGED, find
from gpbe.experiments.search import Search
from gpbe.experiments.study import DeclaredStudy

RESULTS = "results"
STAGES = {stage.name: name for name, staged in STAGED.items() for stage in staged.stages("paper")}
"""The experiment that each stage belongs to."""
REPLICATION = "replication"


def folder_of(name: str, scale: str, out: Path, own: bool = False) -> Path:
    """The results folder of an experiment of the paper at a scale, or of one's own.

    >>> folder_of("kolter", "quick", Path("out")).as_posix()
    'out/results/kolter-quick'
    >>> folder_of("mine", "quick", Path("out"), own=True).as_posix()
    'out/results/mine'
    """
    return Path(out) / RESULTS / (name if own else f"{name}-{scale}")


def stage_folder(name: str, scale: str, out: Path) -> Path:
    """The results folder of a stage, or of the sweep that a stage follows from. Only the smoke scale is another one; at
    the others the design is the same, and follows from the paper's scale.
    """
    if name in NAMES:
        return folder_of(name, "smoke" if scale == "smoke" else "paper", out)
    return folder_of(name, scale, out, own=scale != "smoke")


def folders(scale: str, out: Path) -> dict[str, Path]:
    """The results folders of the paper's experiments and of stages that are there, by name.

    >>> folders("quick", Path("nowhere"))
    {}
    """
    found = {name: folder_of(name, scale, out) for name in NAMES}
    found |= {name: stage_folder(name, scale, out) for name in STAGES}
    return {name: folder for name, folder in found.items() if (folder / "manifest.json").exists()}


def packed_files(folder: Path) -> dict[str, Path]:
    """The packed results in a folder (see `gpbe pack`), by name: stages, and studies at their largest scale.

    >>> packed_files(Path("results"))["kolter"].name  # in a clone of the repository
    'kolter-paper.parquet'
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: there is no such folder; name one with packed results, such as that of gpbe's repository "
            "(--from results)"
        )
    found = {name: folder / f"{name}.parquet" for name in STAGES}
    for name in NAMES:
        there = [path for scale in SCALES if (path := folder / f"{name}-{scale}.parquet").is_file()]
        found |= {name: there[-1]} if there else {}
    found = {name: path for name, path in found.items() if path.is_file()}
    if not found:
        raise InputError(f"{folder}: has no packed results of gpbe; make some with gpbe pack")
    return found


def open_results(scale: str, out: Path) -> Stored:
    """All results at a scale, and for what is not there the reason.

    >>> open_results("quick", Path("nowhere")).lacking["kolter"]
    'no results at the quick scale in nowhere; first: gpbe run kolter --scale quick'
    """
    return _opened(folders(scale, out), scale, f"at the {scale} scale in {out}", f" --scale {scale}")


def open_packed(folder: Path) -> Stored:
    """All packed results in a folder, and for what is not there the reason; each is compared with its checksum.

    >>> open_packed(Path("results")).tables["tde-bias"].collect().height  # in a clone of the repository
    20
    """
    return _opened(packed_files(folder), None, f"in {folder}", "")


def _opened(there: Mapping[str, Path], scale: str | None, where: str, option: str) -> Stored:
    tables: dict[str, pl.LazyFrame] = {}
    lacking, amounts = {}, {}
    for name in (*NAMES, *STAGES):
        command = f"gpbe run {STAGES.get(name, name)}{option}"
        if name not in there:
            if name in NAMES:
                lacking[name] = f"no results {where}; first: {command}"
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
    stages = {name: table for name, table in tables.items() if name in STAGES}
    return Stored({k: v for k, v in tables.items() if k not in stages}, scale, lacking, amounts, stages)


def planned(
    name: str, scale: str, out: Path, start: Path | None = None, imports: bool = False
) -> Iterator[tuple[Experiment, Path]]:
    """What `gpbe run NAME` runs, one after the other, each with its results folder.

    `all` are the paper's; a file has one's own; and of an experiment in stages the next one is made when the one before
    is done, from what is then stored in `out`, or packed in `start`. Where the evidence in `start` has chosen settings,
    `all` at the quick scale replicates these in place of the paper's sweeps of control. With `imports` a .toml file may
    name modules to import.

    >>> [(experiment, folder)] = planned("kolter", "smoke", Path("out"))
    >>> experiment.name, folder.as_posix()
    ('kolter', 'out/results/kolter-smoke')
    """
    if Path(name).suffix in (".toml", ".py"):
        for experiment in read(name, imports):
            if isinstance(experiment, Search):
                yield from _searched(experiment, scale, out)
            else:
                yield experiment, folder_of(experiment.name, scale, out, own=True)
    elif name in STAGED:
        yield from _staged(name, scale, out, start)
    else:
        again = name == "all" and scale == "quick" and _can_replicate(start)
        for each in NAMES if name == "all" else (name,):
            if not again or isinstance(DECLARED[each], DeclaredStudy):
                yield find(each, scale), folder_of(each, scale, out)
        if again:
            yield from _staged(REPLICATION, scale, out, start)


def _searched(search: Search, scale: str, out: Path) -> Iterator[tuple[Experiment, Path]]:
    """The rounds of a search, and the fresh runs of what it chose; each is made when those before it are done."""
    for stage in search.stages():
        tables = []
        for each in stage.after:
            folder = folder_of(each, scale, out, own=True)
            if not (status := store.status(folder)).complete:
                raise InputError(f"{folder} has {status.done:,} of {status.total:,} chunks; run the search again")
            tables.append(store.scan(folder))
        experiment = stage.build(tables)
        assert experiment is not None
        yield experiment, folder_of(stage.name, scale, out, own=True)


def _staged(name: str, scale: str, out: Path, start: Path | None) -> Iterator[tuple[Experiment, Path]]:
    """The stages of an experiment that have something to run."""
    for stage in STAGED[name].stages(cast(Scale, scale)):
        experiment = stage.build(_before(stage.after, scale, out, start))
        if experiment is not None:
            yield experiment, stage_folder(stage.name, scale, out)


def _before(stages: Sequence[str], scale: str, out: Path, start: Path | None) -> list[pl.LazyFrame]:
    """The tables of stages that are done, here or packed elsewhere."""
    tables = []
    for each in stages:
        folder = stage_folder(each, scale, out)
        packed = None if start is None else start / f"{folder.name}.parquet"
        if not (folder / "manifest.json").exists() and packed is not None and packed.exists():
            folder = packed
        first = f"first: gpbe run {STAGES.get(each, each)}{' --scale paper' if folder.stem == f'{each}-paper' else ''}"
        if not folder.exists():
            raise InputError(f"{folder}: there are no results yet; {first}")
        if not (status := store.status(folder)).complete:
            raise InputError(f"{folder} has {status.done:,} of {status.total:,} chunks; {first}")
        tables.append(store.scan(folder))
    return tables


def _can_replicate(start: Path | None) -> bool:
    """Are the stages that choose settings packed there, all of them complete?"""
    if start is None:
        return False
    files = [start / f"{name}.parquet" for name in STAGED[REPLICATION].stages("paper")[0].after]
    return all(file.exists() and store.status(file).complete for file in files)
