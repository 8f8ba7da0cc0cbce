"""What happens in a worker: find the runner, call it on a chunk, make a part of what it returns.

A local worker is a fresh Python process at the other end of a socket. It is no fork (JAX has threads, which a fork
leaves behind), and it does not import the driver's main script again, as a spawned `multiprocessing` process would.
"""

import functools
import importlib
import os
import pickle
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple, cast

import polars as pl

from gpbe.errors import InputError
from gpbe.runner.chunk import Chunk
from gpbe.store import encode, versions

Runner = Callable[[dict[str, Any]], pl.DataFrame]

_ERROR_LENGTH = 20_000
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


class Job(NamedTuple):
    """What is the same for all chunks of a sweep."""

    runner: str
    spec_hash: str
    given: bytes | None = None
    """What the runner is called with before a chunk's payload, pickled; nothing if left out."""


class Answer(NamedTuple):
    """A worker's message: that it is ready or cannot be, a part, or the traceback of what the runner raised."""

    kind: Literal["ready", "unusable", "part", "raised"]
    part: bytes = b""
    error: str = ""


def check_runner(runner: str) -> None:
    """Complain about a runner that is not written as package.module:function, before any worker starts."""
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", runner):
        raise InputError(f"runner {runner!r} should be written as package.module:function")


def find_runner(runner: str) -> Runner:
    """The function of that name, imported.

    >>> find_runner("gpbe.nowhere:run")
    Traceback (most recent call last):
    gpbe.errors.InputError: runner 'gpbe.nowhere:run' cannot be imported: No module named 'gpbe.nowhere'
    """
    check_runner(runner)
    module, _, name = runner.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever importing a user's module may raise
        raise InputError(f"runner {runner!r} cannot be imported: {error}") from None
    if not callable(function):
        raise InputError(f"runner {runner!r} is not a function")
    return cast(Runner, function)


def perform(function: Runner, job: Job, chunk: Chunk) -> Answer:
    """Call the runner on a chunk. Whatever it raises is an answer too."""
    started = time.perf_counter()
    try:
        frame = function(chunk.payload)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(f"runner {job.runner!r} returned {type(frame).__name__}; it should be a polars.DataFrame")
        about = {
            "chunk": chunk.id,
            "group": chunk.group,
            "spec_hash": job.spec_hash,
            "seed": chunk.payload.get("seed"),
            "steps": chunk.cost,
            "seconds": round(time.perf_counter() - started, 6),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
            "versions": versions(),
        }
        return Answer("part", encode(frame, about))
    except Exception:
        return Answer("raised", error=traceback.format_exc()[-_ERROR_LENGTH:])


def prepare(job: Job) -> tuple[Callable[[Chunk], Answer], Answer]:
    """What a worker does with its chunks, and what it says at its start."""
    try:
        function: Any = find_runner(job.runner)
        if job.given is not None:
            function = functools.partial(function, pickle.loads(job.given))
        return functools.partial(perform, function, job), Answer("ready")
    except InputError as error:
        return lambda chunk: Answer("unusable"), Answer("unusable", error=str(error))


def main(descriptor: int, core: int, driver_id: int) -> None:
    """A local worker's life: until the driver kills it, or is gone itself.

    Args:
        descriptor: of the socket to the driver
        core: the core to stay on, or -1 for any
        driver_id: process id of the driver
    """
    os.set_inheritable(descriptor, False)
    _die_with(driver_id)
    if core >= 0:
        os.sched_setaffinity(0, {core})
    driver = Connection(descriptor)
    inbox: SimpleQueue = SimpleQueue()
    # Listens while a chunk is computed, too: the socket ends when the driver does, even by kill -9.
    threading.Thread(target=_listen, args=(driver, inbox), daemon=True).start()
    work, hello = prepare(inbox.get())
    driver.send(hello)
    while True:
        driver.send(work(inbox.get()))


def _die_with(parent: int) -> None:
    """Be killed by the system when the driver is gone.

    The socket tells that too, but not while a runner holds Python's lock, or when this process was stopped.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before that
        os._exit(1)


def _listen(driver: Connection, inbox: SimpleQueue) -> None:
    try:
        while True:
            inbox.put(driver.recv())
    except (EOFError, OSError):
        os._exit(1)
