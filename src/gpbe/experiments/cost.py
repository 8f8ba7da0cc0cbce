"""What an experiment costs on this machine, from a short calibration."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from gpbe.algorithms.control.table import find_algorithm
from gpbe.envs.domains import domain_of
from gpbe.experiments.experiment import Experiment
from gpbe.experiments.random_walk.computation import solve_chunk
from gpbe.experiments.study import Study
from gpbe.experiments.sweep import Sweep, Swept, run_chunk
from gpbe.learn.grouping import LANES, group_size
from gpbe.runner import Chunk

DRAWS = 500
REFERENCE = 0.093
"""Seconds for so many draws of the random walk on the machine on which the studies' own times were taken."""


@dataclass(frozen=True)
class Speed:
    """The speed of one core of a machine."""

    rates: dict[str, float]
    """Steps a second of QRC, by domain."""
    relative: float
    """Its speed over that of the machine on which the studies' times were taken."""


def calibrate(domains: Iterable[str], advance: Callable[[int], None] = lambda domains: None) -> Speed:
    """Measure; `advance` is told when a domain is done, and when the arithmetic is."""
    rates = {}
    for domain in sorted(set(map(measured, domains))):
        rates[domain] = steps_per_second(domain)
        advance(1)
    best = min(_seconds_for_draws() for _ in range(3))
    advance(1)
    return Speed(rates, REFERENCE / best)


class Cost(NamedTuple):
    """Time that an experiment takes; compiling is not counted for sweeps, which take much longer than that."""

    core_seconds: float
    """The time on one core."""
    longest: float
    """Seconds of its longest chunk, which no number of workers makes shorter."""

    def seconds(self, workers: int) -> float:
        return max(self.core_seconds / workers, self.longest)


def cost_of(experiment: Experiment, speed: Speed) -> Cost:
    """An estimate of what an experiment takes; NaN for a study of which nobody has measured anything."""
    if isinstance(experiment, Sweep):
        lanes = [  # how many, and the seconds of one
            (
                swept.count * experiment.runs_of(swept),
                experiment.steps / (speed.rates[measured(domain)] * relative_speed(swept)),
            )
            for domain, swept in experiment.parts()
        ]
        return Cost(sum(n * seconds for n, seconds in lanes), max(group_size(n) * seconds for n, seconds in lanes))
    if not isinstance(experiment, Study) or experiment.seconds is None:
        return Cost(math.nan, math.nan)
    once, each = experiment.seconds
    pieces = [(once + each * piece.work) / speed.relative for piece in experiment.pieces]
    return Cost(sum(pieces), max(pieces))


def measured(domain: str) -> str:
    """The domain whose speed is measured for this one."""
    return domain_of(domain).as_fast_as or domain


def relative_speed(swept: Swept) -> float:
    """Steps a second over QRC's."""
    return find_algorithm(swept.algorithm).speed


def steps_per_second(domain: str, steps: int = 4000) -> float:
    """The speed of QRC on one core, from the difference of a short chunk and a long one, both compiled."""
    short, long = (_chunk(domain, n) for n in (500, steps))
    run_chunk(short.payload)
    seconds = [_seconds(partial(run_chunk, chunk.payload)) for chunk in (short, long)]
    return (long.cost - short.cost) / (seconds[1] - seconds[0])


def _chunk(domain: str, steps: int) -> Chunk:
    qrc = Swept("qrc", {"step_size": (2.0**-10,)})
    return next(iter(Sweep("calibration", (domain,), (qrc,), runs=LANES, steps=steps).chunks()))


def _seconds_for_draws() -> float:
    return _seconds(partial(solve_chunk, 0, 0, DRAWS))


def _seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
