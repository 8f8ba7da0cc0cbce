"""Parts are compared with their checksums before anything is made of them, and again only when they have changed.

What was found whole is remembered in a file beside the parts, with size, times and checksum. It can be removed at any
time; a part of which nothing is remembered is read whole.
"""

import json
import os
from pathlib import Path
from typing import Any

from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.files.reading import parse_json, read_bytes
from gpbe.files.sealed import peek
from gpbe.store.part import check, described

NAME = ".verified.json"
_MOST = 2**30


class Verified:
    """Which parts of a folder were found whole.

    With `anew`, what is remembered does not count: a disk may forget bits without changing the time of a file.
    """

    def __init__(self, folder: Path, anew: bool = False):
        self._file = folder / NAME
        self._known: dict[str, Any] = {} if anew else _remembered(self._file)
        self._found: dict[str, list[Any]] = {}

    def check(self, path: Path) -> dict[str, Any]:
        """Read a part's description and check that the part is whole; otherwise raise `Damaged`."""
        stat = os.stat(path)
        mark = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
        known = self._known.get(path.name)
        if isinstance(known, list) and known[:3] == mark:
            about = peek(path)
            if known[3:] == [about["sha256"]]:
                self._found[path.name] = known
                return described(about)
        about = check(path.read_bytes())
        self._found[path.name] = [*mark, about["sha256"]]
        return about

    def remember(self) -> None:
        """Keep what was found, if there is anything new."""
        if self._found == self._known:
            return
        try:
            write_atomic(self._file, json.dumps(self._found, separators=(",", ":")).encode())
        except InputError:  # a folder that may only be read: it is verified again next time
            return


def _remembered(file: Path) -> dict[str, Any]:
    try:
        known = parse_json(read_bytes(file, _MOST), _MOST)
    except InputError:
        return {}
    return known if isinstance(known, dict) else {}
