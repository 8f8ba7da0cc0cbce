"""Cases in a process of their own with limits; a line of JSON before each begins, and when it has ended."""

import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from gpbe.lazy import named
from gpbe.process import cache_folder

MEMORY = 2**30
WAITING = 10.0
"""Seconds without the processor for each second with it, after which a case waits for something."""


class TooLong(BaseException):
    """A case hangs."""


class Alarm:
    """Ends a case that uses the processor for too long, or waits; a machine that has no time for it is no reason."""

    def __init__(self, patience: float):
        self.patience = patience
        signal.signal(signal.SIGPROF, self._ring)
        signal.signal(signal.SIGALRM, self._look)

    def set(self) -> None:
        self._began = time.monotonic() - self._queued()
        signal.setitimer(signal.ITIMER_PROF, self.patience)
        signal.setitimer(signal.ITIMER_REAL, WAITING * self.patience)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _: int, __: FrameType | None) -> None:
        raise TooLong

    def _look(self, _: int, __: FrameType | None) -> None:
        left = WAITING * self.patience - (time.monotonic() - self._queued() - self._began)
        if left <= 0:
            raise TooLong
        signal.setitimer(signal.ITIMER_REAL, left + 0.1)

    @staticmethod
    def _queued() -> float:
        """Seconds that this process was ready to go on while others had the processor, as far as Linux tells it."""
        try:
            return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
        except (OSError, IndexError):
            return 0.0


class Watch:
    """What is written outside some folders, and what is imported that only an input names."""

    def __init__(self, *folders: Path):
        self.inside = tuple(f"{folder.resolve()}{os.sep}" for folder in folders)
        self.found, self.on = [], False
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple) -> None:
        if not self.on:
            return
        if event == "import" and str(arguments[0]).startswith("evil"):
            self.found.append(f"imported {arguments[0]}")
        elif event == "open" and isinstance(arguments[0], str | bytes) and self._writes(arguments):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith((*self.inside, "/dev/", "/proc/")) and "__pycache__" not in path:
                self.found.append(f"wrote {path}")

    @staticmethod
    def _writes(arguments: tuple) -> bool:
        mode, flags = arguments[1], arguments[2]
        return any(c in mode for c in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR))


def main(seed: str, folder: str, corpus: str, *stretches: str) -> None:
    """Try the files of a corpus, if there is one, and new cases, each stretch written as kind:first:count."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")
    for stretch in stretches:
        kind, first, count = stretch.split(":")
        for told in cases(kind, seed, range(int(first), int(first) + int(count)), Path(folder) / kind, corpus):
            print(json.dumps({"kind": kind, **told}), file=out, flush=True)


def cases(kind: str, seed: str, numbers: range, room: Path, corpus: str) -> Iterator[dict[str, Any]]:
    """Try cases of one kind in a folder of their own; each is told of before it begins, and what became of it."""
    from fuzz.kinds import KINDS

    room.mkdir(exist_ok=True)
    (room / "evilmod.py").write_text("raise SystemExit('imported')\n")
    sys.path.insert(0, str(room))
    os.chdir(room)
    maker = named(KINDS[kind])(room)
    watch, alarm = Watch(room, cache_folder(os.environ).parent), Alarm(maker.patience)
    files = sorted((Path(corpus) / maker.corpus).iterdir()) if corpus else []
    for k in [*files, *numbers]:
        name = k.name if isinstance(k, Path) else k
        yield {"begin": name}
        case = maker.kept(k) if isinstance(k, Path) else maker.make(Random(f"{seed}-{kind}-{k}"))
        started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        alarm.set()
        watch.on = True
        try:
            outcome, error = maker.check(case), ""
        except BaseException:
            outcome, error = "broke", traceback.format_exc()[-3000:]
        finally:
            watch.on = False
            alarm.stop()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if grown > MEMORY and grown > before * 1024 + 2**20:
            outcome, error = "broke", f"took {grown / 2**20:.0f} MiB"
        if watch.found:
            outcome, error = "broke", "; ".join(watch.found)
            watch.found.clear()
        told = {"end": name, "outcome": outcome, "error": error, "seconds": round(time.process_time() - started, 3)}
        yield told | ({"case": maker.keep(case, room.parents[1] / "broke")} if outcome == "broke" else {})


if __name__ == "__main__":
    main(*sys.argv[1:])
