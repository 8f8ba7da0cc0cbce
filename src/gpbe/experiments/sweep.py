"""Control experiments as data: domains x algorithms x grids x runs, and the chunks of work that they fall into.

A lane is one run of one setting. Lanes are numbered, setting after setting, and go eight at a time into a chunk: one
compiled program, one worker, one part of the results. The same declaration always means the same chunks.
"""

import difflib
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

from gpbe.errors import InputError
from gpbe.learn.grouping import group_size
from gpbe.runner import Chunk

COLUMNS = ("step_size", "tau", "beta", "eta", "nu", "width")
"""Hyperparameters that have a column in the results; NaN where an algorithm does not have them."""


@dataclass(frozen=True)
class Swept:
    """One algorithm and its grid."""

    algorithm: str
    grid: Mapping[str, tuple[float, ...]]
    """What is swept; every combination is a setting."""

    @cached_property
    def count(self) -> int:
        return math.prod(len(values) for values in self.grid.values())

    def settings(self) -> list[dict[str, float]]:
        return [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]


@dataclass(frozen=True)
class Sweep:
    """A control experiment."""

    name: str
    domains: tuple[str, ...]
    algorithms: tuple[Swept, ...]
    runs: int
    steps: int
    every: int = 500
    seed: int = 0
    describe: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of `gpbe.train`: hidden, batch, buffer, optimizer, target_every, gamma, epsilon."""

    def __post_init__(self):
        _check(self)

    @property
    def settings(self) -> int:
        return sum(swept.count for swept in self.algorithms)

    @property
    def work(self) -> int:
        return self.settings * len(self.domains) * self.runs * self.steps

    @property
    def unit(self) -> str:
        return "steps"

    @property
    def runner(self) -> str:
        return "gpbe.experiments.sweep:run_chunk"

    def spec(self) -> dict[str, Any]:
        """All of it as JSON, without what is only said about it."""
        return {k: v for k, v in asdict(self).items() if k != "describe"}

    def chunks(self) -> "Chunks":
        return Chunks(self)


@dataclass(frozen=True)
class Chunks:
    """Can be gone through again and again; nothing is held."""

    sweep: Sweep

    def __iter__(self) -> Iterator[Chunk]:
        # Slow domains first, so that none is left over for one worker at the end.
        for domain in sorted(self.sweep.domains, key=lambda d: not d.startswith("LunarLander")):
            for swept in self.sweep.algorithms:
                yield from self._of(domain, swept)

    def _of(self, domain: str, swept: Swept) -> Iterator[Chunk]:
        s, settings = self.sweep, swept.settings()
        # Settings that differ in the shape of a network cannot share a program.
        widths = sorted({x.get("width", 0) for x in settings})
        for width in widths:
            chosen = [k for k, x in enumerate(settings) if x.get("width", 0) == width]
            lanes = [(k, run) for k in chosen for run in range(s.runs)]
            size = group_size(len(lanes))
            group = f"{swept.algorithm}{f' ({width:g})' if width else ''} on {domain}, {size} lanes"
            for first in range(0, len(lanes), size):
                mine = lanes[first : first + size]
                payload = {
                    "domain": domain,
                    "algorithm": swept.algorithm,
                    "lanes": [[k, run] for k, run in mine],
                    "hyperparameters": [settings[k] for k, _ in mine],
                    "pad": size,
                    "steps": s.steps,
                    "every": s.every,
                    "seed": s.seed,
                    "options": dict(s.options),
                }
                yield Chunk(group, len(mine) * s.steps, payload)


def run_chunk(payload: dict[str, Any]) -> pl.DataFrame:
    """One chunk: a row for each lane. It depends on the payload alone."""
    from gpbe.algorithms.control.table import RANGES, find_algorithm, vary
    from gpbe.envs import find
    from gpbe.learn.train import Learning, learn_lanes, prepare, read_control_settings

    lanes, hypers = payload["lanes"], payload["hyperparameters"]
    real, pad = len(lanes), payload["pad"]
    lanes, hypers = (x + [x[-1]] * (pad - real) for x in (lanes, hypers))
    fixed = {k: v for k, v in payload["options"].items() if k in RANGES}
    axes = {k: v for k, v in hypers[0].items() if k not in RANGES}
    swept = {k: np.array([x[k] for x in hypers]) for k in hypers[0] if k in RANGES}
    algorithm = vary(find_algorithm(payload["algorithm"]), payload["algorithm"], **axes)
    settings = read_control_settings(algorithm, fixed | swept, payload["algorithm"])
    others = {k: v for k, v in payload["options"].items() if k not in RANGES}
    learning = Learning(**others, every=payload["every"])
    env = find(payload["domain"])
    # One program for hard and soft maxima: a group of settings has both.
    options, spec = prepare(algorithm.agent, env, payload["steps"], learning, hard=False)
    numbers = {k: np.broadcast_to(v, (pad,)) for k, v in settings.numbers.items()}
    runs = np.array([run for _, run in lanes])
    learned = learn_lanes(options, env, spec, numbers, runs, payload["steps"], payload["seed"])
    columns = {k: [float(x.get(k, math.nan)) for x in hypers[:real]] for k in COLUMNS}
    return pl.DataFrame(
        {
            "domain": [payload["domain"]] * real,
            "algorithm": [payload["algorithm"]] * real,
            "setting": [k for k, _ in lanes[:real]],
            **columns,
            "run": [run for _, run in lanes[:real]],
            "every": [payload["every"]] * real,
            "returns": list(learned.returns[:real].astype(np.float32)),
            "diverged_at": learned.diverged_at[:real],
        },
        schema_overrides={"returns": pl.List(pl.Float32), "diverged_at": pl.Int64},
    ).with_columns(pl.col(COLUMNS).fill_nan(None))


def read(path: str | Path) -> Sweep:
    """A sweep of one's own from a TOML file.

    name, domains, runs and steps; `every` and `seed`; a table [options] of `gpbe.train`'s; and for each algorithm a
    table [algorithms.NAME] of lists to sweep over (an empty one sweeps nothing).
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    known = {"name", "domains", "runs", "steps", "every", "seed", "options", "algorithms", "describe"}
    _known_keys(data, known, str(path))
    missing = {"domains", "runs", "steps", "algorithms"} - set(data)
    if missing:
        raise InputError(f"{path} lacks {' and '.join(sorted(missing))}")
    if not isinstance(data["algorithms"], dict):
        raise InputError(f"{path}: algorithms should be tables, such as [algorithms.qrc]")
    algorithms = tuple(
        Swept(name, {k: tuple(map(float, v if isinstance(v, list) else [v])) for k, v in grid.items()})
        for name, grid in data.pop("algorithms").items()
    )
    data: dict[str, Any] = {"name": path.stem} | data | {"domains": tuple(data["domains"])}
    try:
        return Sweep(algorithms=algorithms, **data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _check(s: Sweep) -> None:
    """Everything that can be wrong with a declaration, before anything is run."""
    from gpbe.algorithms.control.table import RANGES, find_algorithm, vary
    from gpbe.algorithms.ranges import checked_numbers

    for key, low in (("runs", 1), ("steps", 1), ("every", 1)):
        value = getattr(s, key)
        if not isinstance(value, int) or value < low:
            raise InputError(f"{key} is {value}; it should be a whole number, {low} or more")
    if s.steps % s.every:
        raise InputError(f"steps is {s.steps}; it should be a multiple of every, which is {s.every}")
    for key in ("domains", "algorithms"):
        if not getattr(s, key):
            raise InputError(f"{key} is empty; name at least one")
    train = {"hidden", "batch", "buffer", "optimizer", "target_every"}
    _known_keys(s.options, train | {"gamma", "epsilon", "epsilon_final", "epsilon_steps"}, "options")
    for swept in s.algorithms:
        algorithm = find_algorithm(swept.algorithm)
        axes = {"width"} if algorithm.axes.get("basis") == "network" else set()
        _known_keys(swept.grid, {*algorithm.hyperparameters, *axes}, f"the grid of {swept.algorithm}")
        for key, values in swept.grid.items():
            if not values:
                raise InputError(f"the grid of {swept.algorithm} has no values for {key}; give at least one")
            if key in axes:
                for value in values:
                    vary(algorithm, swept.algorithm, **{key: value})
            else:
                checked_numbers({key: list(values)}, RANGES, algorithm.hyperparameters, swept.algorithm)


def _known_keys(given: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(known))}"
            raise InputError(f"{where} has no {key!r}; {hint}")
