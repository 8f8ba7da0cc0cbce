"""What an experiment costs on this machine, from a short calibration."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpbe.experiments import random_walk
from gpbe.experiments.experiment import Experiment
from gpbe.experiments.studies import STUDIES
from gpbe.experiments.study import Study
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
DRAWS = 500
REFERENCE = 0.093
"""Seconds for so many draws of the random walk on the machine on which the studies' own times were taken."""


@dataclass(frozen=True)
class Speed:
    """Of one core of a machine."""

    rates: dict[str, float]
    """Steps a second of QRC, by domain."""
    relative: float
    """Over that of the machine on which the studies' times were taken."""


def calibrate(domains: Iterable[str], advance: Callable[[int], None] = lambda domains: None) -> Speed:
    """Measure; `advance` is told when a domain is done, and when the arithmetic is."""
    rates = {}
    for domain in sorted(domains):
        rates[domain] = steps_per_second(domain)
        advance(1)
    best = min(_seconds_for_draws() for _ in range(3))
    advance(1)
    return Speed(rates, REFERENCE / best)


def core_seconds(experiment: Experiment, speed: Speed) -> float:
    """Time on one core; compiling is not counted for sweeps, which take much longer than that."""
    if isinstance(experiment, Sweep):
        return sum(
            swept.count * experiment.runs * experiment.steps / (speed.rates[domain] * RELATIVE_SPEED[swept.algorithm])
            for domain in experiment.domains
            for swept in experiment.algorithms
        )
    assert isinstance(experiment, Study)
    once, each = STUDIES[experiment.name].seconds
    return (once * len(experiment.pieces) + each * experiment.work) / speed.relative


def steps_per_second(domain: str, steps: int = 2000) -> float:
    """Of QRC on one core: one chunk to compile, one to measure."""
    short, long = (_chunk(domain, n) for n in (500, steps))
    run_chunk(short.payload)
    started = time.perf_counter()
    run_chunk(long.payload)
    return long.cost / (time.perf_counter() - started)


def _chunk(domain: str, steps: int) -> Chunk:
    qrc = Swept("qrc", {"step_size": (2.0**-10,)})
    return next(iter(Sweep("calibration", (domain,), (qrc,), runs=LANES, steps=steps).chunks()))


def _seconds_for_draws() -> float:
    started = time.perf_counter()
    random_walk.solve_chunk(0, 0, DRAWS)
    return time.perf_counter() - started
