"""What an experiment costs on this machine, from a short calibration."""

import time

from gpbe.experiments.sweeps import Sweep, Swept, run_chunk
from gpbe.learn.grouping import LANES
from gpbe.sweep import Chunk

RELATIVE_SPEED = {
    "q-learning": 1.0,
    "qc": 1.0,
    "qrc": 1.0,
    "qrc-sep": 0.6,
    "qrc-grad": 0.6,
    "qc-ll": 0.44,
    "gq": 1.0,
    "gq-grad": 0.55,
    "sbeed": 0.6,
    "sbeed-q": 1.0,
    "tdrc-pg": 0.67,
}
"""Steps a second over QRC's, rounded from `gpbe bench control`; environments on the host hide some of the gap."""


def calibrate(domain: str, steps: int = 2000) -> float:
    """Steps a second of QRC on one core: one chunk to compile, one to measure."""
    short, long = (_chunk(domain, n) for n in (500, steps))
    run_chunk(short.payload)
    started = time.perf_counter()
    run_chunk(long.payload)
    return long.cost / (time.perf_counter() - started)


def _chunk(domain: str, steps: int) -> Chunk:
    qrc = Swept("qrc", {"step_size": (2.0**-10,)})
    return next(iter(Sweep("calibration", (domain,), (qrc,), runs=LANES, steps=steps).chunks()))
