"""Results folders and packed files of invented tables."""

from pathlib import Path
from typing import NamedTuple

import polars as pl

from gpbe import store


class Chunk(NamedTuple):
    id: str
    group: str
    cost: int


def begin(name: str, folder: Path) -> None:
    """A results folder of a sweep of which nothing is done yet."""
    store.Results(folder, {"name": name, "unit": "steps"}, "package.module:function", [Chunk("1" * 16, "g", 1)]).close()


def pack(
    name: str, table: pl.DataFrame, target: Path, chunks: int = 1, steps: int = 100_000, spec: dict | None = None
) -> Path:
    """A packed file of a sweep whose first chunk has the whole table; with more chunks, the others are missing."""
    folder = target / "folders" / name
    all_of_it = [Chunk(f"{k + 1:016x}", "g", table.height * steps) for k in range(chunks)]
    declared = {"name": name, "unit": "steps"} | (spec or {})
    with store.Results(folder, declared, "package.module:function", all_of_it) as results:
        about = {"chunk": all_of_it[0].id, "spec_hash": results.manifest.spec_hash, "seconds": 3600.0}
        results.put(all_of_it[0].id, store.encode(table, about))
    return store.pack(folder, target / f"{name}.parquet")
