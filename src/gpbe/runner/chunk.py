"""The unit of a sweep: what one worker computes in one go, named by its content."""

import json
from dataclasses import dataclass, field
from typing import Any

from gpbe.errors import InputError
from gpbe.store import canonical, digest


@dataclass(frozen=True)
class Chunk:
    """A piece of a sweep. Equal content has the same id everywhere and always.

    >>> chunk = Chunk("qrc on Mountain Car", 800_000, {"step_size": 2**-10, "seed": 7})
    >>> chunk.id
    '9951332ce3ca130f'
    >>> chunk.id == Chunk("qrc on Mountain Car", 5, {"seed": 7, "step_size": 0.0009765625}).id
    True
    """

    group: str
    """Names the compiled program; a worker stays with a group, so that it compiles once."""
    cost: int
    """Learning steps, for progress and rate. It is no part of the id."""
    payload: dict[str, Any]
    """What the runner is called with: plain JSON, so that a list is a list on every machine."""
    id: str = field(init=False)
    """The first sixteen hexadecimal digits of the SHA-256 of group and payload."""

    def __post_init__(self) -> None:
        if self.cost < 0:
            raise InputError(f"a chunk of group {self.group!r} has cost {self.cost}; it should be 0 or more steps")
        what = f"the payload of a chunk of group {self.group!r}"
        object.__setattr__(self, "payload", json.loads(canonical(self.payload, what)))
        object.__setattr__(self, "id", digest({"group": self.group, "payload": self.payload})[:16])

    def __hash__(self) -> int:
        return hash(self.id)
