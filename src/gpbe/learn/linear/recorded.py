"""Recorded transitions, as learning takes them: read in pieces, and kept in 32 bits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from gpbe.algorithms.linear.bootstrapping import scales
from gpbe.algorithms.linear.least_squares import Sums
from gpbe.checks import LARGEST_LEARNED, check_magnitude
from gpbe.exact.traces import LinearSystem
from gpbe.learn.linear.tracking import Stream
from gpbe.mdp import Log
from gpbe.mdp.log_checks import NUMBERS, breaks, same_place
from gpbe.mdp.log_source import Source, every_piece
from gpbe.mdp.logs import PIECE
from gpbe.shapes import Array

KEPT = 2**26
"""Numbers in the features of a log that are kept; a larger log is read again for each pass over it."""
STRETCH = 2**22
"""Numbers in the features of a stretch of such a log."""
NO_SCALES = (np.inf, 0.0)


def recorded(log: Source, steps: int | None = None) -> Stream:
    """A log as one run, or its first `steps` transitions.

    Where it breaks off, a return bootstraps from where the row led, and traces start anew.
    """
    stream = Recording(log).read(steps, ())[0]
    assert isinstance(stream, Stream)  # the whole was asked for
    return stream


class Recording:
    """A log as learning takes it. What was read of it is remembered, for other algorithms that learn from it."""

    def __init__(self, log: Source):
        self.log = log
        self._steps: int | None = None
        self._stream: Stream | None = None
        self._stretches: Stretches | None = None
        self._means: dict[Any, LinearSystem] = {}

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of what can be read apart."""
        return self.log.parts

    def count(self) -> int:
        """How many transitions there are, at most."""
        return self.log.count()

    def pieces(self, part: int = 0, numbers: int = PIECE) -> Iterator[Log]:
        """One part in pieces; each call reads it again."""
        return self.log.pieces(part, numbers)

    def read(
        self,
        steps: int | None,
        sums: Sequence[Sums],
        whole: bool = True,
        advance: Callable[[int], None] = lambda rows: None,
    ) -> "tuple[Stream | Stretches, list[LinearSystem]]":
        """The first `steps` transitions, or all, and the means of sums over them: in one pass, or from memory.

        If they need not be there as a whole, those of a large log are not kept, but read again in stretches. `advance`
        is told how many more rows have been read.
        """
        if steps != self._steps:
            self._steps, self._stream, self._stretches, self._means = steps, None, None, {}
        found = self._stream or (None if whole else self._stretches)
        missing = {each.sought: each for each in sums if each.sought not in self._means}
        if found is None or missing:
            keeper: Recorder | Survey | None = None
            for piece in every_piece(self.log, steps):
                if found is None:
                    keeper = keeper or self._keeper(piece.features.shape[1], whole)
                    keeper.add(piece)
                for each in missing.values():
                    each.add(piece)
                advance(len(piece))
            if isinstance(keeper, Recorder):
                found = self._stream = keeper.stream()
            elif keeper is not None:
                found = self._stretches = Stretches(self.log, steps, keeper.rows, keeper.width, keeper.psi)
            self._means |= {sought: each.means for sought, each in missing.items()}
        assert found is not None  # a log without transitions has been refused
        return found, [self._means[each.sought] for each in sums]

    def _keeper(self, width: int, whole: bool) -> "Recorder | Survey":
        """What keeps all of a log or, if it is large and in files, what must be known of it."""
        most = self.count() if self._steps is None else min(self._steps, self.count())
        kept = whole or isinstance(self.log, Log) or most * width <= KEPT
        return Recorder(most, width) if kept else Survey(width)


class Survey:
    """What must be known of a log before it is learned from in stretches."""

    def __init__(self, width: int):
        self.width, self.rows, self.psi = width, 0, NO_SCALES

    def add(self, piece: Log) -> None:
        """The transitions that come next."""
        check_learnable(piece, self.rows)
        self.rows, self.psi = self.rows + len(piece), widened(self.psi, piece)


class Stretch(NamedTuple):
    """Consecutive transitions of a log."""

    stream: Stream
    every: int
    """Transitions between points of a curve."""
    told: bool
    """Are these points asked for? Where points are far apart, a stretch may lie between two of them."""


