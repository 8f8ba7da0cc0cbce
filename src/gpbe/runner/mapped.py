"""A function of numbers on the workers of an executor, for what is no sweep: nothing is stored, results come back."""

import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import polars as pl

from gpbe.errors import InputError
from gpbe.runner.chunk import Chunk
from gpbe.runner.executor import Executor, supervise
from gpbe.runner.queue import Queue
from gpbe.runner.worker import Job

T = TypeVar("T")
ATTEMPTS = 3
"""How often a worker may die of a number before nobody tries again."""


def mapped(executor: Executor, work: Callable[[int], T], count: int) -> Iterator[T]:
    """What `work` makes of 0, 1, ..., in this order, whoever is ready first. Modules and files must be there, too."""
    try:
        given = pickle.dumps((work, os.getcwd()))
    except Exception as error:  # whatever a user's function may raise
        raise InputError(f"this cannot be sent to other processes: {error}; use functions of a module") from None
    chunks = (Chunk("mapped", 1, {"number": number}) for number in range(count))
    crew = executor.start(Job(f"{__name__}:call", "", given), count)
    made: dict[int, bytes] = {}
    following = 0
    try:
        for outcome in supervise(crew, Queue(chunks), ATTEMPTS):
            if outcome.kind == "failed":
                raise RuntimeError(outcome.error)
            if outcome.kind == "done":
                made[outcome.chunk.payload["number"]] = outcome.part
            while following in made:
                yield _opened(made.pop(following))
                following += 1
    finally:
        crew.close()


def call(given: tuple[Callable[[int], Any], str], payload: dict[str, Any]) -> pl.DataFrame:
    """What a worker does with a number. That a user has made a mistake is a result: trying again would not help."""
    work, folder = given
    if os.path.isdir(folder):  # where names of files begin
        os.chdir(folder)
    try:
        result = work(payload["number"])
    except InputError as error:
        result = error
    return pl.DataFrame({"result": [pickle.dumps(result)]})


def _opened(part: bytes) -> Any:
    result = pickle.loads(pl.read_parquet(part)["result"].item())
    if isinstance(result, InputError):
        raise result
    return result
