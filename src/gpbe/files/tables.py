"""Tables in Parquet files, also such as somebody else has written.

A file that gpbe wrote has a checksum (gpbe.files.sealed), and is decoded once that fits. Any other is first read by a
process of its own: a damaged Parquet file can make its reader panic, or allocate more than there is, and nothing in
this process could catch that. Without a checksum nobody can tell whether a number in it has changed.
"""

import io
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl

from gpbe.errors import InputError
from gpbe.files.reading import check_file, unreadable
from gpbe.files.sealed import Damaged, is_sealed, read_tail
from gpbe.files.sealed import check_file as check_sealed
from gpbe.process import search_path

MOST = 2**34
"""Bytes of a file."""
_SPACE = 2**29
"""Bytes of memory that a file's reader may have, and for each byte of the file..."""
_EACH = 100
_PATIENCE = 60.0
"""Seconds of the processor that it may take, and one more for every ten megabytes."""
_WAITING = 20
"""Times as long by the clock: a busy machine is no fault of the file."""

_TRY = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[2]),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]), int(sys.argv[3]) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
try:
    import polars
    rows = polars.scan_parquet(sys.argv[1], glob=False, hive_partitioning=False)
    for _ in rows.collect_batches() if hasattr(rows, "collect_batches") else [rows.collect()]:
        pass
except BaseException as error:
    print((str(error) or type(error).__name__).splitlines()[0])
    sys.exit(1)
"""


def read_table(path: str | Path, most: int = MOST) -> pl.DataFrame:
    """The table in a Parquet file; messages do not name the file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.parquet"
    >>> pl.DataFrame({"x": [1, 2]}).write_parquet(path)
    >>> read_table(path)["x"].to_list()
    [1, 2]
    """
    check_table(path, most)
    return decode(path)


def check_table(path: str | Path, most: int = MOST) -> None:
    """Whether a Parquet file can be read, or parts of it, without harm; whoever then reads it need not read it whole.

    Its checksum is compared if it has one; otherwise another process reads all of it, a piece at a time.
    """
    size = check_file(path, most)
    try:
        with open(path, "rb") as file:
            if not is_sealed(read_tail(file)):
                _try_apart(Path(path), size)
                return
            check_sealed(file)
    except OSError as error:
        raise unreadable(error) from None
    except Damaged as damaged:
        raise InputError(f"is damaged: {damaged}") from None


def decode(source: str | Path | bytes) -> pl.DataFrame:
    """The table of a file, or of its bytes, that was checked."""
    try:
        given = io.BytesIO(source) if isinstance(source, bytes) else Path(source)
        return pl.read_parquet(given, glob=False, hive_partitioning=False)
    except (Exception, pl.exceptions.PanicException) as error:  # only what was made to deceive comes here
        raise InputError(f"is not a Parquet file that can be read: {_first_line(str(error))}") from None


def _try_apart(path: Path, size: int) -> None:
    """Have a process of its own read the file."""
    seconds = math.ceil(_PATIENCE + size / 10e6)
    too_long = InputError("is not a Parquet file that can be read: that takes too long")
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _TRY, str(path.resolve()), str(_SPACE + _EACH * size), str(seconds)],
            env={**os.environ, "PYTHONPATH": search_path(), "POLARS_MAX_THREADS": "2", "RUST_BACKTRACE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WAITING * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise too_long from None
    if done.returncode == -signal.SIGXCPU:
        raise too_long
    if done.returncode:
        reason = _first_line(done.stdout.decode(errors="replace")) or "it makes its reader fail"
        raise InputError(f"is not a Parquet file that can be read: {reason}")


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]