@dataclass(frozen=True)
class Stretches:
    """A log that is too large to be kept: each pass over it reads it again, a stretch at a time."""

    log: Source
    steps: int | None
    rows: int
    width: int
    psi: tuple[float, float]

    def read(self, every: int) -> Iterator[Stretch]:
        """All of it, for a curve with a point after every so many transitions."""
        sizes = lengths(self.rows, every, max(1, STRETCH // self.width))
        size, told = next(sizes)
        recorder = Recorder(size, self.width, self.psi)
        done = 0
        for piece in every_piece(self.log, self.steps):
            at = 0
            while at < len(piece):
                here = min(len(piece) - at, size - recorder.rows)
                recorder.add(piece.rows(at, at + here), done)
                at, done = at + here, done + here
                if recorder.rows == size:
                    yield Stretch(recorder.stream(last=done == self.rows), min(every, size), told)
                    if done == self.rows:
                        return
                    size, told = next(sizes)
                    recorder = Recorder(size, self.width, self.psi)


def lengths(rows: int, every: int, most: int) -> Iterator[tuple[int, bool]]:
    """Lengths of stretches, of which few differ; and whether points of the curve are in them.

    >>> list(lengths(12, 2, 5)), list(lengths(14, 7, 3))
    ([(4, True), (4, True), (4, True)], [(3, False), (3, False), (1, True), (3, False), (3, False), (1, True)])
    """
    if every <= most:
        size = every * (most // every)
        yield from ((min(size, rows - start), True) for start in range(0, rows, size))
        return
    for _ in range(rows // every):
        yield from ((min(most, every - start), start + most >= every) for start in range(0, every, most))


class Recorder:
    """A stream that is filled with the pieces of a log as they come.

    In the table each row's features are followed by those of where it led. As a rule these are the next row's; where
    they are not, and at the end of a piece, they are put between the two.
    """

    def __init__(self, most: int, features: int, psi: tuple[float, float] | None = None):
        self.rows, self.filled, self.most = 0, 0, most
        self.known, self.psi = psi is not None, psi or NO_SCALES
        self.table = unshared((2 * most, features))  # what is never written takes no memory
        self.columns = {name: np.empty(most, np.float32) for name in NUMBERS}
        self.now = np.empty(most, np.int32)
        self.apart, self.continues = (np.empty(most, dtype=bool) for _ in range(2))

    def add(self, piece: Log, row: int | None = None) -> None:
        """The transitions that come next, from a row of the log on that is this one's own if it is not said."""
        check_learnable(piece, self.rows if row is None else row)
        here, apart = slice(self.rows, self.rows + len(piece)), leads_elsewhere(piece)
        at = self.filled + np.arange(len(piece)) + np.cumsum(apart) - apart
        self.table[at], self.table[at[apart] + 1] = piece.features, piece.next_features[apart]
        self.now[here], self.apart[here], self.continues[here] = at, apart, piece.continues
        for name, column in self.columns.items():
            column[here] = getattr(piece, name)
        if not self.known:
            self.psi = widened(self.psi, piece)
        self.rows, self.filled = here.stop, int(at[-1]) + 2

    def stream(self, last: bool = True) -> Stream:
        """All of it as one run. If it is not the last stretch of one, its last row may break off."""
        now, apart, continues = (each[: self.rows] for each in (self.now, self.apart, self.continues))
        columns = {name: column[: self.rows] for name, column in self.columns.items()}
        broken = breaks(columns["discount"], continues, last)
        # Stretches of one length have tables of one size, so that they share a program.
        filled = 2 * self.most if self.known else self.filled
        lam = np.ones(filled, np.float32)
        lam[now[apart] + 1] = ~broken[apart]
        columns |= {"now": now, "next": now + 1, "carried": np.where(broken, np.float32(0), columns["discount"])}
        put = jax.device_put  # which copies once at most, and `jnp.asarray` twice
        return Stream(
            features=put(self.table[:filled]),
            lam=put(lam),
            psi=put(np.array(self.psi, np.float32)),
            **{name: put(column[None]) for name, column in columns.items()},
        )


def check_learnable(piece: Log, row: int) -> None:
    """Refuse numbers that 32-bit floats cannot square; the piece begins at this row of the log."""
    for name in ("features", "reward", "next_features"):
        check_magnitude(getattr(piece, name), name, LARGEST_LEARNED, row)


def widened(psi: tuple[float, float], piece: Log) -> tuple[float, float]:
    """The scales of AB-Trace over one more piece."""
    least, largest = scales(piece.target, piece.behavior)
    return min(psi[0], least), max(psi[1], largest)


def leads_elsewhere(piece: Log) -> Array:
    """Which rows lead to other features than the next row has? The last one may."""
    apart = ~piece.continues
    apart[-1] = True
    if not np.may_share_memory(piece.features, piece.next_features):
        apart[:-1] |= ~same_place(piece.features, piece.next_features)
    return apart


def with_ends(stream: Stream) -> Stream:
    """The same run with a table of all rows' features, then of where each of them led."""
    rows = stream.now.shape[1]
    ends = np.concatenate([np.asarray(stream.now[0]), np.asarray(stream.next[0])])
    now, after = np.arange(2 * rows, dtype=np.int32).reshape(2, 1, rows)
    tables = {name: jax.device_put(np.asarray(getattr(stream, name))[ends]) for name in ("features", "lam")}
    return stream._replace(now=jax.device_put(now), next=jax.device_put(after), **tables)


def unshared(shape: tuple[int, ...]) -> Array:
    """An empty array of 32-bit floats that JAX takes over as it is: one that begins at a multiple of 64 bytes.

    >>> unshared((3, 2)).ctypes.data % 64
    0
    """
    size = 4 * int(np.prod(shape))
    room = np.empty(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size].view(np.float32).reshape(shape)
