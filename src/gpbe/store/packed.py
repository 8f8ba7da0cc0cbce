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
from gpbe.files.reading import read_bytes
from gpbe.files.tables import MOST, decode
from gpbe.store.folder import examine
from gpbe.store.index import NAME, SCHEMA, file_of, name_of, to_bytes
from gpbe.store.manifest import Manifest, as_manifest, read_chunks, read_manifest, to_json
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
        return decode(self.data)


def is_packed(path: Path) -> bool:
    """Is this a packed file, and no folder?"""
    return path.is_file()


def pack(folder: Path | str, target: Path | str) -> Path:
    """Write the valid parts of a results folder, complete or not, into one file; parts are verified first.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "kolter"
    >>> _ = unpack("results/kolter-paper.parquet", folder)  # in a clone of the repository
    >>> pack(folder, folder.with_suffix(".parquet")).name
    'kolter.parquet'
    """
    folder, target = Path(folder), Path(target)
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{folder}: is not a results folder (it has no {NAME}); run a sweep into it first")
    index = read_chunks(folder, manifest)
    known = frozenset(index["id"])
    paths = {
        int(path.stem, 16): (path, about)
        for path, about in examine(folder, known, manifest.hashes, anew=True)
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
        data = read_bytes(path, MOST)
        about = check(data)
        if "manifest" not in about:
            raise Damaged("it is one part, not a packed folder")
        manifest, index = as_manifest(about["manifest"]), _listed(about.get("chunks"))
        _check_parts(about.get("parts"), index)
        if (file_of(index), index.height) != (manifest.index, manifest.chunks):
            raise Damaged("it lists other chunks than its manifest")
    except (Damaged, InputError) as error:
        reason = error if isinstance(error, Damaged) else f"it {error}"
        raise InputError(f"{path}: is no packed results that can be used: {reason}") from None
    return Packed(manifest, index, about["parts"], data)


def _listed(chunks: Any) -> pl.DataFrame:
    """The list of chunks, of which a packed file has the ids as they are written."""
    try:
        ids = pl.Series([int(name, 16) for name in chunks["id"]], dtype=pl.UInt64)
        return pl.DataFrame({"id": ids, "steps": chunks["steps"], "group": chunks["group"]}, schema=SCHEMA)
    except (KeyError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise Damaged("its list of chunks cannot be read") from None


def _check_parts(parts: Any, index: pl.DataFrame) -> None:
    """Every part is of another chunk of the sweep. Their names become those of files."""
    known = set(map(name_of, index["id"]))
    names = [about.get("chunk") if isinstance(about, dict) else None for about in parts or ()]
    if not isinstance(parts, list) or not known.issuperset(names) or len(set(names)) < len(names):
        raise Damaged("it has parts of no chunk of its sweep")


def unpack(path: Path | str, folder: Path | str) -> int:
    """Make a results folder of a packed file, to go on from; returns how many parts were written.

    A folder that holds the same sweep already keeps what it has, and gets what it lacks.

    >>> import tempfile
    >>> unpack("results/tde-bias-paper.parquet", tempfile.mkdtemp())  # in a clone of the repository
    1
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
