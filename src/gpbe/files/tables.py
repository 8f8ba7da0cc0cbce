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
from collections.abc import Iterable, Mapping
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
_TOGETHER = 100
"""Files that one process reads: to start it takes half a second."""

_TRY = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
try:
    import polars
    for k, path in enumerate(sys.argv[3:]):
        print("file", k, flush=True)
        rows = polars.scan_parquet(path, glob=False, hive_partitioning=False)
        for _ in rows.collect_batches() if hasattr(rows, "collect_batches") else [rows.collect()]:
            pass
except BaseException as error:
    print("why", (str(error) or type(error).__name__).splitlines()[0])
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
    if (found := first_unreadable([path], most)) is not None:
        raise found[1]


def first_unreadable(paths: Iterable[str | Path], most: int = MOST) -> tuple[str | Path, InputError] | None:
    """The first of several Parquet files that cannot be read without harm, and why; None if all of them can."""
    foreign: dict[str | Path, int] = {}
    for path in paths:
        try:
            size = check_file(path, most)
            with open(path, "rb") as file:
                if is_sealed(read_tail(file)):
                    check_sealed(file)
                else:
                    foreign[path] = size
        except OSError as error:
            return path, unreadable(error)
        except Damaged as damaged:
            return path, InputError(f"is damaged: {damaged}")
        except InputError as error:
            return path, error
    names = list(foreign)
    for some in (names[k : k + _TOGETHER] for k in range(0, len(names), _TOGETHER)):
        if (found := _try_apart({path: foreign[path] for path in some})) is not None:
            return found
    return None


def decode(source: str | Path | bytes) -> pl.DataFrame:
    """The table of a file, or of its bytes, that was checked."""
    try:
        given = io.BytesIO(source) if isinstance(source, bytes) else Path(source)
        return pl.read_parquet(given, glob=False, hive_partitioning=False)
    except (Exception, pl.exceptions.PanicException) as error:  # only what was made to deceive comes here
        raise InputError(f"is not a Parquet file that can be read: {_first_line(str(error))}") from None


def _try_apart(sizes: Mapping[str | Path, int]) -> tuple[str | Path, InputError] | None:
    """Have a process of its own read the files: the first that it cannot read, and why."""
    seconds = math.ceil(_PATIENCE + sum(sizes.values()) / 10e6)
    limits = (_SPACE + _EACH * max(sizes.values()), seconds)
    files = [str(Path(path).resolve()) for path in sizes]
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _TRY, *map(str, limits), *files],
        env={**os.environ, "PYTHONPATH": search_path(), "POLARS_MAX_THREADS": "2", "RUST_BACKTRACE": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    try:
        said, _ = process.communicate(timeout=_WAITING * seconds)
        too_long = process.returncode == -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        too_long = True
    except BaseException:
        process.kill()
        process.wait()
        raise
    if not process.returncode:
        return None
    lines = [line.partition(" ") for line in said.splitlines()]
    last = max((int(rest) for kind, _, rest in lines if kind == "file"), default=0)
    reasons = [_first_line(rest) for kind, _, rest in lines if kind == "why"]
    reason = "that takes too long" if too_long else reasons[-1] if reasons else "it makes its reader fail"
    return list(sizes)[last], InputError(f"is not a Parquet file that can be read: {reason}")


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]
