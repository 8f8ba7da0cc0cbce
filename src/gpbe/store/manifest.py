"""The manifest of a results folder: which sweep it holds, and which it held before it grew."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.files.reading import parse_json, read_bytes
from gpbe.store.identity import canonical, digest, versions
from gpbe.store.index import NAME, ChunkLike, file_of, list_chunks, name_of, read_index, to_bytes
from gpbe.store.part import SCHEMA

_INDEX = re.compile(r"chunks-[0-9a-f]{16}\.parquet")
_MOST = 2**28


@dataclass(frozen=True)
class Manifest:
    """What a results folder says about itself.

    >>> import tempfile
    >>> from gpbe import store
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = store.unpack("results/tde-bias-paper.parquet", folder)  # in a clone of the repository
    >>> read_manifest(folder).chunks
    1
    """

    schema: int
    """Version of the layout of the folder and its parts."""
    spec: dict[str, Any]
    """The declaration that the chunks came from."""
    spec_hash: str
    """SHA-256 of the spec and the runner."""
    runner: str
    """The function that computes a chunk, as package.module:function."""
    chunks: int
    """How many chunks there are."""
    steps: int
    """Learning steps in all of them."""
    index: str
    """The file beside this one that lists the chunks."""
    created: str
    """When this manifest was written first, in UTC."""
    versions: dict[str, str]
    """The versions of Python and the libraries at that time."""
    history: tuple[dict[str, Any], ...] = ()
    """The manifests that this one replaced, oldest first."""

    @staticmethod
    def of(spec: dict[str, Any], runner: str, index: pl.DataFrame) -> "Manifest":
        """The manifest of a sweep that starts now."""
        return Manifest(
            schema=SCHEMA,
            spec=json.loads(canonical(spec, "the spec")),
            spec_hash=digest({"spec": spec, "runner": runner}, "the spec"),
            runner=runner,
            chunks=index.height,
            steps=int(index["steps"].sum()),
            index=file_of(index),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=dict(versions()),
        )

    @property
    def hashes(self) -> frozenset[str]:
        """Spec hashes that parts of this folder may carry."""
        return frozenset({self.spec_hash, *(old["spec_hash"] for old in self.history)})

    def after(self, old: "Manifest") -> "Manifest":
        """This manifest as the successor of an old one."""
        before = {key: value for key, value in asdict(old).items() if key != "history"}
        return replace(self, history=(*old.history, before))

    def write(self, folder: Path, index: pl.DataFrame, scratch: Path) -> None:
        """Put the manifest in force: first the list that it names, then itself."""
        write_atomic(folder / self.index, to_bytes(index), scratch)
        write_atomic(folder / NAME, to_json(self), scratch)


def to_json(manifest: Manifest) -> bytes:
    """A manifest as it is kept in a file."""
    return json.dumps(asdict(manifest), indent=2).encode() + b"\n"


def as_manifest(known: Any) -> Manifest:
    """A manifest from what was kept of it, if that is whole: what is in it must fit its own digest."""
    try:
        manifest = Manifest(**{**known, "history": tuple(known["history"])})
        whole = all(map(_is_whole, (manifest, *(Manifest(**old) for old in manifest.history))))
    except (TypeError, KeyError):
        whole, manifest = False, None
    if manifest is None or not whole:
        raise InputError("is not a manifest, or was edited")
    return manifest


def _is_whole(m: Manifest) -> bool:
    texts = (m.runner, m.index, m.created)
    counts = (m.schema, m.chunks, m.steps)
    plain = isinstance(m.spec, dict) and isinstance(m.versions, dict) and all(isinstance(t, str) for t in texts)
    return (
        plain
        and all(type(n) is int and n >= 0 for n in counts)
        and _INDEX.fullmatch(m.index) is not None
        and m.spec_hash == digest({"spec": m.spec, "runner": m.runner})
    )


def read_manifest(folder: Path) -> Manifest | None:
    """The folder's manifest, if it has one."""
    file = folder / NAME
    if not os.path.lexists(file):
        return None
    try:
        known = parse_json(read_bytes(file, _MOST), _MOST)
        found = known.get("schema") if isinstance(known, dict) else None
        if isinstance(found, int) and found != SCHEMA:
            raise InputError(f"has schema version {found}; this gpbe reads version {SCHEMA}")
        return as_manifest(known)
    except InputError as error:
        anew = "" if "schema version" in str(error) else "; move it away to have it written anew from the parts"
        raise InputError(f"{file}: {error}{anew}") from None


def read_chunks(folder: Path, manifest: Manifest) -> pl.DataFrame:
    """The list of chunks that a manifest names, if it is the whole list."""
    index = read_index(folder / manifest.index)
    if (index.height, int(index["steps"].sum())) != (manifest.chunks, manifest.steps):
        raise InputError(
            f"{folder / manifest.index}: has {index.height:,} chunks of {int(index['steps'].sum()):,} steps, and "
            f"{NAME} says {manifest.chunks:,} of {manifest.steps:,}; move both away to have them written anew"
        )
    return index


def settle(
    folder: Path, spec: dict[str, Any], runner: str, chunks: Iterable[ChunkLike], scratch: Path
) -> tuple[Manifest, pl.DataFrame]:
    """The manifest and list of chunks for this sweep in this folder: found, written, or extended.

    A folder that holds another sweep is left as it is, with an error that says how they differ, unless all its
    chunks belong to this sweep too.
    """
    index = list_chunks(chunks)
    new = Manifest.of(spec, runner, index)
    old = read_manifest(folder)
    if old is None:
        new.write(folder, index, scratch)
        return new, index
    if old.runner != runner:
        raise InputError(f"{folder}: was computed by {old.runner!r}, not {runner!r}; use another folder")
    if (old.spec_hash, old.index) == (new.spec_hash, new.index):
        return old, index
    lost = read_chunks(folder, old).join(index, on="id", how="anti")
    if lost.height:
        number, _, group = lost.row(0)
        raise InputError(
            f"{folder}: holds another spec ({difference(old.spec, new.spec)}): {lost.height:,} of its {old.chunks:,} "
            f"chunks are not in this one, such as {name_of(number)} of group {group!r}; use another folder, or a spec "
            "that only adds"
        )
    new = new.after(old)
    new.write(folder, index, scratch)
    return new, index


def difference(old: Any, new: Any, where: str = "") -> str:
    """The first place where two specs differ, in words.

    >>> difference({"runs": 10, "grid": {"step_size": [0.1, 0.2]}}, {"runs": 10, "grid": {"step_size": [0.1]}})
    'grid.step_size is [0.1], was [0.1, 0.2]'
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            place = f"{where}.{key}" if where else key
            if key not in new:
                return f"{place} is gone"
            if key not in old:
                return f"{place} is new"
            if canonical(old[key]) != canonical(new[key]):
                return difference(old[key], new[key], place)
        return "the same words made other chunks"
    return f"{where} is {_short(new)}, was {_short(old)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
