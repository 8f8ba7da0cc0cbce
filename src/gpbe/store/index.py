"""The list of a sweep's chunks: a table with eight bytes an id, so that a million chunks are a few megabytes."""

import hashlib
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from gpbe.errors import InputError
from gpbe.files.sealed import seal
from gpbe.files.tables import read_table

NAME = "manifest.json"
SCHEMA = {"id": pl.UInt64, "steps": pl.Int64, "group": pl.String}


@runtime_checkable
class ChunkLike(Protocol):
    """What the store needs to know of a chunk."""

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits that name the chunk by its content."""
        ...

    @property
    def group(self) -> str:
        """The compiled program that it runs."""
        ...

    @property
    def cost(self) -> int:
        """Learning steps in it."""
        ...


def list_chunks(chunks: Iterable[ChunkLike]) -> pl.DataFrame:
    """Columns id (as a number), steps and group, in the order of the sweep; two chunks with one id are refused."""
    ids, steps, codes = array("Q"), array("q"), array("L")
    groups: dict[str, int] = {}
    for chunk in chunks:
        ids.append(int(chunk.id, 16))
        steps.append(chunk.cost)
        codes.append(groups.setdefault(chunk.group, len(groups)))
    if not ids:
        raise InputError("the sweep has no chunks; it should have at least one")
    names = pl.Series(list(groups), dtype=pl.String).gather(pl.Series(codes, dtype=pl.UInt32))
    columns = {"id": pl.Series(ids, dtype=pl.UInt64), "steps": pl.Series(steps, dtype=pl.Int64), "group": names}
    index = pl.DataFrame(columns)
    if index["id"].n_unique() < index.height:
        number, _, group = index.filter(pl.col("id").is_duplicated()).row(0)
        raise InputError(
            f"chunk {name_of(number)} of group {group!r} is in the sweep more than once; every chunk should differ in "
            "its group or its payload"
        )
    return index


def name_of(number: int) -> str:
    """An id as it is written.

    >>> name_of(255)
    '00000000000000ff'
    """
    return f"{number:016x}"


def file_of(index: pl.DataFrame) -> str:
    """The name of the file that lists these chunks; it tells their ids."""
    return f"chunks-{hashlib.sha256(index['id'].to_numpy().astype('<u8').tobytes()).hexdigest()[:16]}.parquet"


def to_bytes(index: pl.DataFrame) -> bytes:
    """The list as a Parquet file."""
    return seal(index, {})


def read_index(path: Path) -> pl.DataFrame:
    """The list of chunks in a file, if it is the one that its name says."""
    try:
        index = read_table(path)
        if dict(index.schema) != SCHEMA:
            raise InputError("has other columns than a list of chunks")
        if path.name != file_of(index):
            raise InputError("lists other chunks than when it was written")
    except InputError as error:
        raise InputError(f"{path}: {error}; move it and {NAME} away to have both written anew") from None
    return index
