"""Files that are there whole or not at all, also after a crash or on a full disk."""

import contextlib
import errno
import os
from pathlib import Path

from gpbe.errors import InputError

_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is too large",
}


def write_atomic(target: Path, data: bytes, scratch: Path) -> None:
    """Write `data` to `target` through a file in `scratch`, a folder on the same file system.

    When this returns, the file is on the disk; when it raises (also on Ctrl-C), nothing of it is left.
    """
    temporary = scratch / f"{target.name}.{os.getpid()}"
    try:
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


def refusal(path: Path, error: OSError) -> InputError:
    """What an operating system's refusal to write means to the one who started it."""
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


def _write_durably(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
