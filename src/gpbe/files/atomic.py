"""Files that are there whole or not at all, also after a crash or on a full disk."""

import contextlib
import errno
import io
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from gpbe.errors import InputError
from gpbe.files.sealed import seal

if TYPE_CHECKING:
    import polars as pl

_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is too large",
}


def write_atomic(target: Path, data: bytes, scratch: Path | None = None) -> None:
    """Write `data` to `target` through a file in `scratch`, a folder on the same file system; beside it if left out.

    When this returns, the file is on the disk; when it raises (also on Ctrl-C), nothing of it is left. What is there
    and no file (a folder, a pipe, a device such as /dev/null) stays: a new file would take its place.
    """
    temporary = (scratch or target.parent) / f"{'' if scratch else '.'}{target.name}.{os.getpid()}"
    try:
        check_regular(target)
        try:
            _write_durably(temporary, data)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise refusal(target, error) from None


def append(target: Path, data: bytes, anew: bool = False) -> None:
    """Write `data` at the end of a file, or as all of one (`anew`); when it raises, the file is as long as before."""
    try:
        check_regular(target)
        with open(target, "wb" if anew else "ab", buffering=0) as file:
            before, left = file.tell(), memoryview(data)
            try:
                while left:
                    left = left[file.write(left) :]
            except BaseException:
                file.truncate(before)
                raise
    except OSError as error:
        raise refusal(target, error) from None


def write_table(target: Path, table: "pl.DataFrame") -> Path:
    """Write a table as CSV if the name ends so, else as Parquet with a checksum."""
    if target.suffix == ".csv":
        file = io.BytesIO()
        table.write_csv(file)
        write_atomic(target, file.getvalue())
    else:
        write_atomic(target, seal(table, {}))
    return target


def refusal(path: Path, error: OSError) -> InputError:
    """The error for a file that the operating system did not let us write."""
    if error.errno in _FULL:
        return InputError(
            f"{path}: {_FULL[error.errno]}; nothing half-written was left, so make room and start again to resume"
        )
    return InputError(f"{path}: cannot be written: {error.strerror or error}")


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder last: the name is on the disk only once the folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_regular(target: Path) -> None:
    """Refuse to write where something is that is no file."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return
    except ValueError as error:  # a null byte or half a character in its name
        raise InputError(f"{target}: cannot be written: {error}") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise InputError(f"{target}: cannot be written: it is {kind}; name a file")


def _write_durably(path: Path, data: bytes) -> None:
    # Not through a link: what that points to is not ours.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
