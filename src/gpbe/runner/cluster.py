"""A sweep on a Ray cluster: one actor a CPU, replaced when it or its machine dies.

Parts come back to the driver, which writes them: the machines need no common file system, only gpbe and the runner's
module installed.
"""

import contextlib
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from gpbe.errors import InputError
from gpbe.interrupts import undisturbed, uninterrupted
from gpbe.process import single_threaded, with_cache
from gpbe.runner.chunk import Chunk
from gpbe.runner.executor import Reply
from gpbe.runner.mapped import mapped
from gpbe.runner.worker import Answer, Job, prepare

T = TypeVar("T")
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_LOOPBACK = "127.0.0.1"
_HERE: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": _LOOPBACK}
"""Options of a cluster that is started here: no dashboard, to which anybody could give work, and no way in."""
_OPEN = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's variable, on every system: unless it is 0, Ray takes 127.0.0.1 for this machine's address in the network."""
_PATIENCE = 1.0
"""Seconds to wait for news before looking again at how large the cluster is."""
_STILLBORN = 5
"""Actors for each place that may die one after another before any of them is ready."""
_BLAME = 0.25
"""A machine that goes away is hardly its chunk's fault, but one that brings machines down must not go on for ever."""


@dataclass(frozen=True)
class Ray:
    """Run on a Ray cluster.

    Machines that join the cluster while the sweep runs are used too.
    """

    address: str | None = None
    """`auto` for the cluster this machine is part of, host:port for another, `local` to start one here; if left out,
    the address in the variable RAY_ADDRESS, else a cluster that is started here."""
    workers: int | None = None
    """How many actors at most; as many as the cluster has CPUs if left out."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers is {self.workers}; it should be at least 1")

    def start(self, job: Job, at_most: int) -> "RayCrew":
        """Connect to the cluster and start the actors."""
        return RayCrew(job, min(at_most, self.workers or at_most), self.address)

    def map(self, work: Callable[[int], T], count: int) -> Iterator[T]:
        """What a function makes of 0, 1, ..., in this order, so many numbers; see `gpbe.runner.mapped`."""
        return mapped(self, work, count)

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        """Stay connected in between, so that a cluster that is started here is started once."""
        ray = _import_ray()
        if ray.is_initialized():
            yield
            return
        _connect(ray, self.address)
        try:
            yield
        finally:
            with uninterrupted():
                ray.shutdown()


class RayCrew:
    """The actors of a running sweep."""

    def __init__(self, job: Job, at_most: int, address: str | None):
        self._ray = _import_ray()
        self._started_here = not self._ray.is_initialized()
        if self._started_here:
            _connect(self._ray, address)
        # Ray tells of dead workers on standard output, where a program may wait for JSON.
        self._redirected = contextlib.ExitStack()
        self._redirected.enter_context(contextlib.redirect_stdout(sys.stderr))
        # An actor that dies is replaced here and not by Ray, so that its chunk is known and counted.
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        environment = {"env_vars": single_threaded(os.environ)}
        self._actor = self._ray.remote(**options, runtime_env=environment)(Actor)
        self._job = job
        self._at_most = at_most
        self._actors: dict[int, Any] = {}
        self._awaited: dict[Any, int] = {}  # object reference -> actor
        self._ready: set[int] = set()
        self._dismissed: dict[int, str] = {}
        self._started = 0
        self._stillborn = 0
        self._looked = -1e9

    @property
    def size(self) -> int:
        """How many actors there are, those that wait for a CPU included."""
        return len(self._actors)

    def send(self, worker: int, chunk: Chunk) -> None:
        """Give a chunk to an actor that is ready."""
        self._awaited[self._actors[worker].work.remote(chunk)] = worker

    def wait(self) -> list[Reply]:
        """Wait a moment for answers and deaths; actors that died, and machines that joined, get new actors."""
        self._grow()
        if not self._awaited:
            time.sleep(_PATIENCE)
            return []
        references = list(self._awaited)
        finished, _ = self._ray.wait(references, num_returns=1, timeout=_PATIENCE)
        if finished:  # and whatever else is there already
            finished, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        return [self._hear(reference) for reference in finished]

    def dismiss(self, worker: int, why: str) -> None:
        """Kill an actor."""
        self._dismissed[worker] = why
        self._ray.kill(self._actors[worker])

    def close(self) -> None:
        """End the actors, and the cluster if it was started for this sweep."""
        with uninterrupted():
            while self._actors:
                self._ray.kill(self._actors.popitem()[1])
            # A reference that is dropped later would be dropped in the next cluster, whose actors have the same names.
            self._awaited.clear()
            if self._started_here:
                self._ray.shutdown()
            self._redirected.close()

    def _grow(self) -> None:
        """Have an actor for every CPU. One that finds no room is not ready, so it holds no chunk while it waits."""
        if time.monotonic() - self._looked < _PATIENCE:
            return
        self._looked = time.monotonic()
        cpus = int(self._ray.cluster_resources().get("CPU", 0))
        for _ in range(min(cpus, self._at_most) - self.size):
            self._started += 1
            actor = self._actor.remote(self._job, sys.path)
            self._actors[self._started] = actor
            self._awaited[actor.hello.remote()] = self._started

    def _hear(self, reference: Any) -> Reply:
        name = self._awaited.pop(reference)
        try:
            answer: Answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return self._let_go(name, error)
        if answer.kind == "unusable":
            raise InputError(answer.error)
        if answer.kind == "ready":
            self._ready.add(name)
            self._stillborn = 0
        if self._dismissed.pop(name, None):  # it answered just before it was ended, so nobody will tell of its end
            del self._actors[name]
            self._looked = -1e9
        return Reply(name, answer.kind, answer.part, answer.error)

    def _let_go(self, name: int, error: Exception) -> Reply:
        """Let go of an actor that does not answer, whether it died or cannot be reached."""
        with contextlib.suppress(Exception):
            self._ray.kill(self._actors[name])
        del self._actors[name]
        self._looked = -1e9
        text = str(error).strip() or type(error).__name__
        self._stillborn += name not in self._ready
        if self._stillborn > _STILLBORN * (self.size + 1):
            raise InputError(f"Ray's workers end before they have started: {text.splitlines()[-1].strip()}")
        if name in self._dismissed:
            return Reply(name, "died", error=self._dismissed.pop(name))
        return Reply(name, "died", error=text, blame=_BLAME if self._may_be_the_node(error) else 1.0)

    def _may_be_the_node(self, error: Exception) -> bool:
        unreachable = isinstance(error, self._ray.exceptions.ActorUnavailableError)
        return unreachable or "its node has died" in str(error)


class Actor:
    """A worker on a Ray cluster."""

    def __init__(self, job: Job, path: list[str]):
        os.environ.update(with_cache(os.environ))  # here, since it may not be the driver's machine
        sys.path += [entry for entry in path if entry not in sys.path]  # for runners beside the driver's script
        self._work, self._hello = prepare(job)

    def hello(self) -> Answer:
        """Whether it is ready."""
        return self._hello

    def work(self, chunk: Chunk) -> Answer:
        """A chunk's part."""
        return self._work(chunk)


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for a report to its makers
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise InputError(f"Ray is not installed ({error}); pip install 'gpbe[ray]'") from None
    return ray


