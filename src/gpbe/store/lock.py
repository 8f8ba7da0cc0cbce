"""One driver a folder: a lock that the operating system releases when its holder dies, however it dies."""

import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from gpbe.errors import InputError
from gpbe.files.atomic import refusal


class Lock:
    """Hold a results folder for writing, or say who does.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> held = Lock(folder)
    >>> Lock(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gpbe.errors.InputError: ...: in use by process ... on ... since ...; wait for it, stop it, or use another folder
    >>> held.release()
    """

    def __init__(self, folder: Path):
        import fcntl  # not on Windows, where results can still be read

        try:  # what a link points to is not ours to write into
            descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise InputError(f"{folder}: cannot be locked: {error.strerror or error}; use another folder") from None
        self._file = os.fdopen(descriptor, "r+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with self._file:
                holder = _holder(self._file)
            raise InputError(f"{folder}: in use by {holder}; wait for it, stop it, or use another folder") from None
        except OSError as error:
            self._file.close()
            raise InputError(f"{folder}: cannot be locked: {error.strerror or error}; use another folder") from None
        since = datetime.now(UTC).isoformat(timespec="seconds")
        signed = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, signed.encode())
        except OSError as error:
            self._file.close()
            raise refusal(folder / "lock", error) from None

    def release(self) -> None:
        """Let go. The file stays: removing it could pull the lock from under the next holder."""
        self._file.close()


def _holder(file: TextIO) -> str:
    """Who holds the lock, as its file says."""
    file.seek(0)
    try:
        known = json.loads(file.read())
        return f"process {known['pid']} on {known['host']} since {known['since']}"
    except (ValueError, KeyError, TypeError):  # the holder has the lock but has not signed it yet
        return "another process"
