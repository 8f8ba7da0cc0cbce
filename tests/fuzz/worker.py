"""Cases of one kind, in a process of their own with limits; each is told of before it begins and when it has ended."""

import builtins
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from random import Random
from types import FrameType

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
    """What is written outside a folder, and what is imported that only an input names."""

    def __init__(self, folder: Path):
        self.inside, self.found, self.on = str(folder.resolve()), [], False
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple) -> None:
        if not self.on:
            return
        if event == "import" and str(arguments[0]).startswith("evil"):
            self.found.append(f"imported {arguments[0]}")
        elif event == "open" and isinstance(arguments[0], str | bytes) and self._writes(arguments):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith((self.inside, "/dev/", "/proc/")) and "gpbe" not in path and "jax" not in path:
                self.found.append(f"wrote {path}")

    @staticmethod
    def _writes(arguments: tuple) -> bool:
        mode, flags = arguments[1], arguments[2]
        return any(c in mode for c in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR))


def main(kind: str, seed: str, first: int, count: int, folder: str, corpus: str = "") -> None:
    """Run the files of a corpus, and the cases `first` to `first + count`; a line of JSON each."""
    from fuzz.kinds import KINDS
    from gpbe.lazy import named

    warnings.simplefilter("ignore")
    room = Path(folder)
    (room / "evilmod.py").write_text("raise SystemExit('imported')\n")
    sys.path.insert(0, str(room))
    os.chdir(room)
    maker = named(KINDS[kind])(room)
    watch, alarm = Watch(room), Alarm(maker.patience)
    say = builtins.print
    out = os.fdopen(os.dup(1), "w")
    files = sorted(Path(corpus).iterdir()) if corpus else []
    for k in [*files, *range(first, first + count)]:
        name = k.name if isinstance(k, Path) else k
        say(json.dumps({"begin": name}), file=out, flush=True)
        case = maker.kept(k) if isinstance(k, Path) else maker.make(Random(f"{seed}-{kind}-{k}"))
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
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
        told = {"end": name, "outcome": outcome, "error": error, "seconds": round(time.perf_counter() - started, 3)}
        if outcome == "broke":
            told["case"] = maker.keep(case, Path(folder).parent / "broke")
        say(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
