"""Control experiments as data: domains x algorithms x settings x runs, and the chunks of work that they fall into.

A lane is one run of one setting. Lanes are numbered, setting after setting, and go eight at a time into a chunk: one
compiled program, one worker, one part of the results. The same declaration always means the same chunks.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import find_algorithm
from gpbe.envs.domains import domain_of
from gpbe.experiments.sweep_checks import check_sweep, check_swept
from gpbe.learn.control.learning import DEFAULTS
from gpbe.learn.grouping import group_size
from gpbe.runner import Chunk

Setting = Mapping[str, float]


@dataclass(frozen=True)
class Swept:
    """One algorithm and the settings that are tried: a grid, some settings of a grid, or a list.

    >>> Swept("qrc", {"step_size": (0.1, 0.2), "tau": (0.0,)}).numbered()
    {0: {'step_size': 0.1, 'tau': 0.0}, 1: {'step_size': 0.2, 'tau': 0.0}}
    >>> Swept("qrc", {"step_size": (0.1, 0.2), "tau": (0.0,)}, only=(1,)).numbered()
    {1: {'step_size': 0.2, 'tau': 0.0}}
    >>> Swept("qrc", settings=({"step_size": 0.1, "tau": 1.0},)).count
    1
    """

    algorithm: str
    """A name, or "module:NAME" of a record of one's own (see `gpbe.algorithms.control.find_algorithm`)."""
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """What is swept; every combination is a setting."""
    settings: tuple[Setting, ...] = ()
    """Instead of a grid: the settings themselves."""
    domains: tuple[str, ...] = ()
    """Where they are tried; in all of the sweep's if left out."""
    only: tuple[int, ...] = ()
    """The numbers of those settings that are tried; all if left out. They keep their numbers."""
    runs: int | None = None
    """Runs of each, if not as many as the sweep has."""
    first_run: int | None = None
    """Number of the first of them, if not the sweep's."""

    def __post_init__(self) -> None:
        check_swept(self)

    @cached_property
    def count(self) -> int:
        """How many settings are tried."""
        return len(self.only) or self.total

    @property
    def total(self) -> int:
        """How many settings there are, tried or not."""
        return len(self.settings) or math.prod(len(values) for values in self.grid.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What differs between settings."""
        return tuple(self.settings[0] if self.settings else self.grid)

    def numbered(self) -> dict[int, dict[str, float]]:
        """The settings that are tried, by their numbers: their places among all settings."""
        if self.settings:
            whole = [{k: float(setting[k]) for k in self.names} for setting in self.settings]
        else:
            combinations = itertools.product(*self.grid.values())
            whole = [dict(zip(self.grid, map(float, values), strict=True)) for values in combinations]
        return {k: whole[k] for k in self.only or range(len(whole))}


@dataclass(frozen=True)
class Sweep:
    """A control experiment."""

    name: str
    domains: tuple[str, ...]
    algorithms: tuple[Swept, ...]
    runs: int
    steps: int
    every: int = DEFAULTS.every
    seed: int = 0
    describe: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `gpbe.train` (`gpbe.learn.control.learning.OPTIONS`), and hyperparameters that are not swept."""
    first_run: int = 0
    """Number of the first run. Runs of one number are alike in all settings, so fresh ones begin at another."""

    def __post_init__(self) -> None:
        check_sweep(self)

    @property
    def settings(self) -> int:
        """How many settings there are, of all algorithms."""
        return sum(swept.count for swept in self.algorithms)

    @property
    def work(self) -> int:
        """Steps of all runs."""
        return sum(swept.count * self.runs_of(swept) for _, swept in self.parts()) * self.steps

    @property
    def unit(self) -> str:
        """What `work` counts."""
        return "steps"

    @property
    def runner(self) -> str:
        """What runs a chunk."""
        return "gpbe.experiments.sweep:run_chunk"

    @property
    def columns(self) -> list[str]:
        """The hyperparameters that have a column in the results: all that differ between settings of an algorithm."""
        names = {name for swept in self.algorithms for name in swept.names}
        return [name for name in Hypers._fields if name in names] + sorted(names.difference(Hypers._fields))

    def runs_of(self, swept: Swept) -> int:
        """Runs of each setting of one of the algorithms."""
        return self.runs if swept.runs is None else swept.runs

    def parts(self) -> Iterator[tuple[str, Swept]]:
        """Every algorithm in every domain; quick domains first, so that there is soon something to look at."""
        for domain in sorted(self.domains, key=lambda name: domain_of(name).host):
            for swept in self.algorithms:
                if domain in (swept.domains or self.domains):
                    yield domain, swept

    def spec(self) -> dict[str, Any]:
        """All of it as JSON, without what is only said about it."""
        told = {k: v for k, v in asdict(self).items() if k != "describe"}
        for swept in told["algorithms"]:  # what came later is told where it is used: stored sweeps keep their names
            if swept["first_run"] is None:
                del swept["first_run"]
        return told

    def chunks(self) -> "Chunks":
        """The work, in pieces."""
        return Chunks(self)


@dataclass(frozen=True)
class Chunks:
    """The chunks of a sweep. They can be gone through again and again; nothing is held."""

    sweep: Sweep

    def __iter__(self) -> Iterator[Chunk]:
        for domain, swept in self.sweep.parts():
            yield from self._of(domain, swept)

    def _of(self, domain: str, swept: Swept) -> Iterator[Chunk]:
        s, settings = self.sweep, swept.numbered()
        # Settings that differ in the shape of a network cannot share a program.
        shapes = {n: tuple(v for k, v in x.items() if k not in Hypers._fields) for n, x in settings.items()}
        for shape in sorted(set(shapes.values())):
            chosen = [number for number, own in shapes.items() if own == shape]
            start = s.first_run if swept.first_run is None else swept.first_run
            lanes = [(k, run) for k in chosen for run in range(start, start + s.runs_of(swept))]
            size = group_size(len(lanes))
            about = f" ({', '.join(f'{x:g}' for x in shape)})" if shape else ""
            group = f"{swept.algorithm}{about} on {domain}, {size} lanes"
            for first in range(0, len(lanes), size):
                mine = lanes[first : first + size]
                payload = {
                    "domain": domain,
                    "algorithm": swept.algorithm,
                    "lanes": [[k, run] for k, run in mine],
                    "hyperparameters": [settings[k] for k, _ in mine],
                    "columns": s.columns,
                    "pad": size,
                    "steps": s.steps,
                    "every": s.every,
                    "seed": s.seed,
                    "options": dict(s.options),
                }
                yield Chunk(group, len(mine) * s.steps, payload)


def run_chunk(payload: dict[str, Any]) -> pl.DataFrame:
    """One chunk: a row for each lane. It depends on the payload alone."""
    from gpbe.envs import find
    from gpbe.learn.control.lanes import learn_lanes
    from gpbe.learn.control.reading import Asked, by_lane, numbers_and_choices, read_options, read_settings

    steps, settings = payload["steps"], payload["hyperparameters"]
    real = len(settings)
    swept, shape = numbers_and_choices(settings[0])
    fixed, options = numbers_and_choices(payload["options"])
    record = find_algorithm(payload["algorithm"]).varied(**shape)
    numbers = read_settings(record, fixed | {k: np.array([x[k] for x in settings]) for k in swept})
    # One program for hard and soft maxima, as a group has both. Its last chunk is padded to the size of the others.
    env, asked = find(payload["domain"]), Asked(**options, every=payload["every"])
    made = read_options(record.make(), env, steps, asked)
    lanes, runs = np.minimum(np.arange(payload["pad"]), real - 1), np.array([run for _, run in payload["lanes"]])
    of_lanes = by_lane(numbers, lanes if numbers.swept else 0 * lanes)
    learned = learn_lanes(made, env, of_lanes, runs[lanes], steps, payload["seed"])
    return pl.DataFrame(
        {
            "domain": [payload["domain"]] * real,
            "algorithm": [payload["algorithm"]] * real,
            "setting": [k for k, _ in payload["lanes"]],
            **{k: pl.Series([x.get(k) for x in settings], dtype=pl.Float64) for k in payload["columns"]},
            "run": runs,
            "every": [payload["every"]] * real,
            "returns": list(learned.returns[:real].astype(np.float32)),
            "diverged_at": learned.diverged_at[:real],
        },
        schema_overrides={"returns": pl.List(pl.Float32), "diverged_at": pl.Int64},
    )
