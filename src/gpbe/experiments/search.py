"""Searches for hyperparameters beyond grids: random, or guided by Optuna; then fresh runs of what was chosen.

A search is an experiment in stages. Each round is a sweep of settings; what a round tries follows from the declaration
and the results of the rounds before it, so that a search can be stopped at any moment and continued, anywhere. The last
stage runs the setting that was best in each domain on seeds that no round has seen: the mean that chose a setting
flatters it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from gpbe import analysis
from gpbe.checks import check_at_least, check_known, check_seed
from gpbe.errors import InputError
from gpbe.experiments.experiment import Stage
from gpbe.experiments.sweep import Setting, Sweep, Swept
from gpbe.experiments.sweep_checks import SETTINGS, check_number
from gpbe.learn.control.learning import DEFAULTS

Method = Literal["random", "optuna"]


class Range(NamedTuple):
    """Numbers to search between, evenly, or evenly in their logarithm.

    >>> Range(1e-4, 1e-2, log=True).at(0.5)
    0.001
    """

    low: float
    high: float
    log: bool = False

    def at(self, part: float) -> float:
        """The number that is so far along, from 0 to 1."""
        if not self.log:
            return float(self.low + part * (self.high - self.low))
        return float(f"{self.low * (self.high / self.low) ** part:.12g}")


Space = Range | tuple[float, ...]
"""The values of a hyperparameter: a range, or some to choose from."""


@dataclass(frozen=True)
class Search:
    """A search for the settings of some algorithms, each with as many trials.

    >>> spaces = {"qrc": {"step_size": Range(1e-4, 1e-1, log=True), "beta": (0.5, 1.0)}}
    >>> search = Search("mine", ("CartPole-v1",), spaces, trials=6, runs=3, steps=1000, fresh=10)
    >>> [stage.name for stage in search.stages()]
    ['mine-search', 'mine']
    >>> search.stages()[0].build([]).work
    18000
    """

    name: str
    domains: tuple[str, ...]
    spaces: Mapping[str, Mapping[str, Space]]
    """What is searched, by algorithm."""
    trials: int
    """Settings of each algorithm that are tried, each in every domain."""
    runs: int
    """The runs of a trial."""
    steps: int
    fresh: int
    """Runs of the chosen settings."""
    method: str = "random"
    """How trials are chosen (`Method`): at random, or by what earlier rounds found."""
    rounds: int = 1
    """How many times trials are asked for; a guided search learns from one to the next."""
    every: int = DEFAULTS.every
    seed: int = 0
    """The seed of the search, and of the runs."""
    describe: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_known(self.method, get_args(Method), "method of search")
        check_at_least(1, trials=self.trials, runs=self.runs, fresh=self.fresh, rounds=self.rounds)
        check_seed(self.seed)
        if self.trials > SETTINGS:
            raise InputError(f"trials is {self.trials:,}; a search has at most {SETTINGS:,}")
        if self.rounds > self.trials:
            raise InputError(f"rounds is {self.rounds}, with {self.trials} trials; there should be no more rounds")
        if self.method == "random" and self.rounds > 1:
            raise InputError(f"rounds is {self.rounds}, but random trials learn nothing from others; leave it out")
        for name, spaces in self.spaces.items():
            for key, space in spaces.items():
                _check_space(space, f"{key} of {name}")
        for runs in (self.runs, self.fresh):  # a sweep checks itself
            first = (Swept(name, settings=(self.drawn(name, 0),), runs=runs) for name in self.spaces)
            self._sweep(self.name, tuple(first))

    def stages(self) -> tuple[Stage, ...]:
        """The rounds, and the runs that judge what they chose."""
        several = self.rounds > 1
        names = [f"{self.name}-search{f'-{k + 1}' if several else ''}" for k in range(self.rounds)]
        found = [Stage(each, tuple(names[:k]), partial(self._round, each, k)) for k, each in enumerate(names)]
        return (*found, Stage(self.name, tuple(names), self._judged))

    def drawn(self, algorithm: str, trial: int) -> dict[str, float]:
        """A setting at random; it depends on the seed, the algorithm and the number of the trial alone."""
        number = list(self.spaces).index(algorithm)
        rng = np.random.default_rng([self.seed, number, trial])
        return {key: _pick(space, rng) for key, space in self.spaces[algorithm].items()}

    def _round(self, name: str, number: int, before: Sequence[pl.LazyFrame]) -> Sweep:
        """The settings of a round, numbered after those of the rounds before."""
        ends = [self.trials * k // self.rounds for k in range(self.rounds + 1)]
        table, swept = _joined(before), []
        for algorithm in self.spaces:
            earlier = self._tried(table, algorithm, ends[number])
            new = range(ends[number], ends[number + 1])
            if self.method == "random" or not number:
                settings = [self.drawn(algorithm, k) for k in new]
            else:
                settings = _suggested(self, algorithm, earlier, _scores(table, algorithm), len(new), number)
            swept.append(Swept(algorithm, settings=(*earlier, *settings), only=tuple(new)))
        return self._sweep(name, tuple(swept))

    def _judged(self, before: Sequence[pl.LazyFrame]) -> Sweep:
        """The best setting of each algorithm in each domain, on runs that no round has had."""
        table = _joined(before)
        picks = analysis.select_per_domain(analysis.performance(table))
        swept = [
            Swept(
                row["algorithm"],
                settings=self._tried(table, row["algorithm"], self.trials),
                domains=(row["domain"],),
                only=(row["setting"],),
                runs=self.fresh,
                first_run=self.runs,
            )
            for row in picks.iter_rows(named=True)
        ]
        return self._sweep(self.name, tuple(swept))

    def _tried(self, table: pl.DataFrame, algorithm: str, count: int) -> tuple[Setting, ...]:
        """The settings of earlier rounds, from their results, in the order of their numbers."""
        if not count:
            return ()
        keys = list(self.spaces[algorithm])
        rows = table.filter(algorithm=algorithm).select("setting", *keys).unique().sort("setting")
        if rows["setting"].to_list() != list(range(count)):
            raise InputError(f"results of {self.name} have other settings of {algorithm} than its search; run it anew")
        return tuple(rows.select(keys).iter_rows(named=True))

    def _sweep(self, name: str, swept: tuple[Swept, ...]) -> Sweep:
        same = {"every": self.every, "seed": self.seed, "describe": self.describe, "options": self.options}
        return Sweep(name, self.domains, swept, self.runs, self.steps, **same)


def _check_space(space: Any, what: str) -> None:
    if isinstance(space, Range):
        for end in (space.low, space.high):
            check_number(end, what)
        if not space.low < space.high or (space.log and space.low <= 0):
            should = "from above 0 to something larger" if space.log else "from a number to a larger one"
            raise InputError(f"the range of {what} is {space.low:g} to {space.high:g}; it should be {should}")
    elif not isinstance(space, tuple | list) or not space:
        raise InputError(f"{what} is {space!r}; it should be a range (low, high) or a list of values")
    else:
        for value in space:
            check_number(value, what)


def _pick(space: Space, rng: np.random.Generator) -> float:
    return space.at(rng.random()) if isinstance(space, Range) else float(space[rng.integers(len(space))])


def _joined(tables: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    return pl.concat((table.collect() for table in tables), how="diagonal_relaxed") if tables else pl.DataFrame()


def _scores(table: pl.DataFrame, algorithm: str) -> list[float]:
    """How good each setting is: the mean over domains of where it stands between the worst (0) and the best (1)."""
    means = analysis.setting_means(analysis.performance(table)).filter(algorithm=algorithm)
    low, high = pl.col("mean").min().over("domain"), pl.col("mean").max().over("domain")
    place = pl.when(high > low).then((pl.col("mean") - low) / (high - low)).otherwise(0.5)
    by_setting = means.with_columns(place=place).group_by("setting").agg(pl.col("place").mean())
    return by_setting.sort("setting")["place"].to_list()


def _suggested(
    search: Search, algorithm: str, tried: Sequence[Setting], scores: Sequence[float], count: int, number: int
) -> list[dict[str, float]]:
    """What Optuna's tree-structured Parzen estimator would try next, told of all trials before."""
    try:
        import optuna  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError("Optuna is not installed; install gpbe[optuna], or search with method = 'random'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kinds: dict[str, Any] = {
        key: optuna.distributions.FloatDistribution(space.low, space.high, log=space.log)
        if isinstance(space, Range)
        else optuna.distributions.CategoricalDistribution([float(value) for value in space])
        for key, space in search.spaces[algorithm].items()
    }
    sampler = optuna.samplers.TPESampler(seed=search.seed + number, multivariate=True, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for setting, score in zip(tried, scores, strict=True):
        study.add_trial(optuna.trial.create_trial(params=dict(setting), distributions=kinds, value=score))
    asked = [study.ask(kinds) for _ in range(count)]
    return [{key: float(trial.params[key]) for key in kinds} for trial in asked]
