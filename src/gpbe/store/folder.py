"""A results folder that a driver writes into.

manifest.json         which sweep this is (gpbe.store.manifest)
chunks-*.parquet      the list of its chunks
parts/ID.parquet      one part a finished chunk (gpbe.store.part); pl.scan_parquet("FOLDER/parts") reads them
failed/ID.json        one record a chunk that failed; removed when the chunk is done after all
set-aside/            what was found in parts/ and did not belong there, with the reason in a .txt beside it
tmp/                  files being written; what a crash left here is removed at the next start
lock                  held by the driver
.verified.json        which parts were found whole (gpbe.store.verified)
"""

import json
import os
import re
import socket
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import polars as pl

from gpbe.errors import InputError
from gpbe.files.atomic import refusal, sync_folder, write_atomic
from gpbe.store.index import ChunkLike
from gpbe.store.lock import Lock
from gpbe.store.manifest import settle
from gpbe.store.part import Damaged, check
from gpbe.store.verified import Verified

_PART_NAME = re.compile(r"[0-9a-f]{16}\.parquet")
_OWN_NAMES = re.compile(r"manifest\.json|chunks-.*\.parquet|parts|failed|set-aside|tmp|lock|\..*")


class SetAside(NamedTuple):
    """A file that was moved out of parts/, and why."""

    name: str
    reason: str
    where: Path


