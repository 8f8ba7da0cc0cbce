"""A results folder in one file: to keep beside the code, to send, and to go on from on another machine.

A packed file is a Parquet file of all rows, in the order of the chunks, with all that the folder knew (its manifest,
the list of chunks, the provenance of every part) and one checksum over everything. `scan`, `status` and `spec` read it
like a folder. `unpack` makes a folder of it again, complete or not, which the same sweep goes on from.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from gpbe.errors import InputError
from gpbe.files.atomic import refusal, write_atomic
from gpbe.store.folder import examine
from gpbe.store.index import name_of, read_index, to_bytes
from gpbe.store.manifest import NAME, Manifest, as_manifest, read_manifest, to_json
from gpbe.store.part import Damaged, check, encode

PART_OF = "part_of"
"""The column that tells the rows of one part from those of another; `scan` leaves it out."""
_COMPUTED = ("gpbe_part", "rows", "columns", "diverged", "sha256")
"""What a part says about itself is written anew when it is unpacked; the rest is kept."""


class Packed(NamedTuple):
    """What a packed file holds."""

    manifest: Manifest
    listed: pl.DataFrame
    """The list of chunks."""
    parts: list[dict[str, Any]]
    """What each part says about itself, in the order of the chunks."""
    data: bytes

    def rows(self) -> pl.DataFrame:
        """The table of all parts, with the column that tells them apart."""
        return pl.read_parquet(self.data)


def is_packed(path: Path) -> bool:
    """Is this a packed file, and no folder?"""
    return path.is_file()


def pack(folder: Path | str, target: Path | str) -> Path:
    """Write the valid parts of a results folder, complete or not, into one file; parts are verified first."""
    folder, target = Path(folder), Path(target)
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{folder}: is not a results folder (it has no {NAME}); run a sweep into it first")
    index = read_index(folder / manifest.index)
    known = frozenset(index["id"])
    paths = {
        int(path.stem, 16): (path, about)
        for path, about in examine(folder, known, manifest.hashes, verify=True)
        if not isinstance(about, Damaged)
    }
    found = [paths[number] for number in index["id"] if number in paths]
    if not found:
        raise InputError(f"{folder}: no chunk is finished yet; run the sweep first")
    tables = [
        pl.read_parquet(path).select(pl.lit(k, pl.UInt32).alias(PART_OF), pl.all()) for k, (path, _) in enumerate(found)
    ]
    chunks = index.select(pl.col("id").map_elements(name_of, pl.String), "steps", "group").to_dict(as_series=False)
    about = {
        "manifest": asdict(manifest),
        "chunks": chunks,
        "parts": [{k: v for k, v in about.items() if k not in _COMPUTED} for _, about in found],
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(target, error) from None
    write_atomic(target, encode(pl.concat(tables), about, level=19))
    return target


def read_packed(path: Path) -> Packed:
    """A packed file, after comparing it with its checksum."""
    try:
        data = path.read_bytes()
        about = check(data)
        manifest = as_manifest(about["manifest"])
        chunks = about["chunks"]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (Damaged, KeyError, TypeError) as error:
        reason = str(error) if isinstance(error, Damaged) else "it is one part, not a packed folder"
        raise InputError(f"{path}: is no packed results that can be used: {reason}") from None
    ids = pl.Series([int(name, 16) for name in chunks["id"]], dtype=pl.UInt64)
    index = pl.DataFrame({"id": ids, "steps": chunks["steps"], "group": chunks["group"]})
    return Packed(manifest, index, about["parts"], data)


def unpack(path: Path | str, folder: Path | str) -> int:
    """Make a results folder of a packed file, to go on from; returns how many parts were written.

    A folder that holds the same sweep already keeps what it has, and gets what it lacks.
    """
    path, folder = Path(path), Path(folder)
    packed = read_packed(path)
    here = read_manifest(folder)
    if here is not None and here.spec_hash != packed.manifest.spec_hash:
        raise InputError(f"{folder}: holds another sweep than {path}; name another folder")
    try:
        (folder / "parts").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(folder, error) from None
    written = 0
    for table, about in zip(packed.rows().partition_by(PART_OF, maintain_order=True), packed.parts, strict=True):
        target = folder / "parts" / f"{about['chunk']}.parquet"
        if not target.exists():
            write_atomic(target, encode(table.drop(PART_OF), about))
            written += 1
    if here is None:
        write_atomic(folder / packed.manifest.index, to_bytes(packed.listed))
        write_atomic(folder / NAME, to_json(packed.manifest))
    return written
