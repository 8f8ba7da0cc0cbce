"""A sweep on this machine: one single-threaded process a core, replaced when it dies."""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait

from gpbe.errors import InputError
from gpbe.interrupts import uninterrupted
from gpbe.process import environment, search_path
from gpbe.runner.chunk import Chunk
from gpbe.runner.executor import Reply
from gpbe.runner.worker import Answer, Job

_BOOT = "import sys; from gpbe.runner.worker import main; main(*map(int, sys.argv[1:]))"
_PAUSE = 1.0
"""Seconds to wait for news before the driver may look at the clock."""
_STILLBORN = 3
"""Workers for each place that may die one after another before any of them is ready."""


def available_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@dataclass(frozen=True)
class Local:
    """Run on this machine.

    With as many workers as there are cores, each is bound to one core; with fewer they are left free, so that two
    sweeps beside each other do not share the same few.
    """

    workers: int | None = None
    """How many processes; as many as there are cores if left out."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers is {self.workers}; it should be at least 1")

    def start(self, job: Job, at_most: int) -> "LocalCrew":
        """Start the processes."""
        cores = available_cores()
        workers = min(self.workers or len(cores), at_most)
        bind = workers == len(cores) and hasattr(os, "sched_setaffinity")
        return LocalCrew(job, cores if bind else [-1] * workers)


class _Worker:
    """A process and this end of the socket to it."""

    def __init__(self, job: Job, core: int):
        self.core = core
        self.ready = False
        self.dismissed = ""
        self.socket, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, str(theirs.fileno()), str(core), str(os.getpid())],
                env={**os.environ, **environment(), "PYTHONPATH": search_path()},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a runner prints does not mix with what the command prints
                process_group=0,  # Ctrl-C is for the driver, which ends its workers itself
            )
        self.send(job)

    def send(self, message: Job | Chunk) -> None:
        with contextlib.suppress(OSError):  # it has died, which `wait` tells in a moment
            self.socket.send(message)

    def end(self, patience: float = 0.0) -> int:
        """Its exit code; one that has not ended by itself in that many seconds is killed."""
        self.socket.close()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class LocalCrew:
    """The processes of a running sweep."""

    def __init__(self, job: Job, cores: list[int]):
        self._job = job
        self._workers: dict[int, _Worker] = {}
        self._started = 0
        self._stillborn = 0
        try:
            for core in cores:
                self._hire(core)
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """How many processes there are."""
        return len(self._workers)

    def send(self, worker: int, chunk: Chunk) -> None:
        """Give a chunk to a process that is ready."""
        self._workers[worker].send(chunk)

    def wait(self) -> list[Reply]:
        """Wait a moment for answers and deaths; a process that died has been replaced."""
        speaking = set(wait([worker.socket for worker in self._workers.values()], _PAUSE))
        return [self._hear(name) for name, worker in list(self._workers.items()) if worker.socket in speaking]

    def dismiss(self, worker: int, why: str) -> None:
        """Kill a process."""
        self._workers[worker].dismissed = why
        self._workers[worker].process.kill()

    def close(self) -> None:
        """End all processes. They hold nothing but the chunk they are at, so they are not asked."""
        with uninterrupted():
            for worker in self._workers.values():
                worker.process.kill()
            for worker in self._workers.values():
                worker.end()
            self._workers.clear()

    def _hire(self, core: int) -> None:
        with uninterrupted():  # or a process that has just been started would be nobody's, and not be ended
            self._started += 1
            self._workers[self._started] = _Worker(self._job, core)

    def _hear(self, name: int) -> Reply:
        worker = self._workers[name]
        answer = _receive(worker.socket)
        if answer is None:
            return self._replace(name)
        if answer.kind == "unusable":
            raise InputError(answer.error)
        if answer.kind == "ready":
            worker.ready = True
            self._stillborn = 0
        return Reply(name, answer.kind, answer.part, answer.error)

    def _replace(self, name: int) -> Reply:
        worker = self._workers.pop(name)
        code = worker.end(patience=1.0)
        self._stillborn += not worker.ready
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        if self._stillborn > _STILLBORN * (self.size + 1):
            raise InputError(f"workers end {how} before they have started; try `import gpbe` in {sys.executable}")
        self._hire(worker.core)
        return Reply(name, "died", error=worker.dismissed or f"the worker process {worker.process.pid} ended {how}")


def _receive(socket: Connection) -> Answer | None:
    """A worker's answer, or nothing if it ended, perhaps in the middle of it."""
    try:
        return socket.recv()
    except (EOFError, OSError):
        return None