class Results:
    """A results folder, held by one driver; use it in a `with` statement.

    Opening it checks the parts that are there, so that `have` is true for every chunk that need not run again.

    >>> import tempfile
    >>> from typing import NamedTuple
    >>> from gpbe.store import encode
    >>> class Chunk(NamedTuple):
    ...     id: str
    ...     group: str = "walk"
    ...     cost: int = 100
    >>> chunks = [Chunk("000000000000000a"), Chunk("000000000000000b")]
    >>> folder = Path(tempfile.mkdtemp()) / "results"
    >>> with Results(folder, {"runs": 2}, "package.module:function", chunks) as results:
    ...     about = {"chunk": chunks[0].id, "spec_hash": results.manifest.spec_hash}
    ...     results.put(chunks[0].id, encode(pl.DataFrame({"x": [1.0]}), about))["rows"]
    1
    >>> with Results(folder, {"runs": 2}, "package.module:function", chunks) as results:
    ...     results.have.to_list()
    [True, False]
    """

    def __init__(
        self,
        folder: Path | str,
        spec: dict[str, Any],
        runner: str,
        chunks: Iterable[ChunkLike],
        *,
        verify: bool = True,
    ):
        """Lock the folder, settle which sweep it holds, and set aside the parts that are not valid.

        Args:
            folder: made if it is not there
            spec: the declaration that the chunks came from
            runner: the function that computes a chunk, as package.module:function
            chunks: gone through once
            verify: compare every part with its checksum, also those that were found whole before and did not change
        """
        self.folder = Path(folder)
        try:
            _check_kind(self.folder)
            for name in ("parts", "failed", "tmp"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(self.folder, error) from None
        self._scratch = self.folder / "tmp"
        self._lock = Lock(self.folder)
        try:
            _clean(self._scratch)
            self.manifest, self.index = settle(self.folder, spec, runner, chunks, self._scratch)
            self._columns: dict[str, str] | None = None
            self.set_aside: tuple[SetAside, ...] = ()
            self.have: pl.Series = self._check_parts(verify)
        except BaseException:
            self.close()
            raise

    def put(self, chunk: str, part: bytes) -> dict[str, Any]:
        """Keep a chunk's part, and return what it says about itself."""
        about = check(part)
        if self._columns is not None and about["columns"] != self._columns:
            raise InputError(
                f"{self.manifest.runner}: chunk {chunk} has columns {_in_words(about['columns'])}, and others have "
                f"{_in_words(self._columns)}; every chunk should have the same columns and types"
            )
        self._columns = about["columns"]
        write_atomic(self.folder / "parts" / f"{chunk}.parquet", part, self._scratch)
        (self.folder / "failed" / f"{chunk}.json").unlink(missing_ok=True)
        return about

    def fail(self, chunk: str, group: str, error: str, attempts: int) -> None:
        """Record that a chunk failed; the next run tries it again."""
        record = {
            "chunk": chunk,
            "group": group,
            "error": error,
            "attempts": attempts,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
        }
        write_atomic(self.folder / "failed" / f"{chunk}.json", json.dumps(record, indent=2).encode(), self._scratch)

    def close(self) -> None:
        """Let other drivers in."""
        self._lock.release()

    def __enter__(self) -> "Results":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_parts(self, verify: bool) -> pl.Series:
        """Which chunks of the index have a valid part; whatever else is in parts/ is moved out of it."""
        known = frozenset(self.index["id"])
        valid, wrong = [], []
        for path, finding in examine(self.folder, known, self.manifest.hashes, verify):
            if isinstance(finding, Damaged):
                wrong.append((path, str(finding)))
            else:
                valid.append(int(path.stem, 16))
                self._columns = finding["columns"]
        self.set_aside = tuple(_move_out(self.folder, path, reason) for path, reason in wrong)
        return self.index["id"].is_in(pl.Series(valid, dtype=pl.UInt64).implode()).alias("have")


def _clean(scratch: Path) -> None:
    """Remove what a driver left that died while writing: we hold the lock."""
    try:
        for left in scratch.iterdir():
            left.unlink()
    except OSError as error:
        raise refusal(scratch, error) from None


def examine(
    folder: Path, known: Collection[int], hashes: Collection[str], anew: bool = False
) -> Iterator[tuple[Path, dict[str, Any] | Damaged]]:
    """Every file in parts/, compared with its checksum: what it says about itself, or why it cannot be used.

    One that was found whole before and has not changed is not read again, except with `anew`.
    """
    verified = Verified(folder, anew)
    with os.scandir(folder / "parts") as entries:
        for entry in entries:
            if entry.name.startswith("."):  # file managers and network file systems leave such things
                continue
            path = Path(entry.path)
            try:
                yield path, _examine_one(path, known, hashes, verified)
            except FileNotFoundError:  # a driver has just set it aside
                continue
            except OSError as error:
                yield path, Damaged(f"it cannot be read: {error.strerror or error}")
            except Damaged as damaged:
                yield path, damaged
    verified.remember()


def _examine_one(path: Path, known: Collection[int], hashes: Collection[str], verified: Verified) -> dict[str, Any]:
    if not _PART_NAME.fullmatch(path.name):
        raise Damaged("its name is not that of a part")
    if int(path.stem, 16) not in known:
        raise Damaged("it is of no chunk of this sweep")
    about = verified.check(path)
    if about.get("chunk") != path.stem:
        raise Damaged(f"it is of chunk {about.get('chunk')}, and its name says another")
    if about.get("spec_hash") not in hashes:
        raise Damaged("it is of another spec")
    return about


def _move_out(folder: Path, path: Path, reason: str) -> SetAside:
    """Move a file into set-aside/ under a name that is free there, with the reason beside it."""
    aside = folder / "set-aside"
    try:
        aside.mkdir(exist_ok=True)
        number = 1
        while (target := aside / f"{path.stem}.{number}{path.suffix}").exists():
            number += 1
        path.rename(target)
        target.with_name(f"{target.name}.txt").write_text(f"{path.name}: {reason}\n", encoding="utf-8")
        sync_folder(aside)
        sync_folder(path.parent)
    except OSError as error:
        raise refusal(aside, error) from None
    return SetAside(path.name, reason, target)


def _check_kind(folder: Path) -> None:
    """Refuse a folder with a user's other things in it, before anything is written there."""
    if folder.is_dir() and not (folder / "manifest.json").exists():
        strange = sorted(name for name in os.listdir(folder) if not _OWN_NAMES.fullmatch(name))
        if strange:
            raise InputError(
                f"{folder}: is not a results folder (it has {strange[0]} and no manifest.json); "
                "use a new folder or an empty one"
            )


def _in_words(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in columns.items())
