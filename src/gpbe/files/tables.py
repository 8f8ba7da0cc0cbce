"""Tables in Parquet files, also such as somebody else has written.

A file that gpbe wrote has a checksum (gpbe.files.sealed), and is decoded once that fits. Any other is opened by a
process of its own: a damaged Parquet file can make its reader panic, or allocate more than there is, and nothing in
this process could catch that. What that process read comes back as plain columns.
"""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

import polars as pl

from gpbe.errors import InputError
from gpbe.files.reading import check_file, unreadable
from gpbe.files.sealed import Damaged, check, is_sealed
from gpbe.process import search_path

MOST = 2**34
"""Bytes of a file."""
_SPACE = 2**29
"""Bytes of memory that a file's reader may have, and for each byte of the file..."""
_EACH = 100
_PATIENCE = 60.0
"""Seconds that it may take, and a second more for every ten megabytes."""
_TAIL = 2**20

_READ = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[3]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
try:
    import polars
    frame = polars.read_parquet(sys.argv[1], glob=False, hive_partitioning=False)
    with open(int(sys.argv[2]), "wb", closefd=False) as file:
        frame.write_ipc(file, compression="uncompressed")
except BaseException as error:
    print((str(error) or type(error).__name__).splitlines()[0])
    sys.exit(1)
"""


def read_table(path: str | Path, most: int = MOST) -> pl.DataFrame:
    """The table in a Parquet file; messages do not name the file.

    >>> path = Path(tempfile.mkdtemp()) / "t.parquet"
    >>> pl.DataFrame({"x": [1, 2]}).write_parquet(path)
    >>> read_table(path)["x"].to_list()
    [1, 2]
    """
    size = check_file(path, most)
    try:
        with open(path, "rb") as file:
            if not _looks_sealed(file, size):
                return _read_apart(Path(path), size)
            file.seek(0)
            data = file.read()
        check(data)
    except OSError as error:
        raise unreadable(error) from None
    except Damaged as damaged:
        raise InputError(f"is damaged: {damaged}") from None
    return decode(data)


def decode(data: bytes) -> pl.DataFrame:
    """The table of a sealed file whose checksum was found to fit."""
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (Exception, pl.exceptions.PanicException) as error:  # only what was made to deceive comes here
        raise InputError(f"is not a Parquet file that can be read: {_first_line(str(error))}") from None


def _looks_sealed(file: BinaryIO, size: int) -> bool:
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    footer = int.from_bytes(tail[-8:-4], "little") + 8
    if len(tail) < footer <= size:
        file.seek(size - footer)
        tail = file.read()
    return is_sealed(tail)


def _read_apart(path: Path, size: int) -> pl.DataFrame:
    with tempfile.TemporaryFile() as file:
        space = str(_SPACE + _EACH * size)
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", _READ, str(path.resolve()), str(file.fileno()), space],
                env={**os.environ, "PYTHONPATH": search_path(), "POLARS_MAX_THREADS": "2", "RUST_BACKTRACE": "0"},
                pass_fds=[file.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE + size / 10e6,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise InputError("is not a Parquet file that can be read: that takes too long") from None
        if done.returncode:
            reason = _first_line(done.stdout.decode(errors="replace")) or "it makes its reader fail"
            raise InputError(f"is not a Parquet file that can be read: {reason}")
        file.seek(0)
        return pl.read_ipc(file.read())


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]
