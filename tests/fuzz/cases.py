"""Cases that are files: how they are written and kept, and what a refusal must look like."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gpbe.errors import LONGEST, InputError


class Case(NamedTuple):
    """A file, and what must come out of it if it is read at all (None: anything whole)."""

    path: Path
    expected: Any = None


def refusal(call: Callable[[], Any]) -> tuple[Any, bool]:
    """What a call returns, or that it was refused, in one line."""
    try:
        return call(), False
    except InputError as error:
        said = str(error)
        assert said.isprintable(), said
        assert 0 < len(said) <= LONGEST, len(said)
        return None, True


class Files:
    """Cases that are files, one after the other under one name."""

    patience = 5.0
    corpus = ""
    """The folder of what once failed."""

    def __init__(self, room: Path):
        self.room = room

    def written(self, suffix: str, data: bytes, expected: Any = None) -> Case:
        path = self.room / f"case{suffix}"
        path.write_bytes(data)
        return Case(path, expected)

    def kept(self, file: Path) -> Case:
        return self.written(file.suffix, file.read_bytes())

    def keep(self, case: Case, folder: Path) -> str:
        folder.mkdir(exist_ok=True)
        target = folder / f"{type(self).__name__.lower()}-{len(list(folder.iterdir()))}{case.path.suffix}"
        shutil.copyfile(case.path, target)
        return str(target)

    def make(self, rng: Random) -> Case:
        raise NotImplementedError

    def check(self, case: Case) -> str:
        raise NotImplementedError
