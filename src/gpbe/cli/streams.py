"""Standard input, output and error as they come: closed, full, a pipe that nobody reads, or without our letters."""

import contextlib
import errno
import io
import os
import sys
from typing import TextIO

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def open_streams() -> None:
    """Make all three usable: what is closed leads nowhere, and a letter that one cannot write is written as its code.

    The next file that is opened would get the number of a closed one, and what a library prints would go into it.
    """
    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 (for as long as this process lives)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def silence(*streams: TextIO) -> None:
    """Send what is still buffered to nowhere, so that Python does not complain about it when the process ends."""
    for stream in streams:
        with contextlib.suppress(OSError, ValueError):  # one of Python's own has no number
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def say(line: str) -> None:
    """Print a line to standard error, if that takes it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        silence(sys.stderr)


def said_of(error: OSError) -> str:
    """One line for an operating system's refusal. An error without a file name came from writing to standard output."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno in _NO_ROOM:
        silence(sys.stdout)
        return f"standard output cannot be written: {error.strerror}"
    return str(error)
