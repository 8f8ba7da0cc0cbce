"""The list of a sweep's chunks: a table with eight bytes an id, so that a million chunks are a few megabytes."""

import hashlib
import io
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from gpbe.errors import InputError


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


def digest_of(index: pl.DataFrame) -> str:
    """A name for a list of chunks."""
    return hashlib.sha256(index["id"].to_numpy().astype("<u8").tobytes()).hexdigest()[:16]


def to_bytes(index: pl.DataFrame) -> bytes:
    """The list as a Parquet file."""
    buffer = io.BytesIO()
    index.write_parquet(buffer)
    return buffer.getvalue()


def read_index(path: Path) -> pl.DataFrame:
    """The list of chunks in a file."""
    try:
        return pl.read_parquet(path, glob=False).select("id", "steps", "group")
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path}: the list of chunks cannot be read ({reason}); move manifest.json away to have both written anew"
        ) from None
