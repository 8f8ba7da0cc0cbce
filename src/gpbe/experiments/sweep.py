"""Control experiments as data: domains x algorithms x settings x runs, and the chunks of work that they fall into.

A lane is one run of one setting. Lanes are numbered, setting after setting, and go eight at a time into a chunk: one
compiled program, one worker, one part of the results. The same declaration always means the same chunks.
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.table import find_algorithm
from gpbe.algorithms.hyperparameters import checked_numbers
from gpbe.checks import check_at_least, check_divides, check_keys
from gpbe.envs.domains import domain_of
from gpbe.errors import InputError
from gpbe.learn.control.learning import Learning
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
    """Of all these settings, the numbers of those that are tried; all if left out. They keep their numbers."""
    runs: int | None = None
    """Runs of each, if not as many as the sweep has."""
    first_run: int | None = None
    """Number of the first of them, if not the sweep's."""

    def __post_init__(self) -> None:
        _check_swept(self)

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
    every: int = Learning().every
    seed: int = 0
    describe: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of `gpbe.train`: hidden, batch, buffer, optimizer, target_every, and hyperparameters that are not swept."""
    first_run: int = 0
    """Number of the first run. Runs of one number are alike in all settings, so fresh ones begin at another."""

    def __post_init__(self) -> None:
        _check(self)

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
    from gpbe.learn.control.reading import by_lane, numbers_and_choices, read_options, read_settings

    steps, settings = payload["steps"], payload["hyperparameters"]
    real = len(settings)
    swept, shape = numbers_and_choices(settings[0])
    fixed, options = numbers_and_choices(payload["options"])
    hidden = options.pop("hidden", None)
    record = find_algorithm(payload["algorithm"]).varied(**shape)
    numbers = read_settings(record, fixed | {k: np.array([x[k] for x in settings]) for k in swept})
    # One program for hard and soft maxima, as a group has both. Its last chunk is padded to the size of the others.
    env, learning = find(payload["domain"]), Learning(**options, every=payload["every"])
    made = read_options(record.make(), env, steps, learning, hidden)
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


def read(path: str | Path) -> Sweep:
    """A sweep of one's own from a TOML file.

    name, domains, runs and steps; `every`, `seed` and `first_run`; a table [options] of `gpbe.train`'s; and for each
    algorithm a table [algorithms.NAME] of lists to sweep over (an empty one sweeps nothing), or in its place
    [[algorithms.NAME.settings]] for every setting.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    optional = ("name", "every", "seed", "first_run", "options", "describe")
    check_keys(data, ("domains", "runs", "steps", "algorithms"), optional, f"{path}: key")
    if not isinstance(data["algorithms"], dict):
        raise InputError(f"{path}: algorithms should be tables, such as [algorithms.qrc]")
    try:
        algorithms = tuple(_read_swept(name, table) for name, table in data.pop("algorithms").items())
        data: dict[str, Any] = {"name": path.stem} | data | {"domains": tuple(data["domains"])}
        return Sweep(algorithms=algorithms, **data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _read_swept(name: str, table: Mapping[str, Any]) -> Swept:
    grid = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in table.items() if k != "settings"}
    return Swept(name, grid, tuple(table.get("settings", ())))


def _check_swept(swept: Swept) -> None:
    algorithm, name = find_algorithm(swept.algorithm), swept.algorithm
    if swept.grid and swept.settings:
        raise InputError(f"{name} has a grid and a list of settings; give one of them")
    for names in (swept.names, *swept.settings):
        check_keys(names, (), tuple(algorithm.declared), f"hyperparameter of {name}")
        if set(names) != set(swept.names):
            raise InputError(
                f"settings of {name} have {', '.join(swept.names)} or {', '.join(names)}; all need the same"
            )
    columns = {k: [x[k] for x in swept.settings] for k in swept.names} if swept.settings else swept.grid
    for key, values in columns.items():
        if not values:
            raise InputError(f"the grid of {name} has no values for {key}; give at least one")
        algorithm.declared[key].checked(list(values), key)
    for number in swept.only:
        if not 0 <= number < swept.total or swept.only.count(number) > 1:
            raise InputError(f"{name} has settings 0 to {swept.total - 1}; only has {number}, or has it twice")
    check_at_least(1, **{f"runs of {name}": swept.runs})
    check_at_least(0, **{f"first_run of {name}": swept.first_run})


def _check(s: Sweep) -> None:
    """Everything that can be wrong with a declaration, before anything is run."""
    check_at_least(1, runs=s.runs, steps=s.steps)
    check_at_least(0, first_run=s.first_run)
    check_divides(s.every, s.steps)
    for key in ("domains", "algorithms"):
        if not getattr(s, key):
            raise InputError(f"{key} is empty; name at least one")
    of_train = ("hidden", *(name for name in Learning._fields if name != "every"))
    check_keys(s.options, (), (*of_train, *Hypers._fields), "option")
    numbers = {k: v for k, v in s.options.items() if k in Hypers._fields}
    tried = set()
    for domain, swept in s.parts():
        algorithm = find_algorithm(swept.algorithm)
        checked_numbers(numbers, Hypers._field_defaults, algorithm.hyperparameters, swept.algorithm)
        if (domain, swept.algorithm) in tried:
            raise InputError(f"{swept.algorithm} is there twice for {domain}; its settings would have the same numbers")
        tried.add((domain, swept.algorithm))
    for swept in s.algorithms:
        check_keys(swept.domains, (), s.domains, f"domain of {swept.algorithm}")
