"""Which chunk a worker gets next: one of the group that it has compiled, if any waits, but never none.

Near the end the longest chunk that waits goes first, so that it is not what all but one worker wait for.
"""

import math
from collections import deque
from collections.abc import Collection, Iterator

from gpbe.runner.chunk import Chunk

WINDOW = 1024
"""Chunks looked at ahead of time: enough to find another group for another worker, and bounded however many follow."""
SWITCH = 10.0
"""Seconds that a chunk must be longer for a worker to leave its group for it: more than a program takes to compile."""
END = 4
"""The end is near when all that waits would take the workers less than so many of the longest chunks."""


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
        self._exhausted = False
        self._groups: dict[str, deque[Chunk]] = {}
        self._pace: dict[str, float] = {}

    def took(self, chunk: Chunk, seconds: float) -> None:
        """Note how long a chunk took. The quickest of a group, which had nothing to compile, predicts the others."""
        pace = seconds / max(chunk.cost, 1)
        self._pace[chunk.group] = min(pace, self._pace.get(chunk.group, math.inf))

    def take(self, last: str | None, others: Collection[str], workers: int = 1) -> Chunk | None:
        """The next chunk for one of so many workers, whose last group this is, while others are at other groups.

        It stays with its group; then it takes the first group that nobody is at; then it helps where most waits.
        """
        self._fill()
        if not self._groups:
            return None
        free = (group for group in self._groups if group not in others)
        group = last if last in self._groups else next(free, None)
        if group is None:
            group = max(self._groups, key=lambda name: len(self._groups[name]))
        group = self._longest_at_the_end(group, workers)
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

    def _longest_at_the_end(self, group: str, workers: int) -> str:
        """The group whose chunks are the longest, if little else is left and the given one's are much shorter."""
        if not self._exhausted or group not in self._pace:  # one that is not known yet may be longer still
            return group
        seconds = {name: self._seconds(waiting[0]) for name, waiting in self._groups.items()}
        longest = max(seconds, key=lambda name: seconds[name])
        if seconds[longest] < seconds[group] + SWITCH:
            return group
        left = sum(self._seconds(chunk) for waiting in self._groups.values() for chunk in waiting)
        return longest if left < END * workers * seconds[longest] else group

    def _seconds(self, chunk: Chunk) -> float:
        """An estimate; 0 for a group of which nothing is known yet."""
        return self._pace.get(chunk.group, 0.0) * chunk.cost

    def _fill(self) -> None:
        while self._size < self._window:
            chunk = next(self._source, None)
            if chunk is None:
                self._exhausted = True
                return
            self._groups.setdefault(chunk.group, deque()).append(chunk)
            self._size += 1
