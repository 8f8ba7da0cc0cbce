"""Recorded transitions, as learning takes them: read in pieces, and kept in 32 bits."""

from collections.abc import Iterator, Sequence
from typing import Any

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


def recorded(log: Source, steps: int | None = None) -> Stream:
    """A log as one run, or its first `steps` transitions.

    Where it breaks off, a return bootstraps from where the row led, and traces start anew.
    """
    return Recording(log).read(steps, ())[0]


class Recording:
    """A log as learning takes it. What was read of it is remembered, for other algorithms that learn from it."""

    def __init__(self, log: Source):
        self.log = log
        self._steps: int | None = None
        self._stream: Stream | None = None
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

    def read(self, steps: int | None, sums: Sequence[Sums]) -> tuple[Stream, list[LinearSystem]]:
        """The first `steps` transitions, or all, and the means of sums over them: in one pass, or from memory."""
        if steps != self._steps:
            self._steps, self._stream, self._means = steps, None, {}
        missing = {each.sought: each for each in sums if each.sought not in self._means}
        if self._stream is None or missing:
            recorder = None
            for piece in every_piece(self.log, steps):
                if self._stream is None:
                    recorder = recorder or self._recorder(piece)
                    recorder.add(piece)
                for each in missing.values():
                    each.add(piece)
            self._stream = self._stream if recorder is None else recorder.stream()
            self._means |= {sought: each.means for sought, each in missing.items()}
        assert self._stream is not None  # a log without transitions has been refused
        return self._stream, [self._means[each.sought] for each in sums]

    def _recorder(self, piece: Log) -> "Recorder":
        most = self.count() if self._steps is None else min(self._steps, self.count())
        return Recorder(most, piece.features.shape[1])


class Recorder:
    """A stream that is filled with the pieces of a log as they come.

    In the table each row's features are followed by those of where it led. As a rule these are the next row's; where
    they are not, and at the end of a piece, they are put between the two.
    """

    def __init__(self, most: int, features: int):
        self.rows, self.filled, self.psi = 0, 0, (np.inf, 0.0)
        self.table = unshared((2 * most, features))  # what is never written takes no memory
        self.columns = {name: np.empty(most, np.float32) for name in NUMBERS}
        self.now = np.empty(most, np.int32)
        self.apart, self.continues = (np.empty(most, dtype=bool) for _ in range(2))

    def add(self, piece: Log) -> None:
        """The transitions that come next."""
        for name in ("features", "reward", "next_features"):
            check_magnitude(getattr(piece, name), name, LARGEST_LEARNED, self.rows)
        here, apart = slice(self.rows, self.rows + len(piece)), leads_elsewhere(piece)
        at = self.filled + np.arange(len(piece)) + np.cumsum(apart) - apart
        self.table[at], self.table[at[apart] + 1] = piece.features, piece.next_features[apart]
        self.now[here], self.apart[here], self.continues[here] = at, apart, piece.continues
        for name, column in self.columns.items():
            column[here] = getattr(piece, name)
        least, largest = scales(piece.target, piece.behavior)
        self.psi = min(self.psi[0], least), max(self.psi[1], largest)
        self.rows, self.filled = here.stop, int(at[-1]) + 2

    def stream(self) -> Stream:
        """All of it as one run."""
        now, apart, continues = (each[: self.rows] for each in (self.now, self.apart, self.continues))
        columns = {name: column[: self.rows] for name, column in self.columns.items()}
        broken = breaks(columns["discount"], continues)
        lam = np.ones(self.filled, np.float32)
        lam[now[apart] + 1] = ~broken[apart]
        columns |= {"now": now, "next": now + 1, "carried": np.where(broken, np.float32(0), columns["discount"])}
        put = jax.device_put  # which copies once at most, and `jnp.asarray` twice
        return Stream(
            features=put(self.table[: self.filled]),
            lam=put(lam),
            psi=put(np.array(self.psi, np.float32)),
            **{name: put(column[None]) for name, column in columns.items()},
        )


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
