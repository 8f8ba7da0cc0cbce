"""Which chunk a worker gets next: one of the group that it has compiled, if any waits, but never none."""

from collections import deque
from collections.abc import Collection, Iterator

from gpbe.sweep.chunk import Chunk

WINDOW = 1024
"""Chunks looked at ahead of time: enough to find another group for another worker, and bounded however many follow."""


class Queue:
    """Chunks that wait, by group; drawn from an iterator only as far as the window reaches.

    >>> chunks = [Chunk(group, 1, {"k": k}) for group in "ab" for k in range(3)]
    >>> queue = Queue(iter(chunks))
    >>> one, two = queue.take(None, []), queue.take(None, ["a"])
    >>> one.group, two.group, queue.take("a", ["b"]).payload
    ('a', 'b', {'k': 1})
    """

    def __init__(self, chunks: Iterator[Chunk], window: int = WINDOW):
        self._source = chunks
        self._window = window
        self._size = 0
        self._groups: dict[str, deque[Chunk]] = {}

    def take(self, last: str | None, others: Collection[str]) -> Chunk | None:
        """The next chunk for a worker whose last group this is, while other workers are at other groups.

        It stays with its group; then it takes the first group that nobody is at; then it helps where most waits.
        """
        self._fill()
        if not self._groups:
            return None
        free = (group for group in self._groups if group not in others)
        group = last if last in self._groups else next(free, None)
        if group is None:
            group = max(self._groups, key=lambda name: len(self._groups[name]))
        waiting = self._groups[group]
        chunk = waiting.popleft()
        if not waiting:
            del self._groups[group]
        self._size -= 1
        return chunk

    def put_back(self, chunk: Chunk) -> None:
        """Have a chunk run again, soon."""
        self._groups.setdefault(chunk.group, deque()).appendleft(chunk)
        self._size += 1

    def __bool__(self) -> bool:
        self._fill()
        return self._size > 0

    def _fill(self) -> None:
        while self._size < self._window:
            chunk = next(self._source, None)
            if chunk is None:
                return
            self._groups.setdefault(chunk.group, deque()).append(chunk)
            self._size += 1
