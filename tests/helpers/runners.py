"""Chunks and runners for the tests of sweeps; workers and drivers in other processes import this module."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from gpbe import InputError, store
from gpbe.runner import Chunk, Event, Local, Ray, run

DRAW = "helpers.runners:draw"
LEARN = "helpers.runners:learn"
SPEC = {"name": "a sweep of nothing", "runs": 3}


def chunks(n: int, seconds: float = 0.0) -> list[Chunk]:
    """Chunks of three groups, one after the other."""
    return [
        Chunk(f"group {3 * k // n}", 100 + k, {"k": k, "seed": 1000 + k, "runs": 3, "seconds": seconds})
        for k in range(n)
    ]


def hanging_chunks() -> list[Chunk]:
    """Two good ones, one that hangs at its first attempt, and one that always does; for `misbehave`."""
    ways = [None, "hang once", "hang", None]
    return [Chunk("g", 10, {"k": k, "seed": k, "runs": 2, "seconds": 0, "how": how}) for k, how in enumerate(ways)]


def draw(payload: dict) -> pl.DataFrame:
    """Random numbers, a row a run.

    It waits while the file named by SWEEP_HOLD is there, and leaves its process id beside it and in SWEEP_PIDS.
    """
    sign()
    hold = os.environ.get("SWEEP_HOLD")
    if hold and Path(hold).exists():
        Path(f"{hold}.{os.getpid()}").touch()
        if "SWEEP_DEAF" in os.environ:
            ctypes.PyDLL(None).sleep(60)  # with Python's lock
        while Path(hold).exists():
            time.sleep(0.01)
    time.sleep(payload["seconds"])
    rng = np.random.default_rng(payload["seed"])
    return pl.DataFrame(
        {
            "k": np.full(payload["runs"], payload["k"]),
            "run": np.arange(payload["runs"]),
            "value": rng.normal(size=payload["runs"]),
            "diverged_at": np.where(rng.random(payload["runs"]) < 0.3, 17, -1),
        }
    )


def learn(payload: dict) -> pl.DataFrame:
    """A chunk of a control sweep; the process id is left in SWEEP_PIDS."""
    from gpbe.experiments.sweep import run_chunk

    sign()
    return run_chunk(payload)


def sign() -> None:
    """Leave the process id in SWEEP_PIDS."""
    if "SWEEP_PIDS" in os.environ:
        Path(os.environ["SWEEP_PIDS"], str(os.getpid())).touch()


def misbehave(payload: dict) -> pl.DataFrame:
    """Do as the payload says: raise, die, leave, hang, return something else, or a table like no other."""
    match payload.get("how"):
        case "raise":
            raise ValueError("no such thing as 7")
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            sys.exit(3)
        case "hang":
            time.sleep(600)
        case "hang once":
            seen = Path(os.environ["SWEEP_SEEN"])
            if not seen.exists():
                seen.touch()
                time.sleep(600)
        case "list":
            return [1, 2, 3]  # pyright: ignore[reportReturnType]
        case "columns":
            return pl.DataFrame({"other": [1]})
        case "once":  # goes wrong at the first attempt only
            seen = Path(os.environ["SWEEP_SEEN"])
            if not seen.exists():
                seen.touch()
                raise OSError("not now")
    return draw(payload)


def threads(payload: dict) -> pl.DataFrame:
    """What a worker may use."""
    names = ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
    affinity = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    columns = {name: [os.environ[name]] for name in names}
    return pl.DataFrame({"pid": [os.getpid()], "cores": [affinity], "polars": [pl.thread_pool_size()], **columns})


def drive(folder: str, n: int, seconds: float, workers: int = 2, address: str = "", log: str = os.devnull) -> None:
    """A driver for a process of its own. What goes wrong is added to the log."""

    def tell(event: Event) -> None:
        if event.message:
            with open(log, "a") as file:
                print(event.kind, event.chunk, event.message, file=file)

    executor = Ray(address) if address else Local(workers)
    report = run(folder, SPEC, chunks(n, seconds), DRAW, executor=executor, display=tell)
    print("interrupted" if report.interrupted else "complete" if report.complete else "incomplete")
    print(report.counts.done, report.counts.failed)


def table(folder: Path) -> pl.DataFrame:
    """All results, in the order of the chunks."""
    return store.scan(folder).collect()


def parts(folder: Path) -> dict[str, int]:
    """When each part was written."""
    return {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("*")}


def alive(pid: int) -> bool:
    """Whether a process is there and not just waiting to be buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_until(condition, seconds: float = 20.0) -> None:
    """Wait for something that other processes bring about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def refused_from(limit: int, number: int) -> int:
    """The number itself, if it is below the limit."""
    if number >= limit:
        raise InputError(f"number {number} is too large")
    return number
