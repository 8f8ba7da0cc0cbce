"""Reading results, from a folder (also while a driver writes into it) or a packed file: how far, and their table."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from gpbe.errors import InputError
from gpbe.store.folder import examine
from gpbe.store.manifest import Manifest, read_chunks, read_manifest
from gpbe.store.packed import PART_OF, Packed, is_packed, read_packed
from gpbe.store.part import Damaged


@dataclass(frozen=True)
class Status:
    """How far a sweep is. Every chunk is one of done, failed and missing."""

    total: int
    """Chunks in the sweep."""
    done: int
    """Chunks with a valid part."""
    failed: int
    """Chunks without one whose last attempts failed; they are tried again at the next run."""
    missing: int
    """Chunks that did not run yet, or whose part is not valid."""
    invalid: int
    """Files among the parts that are damaged or do not belong there."""
    diverged: int
    """Rows of the table with `diverged_at` of zero or more, if it has such a column."""
    steps_done: int
    """Learning steps in the chunks that are done."""
    steps_total: int
    """Learning steps in all chunks."""
    seconds: float
    """Time that the workers spent on the chunks that are done, added up."""

    @property
    def complete(self) -> bool:
        """Whether every chunk is done."""
        return self.done == self.total


def status(folder: Path | str, *, verify: bool = False) -> Status:
    """How far the sweep in a folder is.

    Every part is compared with its checksum. One that was found whole before and has not changed since is not read
    again; with `verify` it is, since a disk may forget bits without changing the time of a file.

    >>> status("results/kolter-paper.parquet").complete  # in a clone of the repository
    True
    """
    folder = Path(folder)
    if is_packed(folder):
        return _packed_status(read_packed(folder))
    manifest, index = _open(folder)
    done: list[int] = []
    invalid = diverged = 0
    seconds = 0.0
    for path, finding in _examine(folder, manifest, index, verify):
        if isinstance(finding, Damaged):
            invalid += 1
            continue
        done.append(int(path.stem, 16))
        diverged += finding.get("diverged", 0)
        seconds += finding.get("seconds", 0.0)
    have = index["id"].is_in(pl.Series(done, dtype=pl.UInt64).implode())
    failed = len(_failed(folder) & set(index["id"].filter(~have)))
    return Status(
        total=index.height,
        done=len(done),
        failed=failed,
        missing=index.height - len(done) - failed,
        invalid=invalid,
        diverged=diverged,
        steps_done=int(index["steps"].filter(have).sum()),
        steps_total=manifest.steps,
        seconds=seconds,
    )


def _packed_status(packed: Packed) -> Status:
    done = pl.Series([int(about["chunk"], 16) for about in packed.parts], dtype=pl.UInt64)
    rows = packed.rows()
    return Status(
        total=packed.listed.height,
        done=len(done),
        failed=0,
        missing=packed.listed.height - len(done),
        invalid=0,
        diverged=int((rows["diverged_at"] >= 0).sum()) if "diverged_at" in rows.columns else 0,
        steps_done=int(packed.listed["steps"].filter(packed.listed["id"].is_in(done.implode())).sum()),
        steps_total=packed.manifest.steps,
        seconds=sum(about.get("seconds", 0.0) for about in packed.parts),
    )


def spec(folder: Path | str) -> dict[str, Any]:
    """The declaration whose results a folder or a packed file holds.

    >>> spec("results/kolter-paper.parquet")["name"]  # in a clone of the repository
    'kolter'
    """
    folder = Path(folder)
    return (read_packed(folder).manifest if is_packed(folder) else _open(folder)[0]).spec


def scan(folder: Path | str, *, verify: bool = False) -> pl.LazyFrame:
    """The table of all valid parts of a folder or a packed file, in the order of the sweep's chunks.

    `status` tells how many parts that are. Every part is compared with its checksum first, as by `status`.

    >>> scan("results/tde-bias-paper.parquet").collect().columns  # in a clone of the repository
    ['objective', 'state', 'value', 'true_value', 'td_error', 'bellman_error', 'variance', 'distance']
    """
    folder = Path(folder)
    if is_packed(folder):
        return read_packed(folder).rows().lazy().drop(PART_OF)
    manifest, index = _open(folder)
    found = {
        int(path.stem, 16): (path, finding["columns"])
        for path, finding in _examine(folder, manifest, index, verify)
        if not isinstance(finding, Damaged)
    }
    if not found:
        raise InputError(f"{folder}: no chunk is finished yet; run the sweep first")
    paths, columns = zip(*(found[number] for number in index["id"] if number in found), strict=True)
    for path, own in zip(paths, columns, strict=True):
        if own != columns[0]:
            raise InputError(f"{path} has other columns than {paths[0].name}; move it away and run the sweep again")
    return pl.scan_parquet(list(paths), glob=False)


def _open(folder: Path) -> tuple[Manifest, pl.DataFrame]:
    manifest = read_manifest(folder)
    if manifest is None:
        what = "is not a results folder (it has no manifest.json)" if folder.is_dir() else "there is no such folder"
        raise InputError(f"{folder}: {what}; run a sweep into it first")
    return manifest, read_chunks(folder, manifest)


def _examine(
    folder: Path, manifest: Manifest, index: pl.DataFrame, anew: bool
) -> Iterator[tuple[Path, dict[str, Any] | Damaged]]:
    if not (folder / "parts").is_dir():
        raise InputError(f"{folder}: has a manifest but no folder `parts`; run the sweep again")
    yield from examine(folder, frozenset(index["id"]), manifest.hashes, anew)


def _failed(folder: Path) -> set[int]:
    """Ids of the chunks with a record of failure."""
    numbers = set()
    if (folder / "failed").is_dir():
        for name in os.listdir(folder / "failed"):
            try:
                numbers.add(int(name.removesuffix(".json"), 16))
            except ValueError:  # not ours
                continue
    return numbers