def _joins(address: str | None) -> bool:
    """Is there a cluster to join? Otherwise one is started here."""
    return (address or os.environ.get("RAY_ADDRESS") or "local") != "local"


def _connect(ray: Any, address: str | None) -> None:
    joins = _joins(address)
    try:
        closed = contextlib.nullcontext() if joins else _closed_to_others(ray)
        with warnings.catch_warnings(), undisturbed(), closed:  # Ray has SIGTERM end the process without a word
            warnings.simplefilter("ignore")
            ray.init(address=address, **_QUIET, **({} if joins else _HERE))
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        where = f"at {address}" if address else "on this machine"
        raise InputError(f"no Ray cluster {where}: {reason}; start one with `ray start --head`, or use local") from None
    if not joins and any(node["NodeManagerAddress"] != _LOOPBACK for node in ray.nodes()):
        ray.shutdown()
        raise InputError(
            f"Ray {ray.__version__} listens to other machines too; to have that, start it with `ray start --head` and "
            "run on ray:auto; or use local"
        )


@contextlib.contextmanager
def _closed_to_others(ray: Any) -> Iterator[None]:
    """Here a cluster is started that listens on the loopback address alone.

    What Ray starts reads the variable; what was imported before has read it already.
    """
    constants = ray._private.ray_constants
    before, read = os.environ.get(_OPEN), constants.ENABLE_RAY_CLUSTER
    os.environ[_OPEN], constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = read
        os.environ.pop(_OPEN)
        os.environ.update({} if before is None else {_OPEN: before})
