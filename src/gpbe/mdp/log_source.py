"""What recorded transitions have in common, in memory or in files: they are read in pieces."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.mdp.logs import PIECE, Log
from gpbe.wording import counted


@runtime_checkable
class Source(Protocol):
    """Recorded transitions that are read in pieces: a `Log` or `LogFiles`."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what can be read apart; no episode goes on from one to the next."""
        ...

    def count(self) -> int:
        """How many transitions there are, at most: rows that do not tell where they led are none."""
        ...

    def pieces(self, part: int = 0, numbers: int = PIECE) -> Iterator[Log]:
        """One part in pieces of so many numbers in their features, one after the other."""
        ...


def every_piece(source: Source, steps: int | None = None) -> Iterator[Log]:
    """The pieces of all parts, one after the other; or those of the first `steps` transitions.

    >>> import numpy as np
    >>> log = Log(np.arange(5.0)[:, None], *np.ones((4, 5)))
    >>> [len(piece) for piece in every_piece(log, steps=3)]
    [3]
    """
    check_at_least(1, steps=steps)
    rows, width = 0, 0
    for part, name in enumerate(source.parts):
        for piece in source.pieces(part):
            width = width or piece.features.shape[1]
            check_width(name, piece.features.shape[1], source.parts[0], width)
            rows += len(piece)
            if steps is not None and rows >= steps:
                yield piece.first(steps - (rows - len(piece)))
                return
            yield piece
    if steps is not None:
        raise InputError(f"steps is {steps}; the log has {rows} transitions")


def check_width(name: str, width: int, first: str, expected: int, what: str = "feature") -> None:
    """All parts must have as many features, and as many actions."""
    if width != expected:
        raise InputError(
            f"{name} has {counted(width, what)}, but {first} has {expected}; files of one log should agree"
        )
