"""Results as analysis and figures find them: tables of experiments by name, complete or not.

`Stored` holds those of any experiments. Of sweeps of control it makes `StoredRuns`, surveyed and reduced once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from gpbe.analysis.labels import label_of
from gpbe.analysis.performance import performance
from gpbe.analysis.tables import RUNS, SETTING, Table, check_runs
from gpbe.envs.domains import PAPER, domains_in, title_of
from gpbe.errors import InputError
from gpbe.summary import QUARTER


@dataclass(frozen=True, eq=False)
class Stored:
    """The results of experiments by name, at one scale.

    >>> stored = Stored({"kolter": pl.DataFrame({"p": [0.1]})}, lacking={"aliased": "has 1 of 3 chunks"})
    >>> stored.rows("kolter").height
    1
    >>> stored.rows("aliased")
    Traceback (most recent call last):
    gpbe.errors.InputError: has 1 of 3 chunks
    """

    tables: Mapping[str, Table] = field(default_factory=dict)
    scale: str | None = None
    """What subtitles call it."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Why an experiment is not there, or not complete."""
    amounts: Mapping[str, str] = field(default_factory=dict)
    """How much work stands behind a table, in words."""
    stages: Mapping[str, Table] = field(default_factory=dict)
    """The results of experiments in stages, by the name of the stage, complete or not (then `lacking` says so)."""

    def rows(self, name: str) -> pl.DataFrame:
        """The table of an experiment or a stage that is complete; otherwise the reason why it is not is raised."""
        found = {**self.tables, **self.stages}
        if name in self.lacking or name not in found:
            raise InputError(self.lacking.get(name, f"there are no results of {name}; first: gpbe run {name}"))
        return found[name].lazy().collect()

    _parts: dict[frozenset[str], "Stored"] = field(default_factory=dict, init=False, repr=False)

    def only(self, names: Iterable[str]) -> "Stored":
        """The results of some of the experiments, and all stages; what was reduced of them once is kept."""
        wanted = frozenset(names).intersection(self.tables)
        if wanted == set(self.tables):
            return self
        if wanted not in self._parts:
            tables = {name: table for name, table in self.tables.items() if name in wanted}
            self._parts[wanted] = replace(self, tables=tables)
        return self._parts[wanted]

    @cached_property
    def runs(self) -> "StoredRuns":
        """The runs tables among them, as far as they go."""
        found = {name: t for name, t in self.tables.items() if set(RUNS) <= set(t.collect_schema().names())}
        return StoredRuns(found, self.scale)


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """Runs tables of sweeps by experiment; those that did not run are left out, and incomplete ones will do.

    Reductions are kept, so one object serves many figures. A domain in which no run of any experiment finished an
    episode has nothing to show and counts as missing.

    >>> runs = pl.DataFrame({
    ...     "domain": "CartPole-v1", "algorithm": "qrc", "setting": 0, "step_size": 0.1, "run": [0, 1], "every": 500,
    ...     "returns": [[9.0, 8.0, 4.0, 2.0], [7.0, 6.0, 5.0, 4.0]], "diverged_at": -1,
    ... })
    >>> StoredRuns({"bakeoff": runs}).performances(["qrc"])["performance"].to_list()
    [2.0, 4.0]
    """

    runs: Mapping[str, Table]
    scale: str | None = None
    """What subtitles call it."""
    _kept: dict[tuple[str, float], pl.DataFrame] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def survey(self) -> pl.DataFrame:
        """A row for each experiment, domain and algorithm: settings, runs, lengths of runs, and the lowest return."""
        finite = pl.col("returns").list.eval(pl.when(pl.element().is_finite()).then(pl.element())).list.min()
        frames = []
        for name, runs in self.runs.items():
            points = pl.col("returns").list.len()
            counts = check_runs(runs).select(
                "domain", "algorithm", "setting", "run", "every", points=points, lowest=finite.cast(pl.Float64)
            )
            by_setting = counts.group_by("domain", "algorithm", "setting").agg(
                pl.len().alias("runs"),
                pl.col("every", "points").min(),
                pl.col("every", "points").max().name.suffix("_most"),
                pl.col("lowest").min(),
            )
            frames.append(
                by_setting.group_by("domain", "algorithm")
                .agg(
                    settings=pl.len().cast(pl.Int64),
                    fewest=pl.col("runs").min().cast(pl.Int64),
                    most=pl.col("runs").max().cast(pl.Int64),
                    every=pl.col("every").min().cast(pl.Int64),
                    points=pl.col("points").min().cast(pl.Int64),
                    uneven=(
                        (pl.col("every") != pl.col("every_most")) | (pl.col("points") != pl.col("points_most"))
                    ).any(),
                    lowest=pl.col("lowest").min(),
                )
                .collect(engine="streaming")
                .select(pl.lit(name).alias("experiment"), pl.all())
            )
        if not frames or not sum(frame.height for frame in frames):
            raise InputError("there are no runs of control; run an experiment first")
        return pl.concat(frames).sort("experiment", "domain", "algorithm")

    @cached_property
    def worst(self) -> dict[str, float]:
        """What a point without a return counts as in each domain: the lowest return of all experiments."""
        lowest = self.survey.group_by("domain").agg(pl.col("lowest").min()).drop_nulls()
        return dict(lowest.sort("domain").rows())

    @property
    def domains(self) -> list[str]:
        """Those with at least one finished episode."""
        return domains_in(self.worst)

    def has(self, algorithms: Sequence[str], domains: Sequence[str] | None = None) -> bool:
        """Whether each of the algorithms ran in each of the domains."""
        pairs = set(self.survey.filter(pl.col("domain").is_in(self.domains)).select("domain", "algorithm").rows())
        return all((domain, name) in pairs for domain in domains or self.domains for name in algorithms)

    def part(self, algorithms: Iterable[str]) -> pl.DataFrame:
        """The rows of `survey` for some algorithms; runs that are compared must be equally long."""
        rows = self.survey.filter(pl.col("algorithm").is_in(list(algorithms)), pl.col("domain").is_in(self.domains))
        for (domain,), group in rows.group_by("domain", maintain_order=True):
            lengths = sorted({every * points for every, points in group.select("every", "points").rows()})
            if group["uneven"].any() or group["every"].n_unique() * group["points"].n_unique() > 1:
                said = " and ".join(f"{steps:,}" for steps in lengths) if len(lengths) > 1 else "different numbers of"
                raise InputError(
                    f"runs in {domain!r} have {said} steps or are not recorded equally often "
                    f"(experiments {', '.join(group['experiment'].unique().sort())}); "
                    "run the experiments at the same scale"
                )
        return rows

    def table(self, algorithms: Iterable[str]) -> pl.LazyFrame:
        """The runs of some algorithms, from all experiments."""
        names = list(algorithms)
        keep = pl.col("algorithm").is_in(names), pl.col("domain").is_in(self.domains)
        mine = set(self.part(names)["experiment"])
        frames = [check_runs(runs).filter(*keep) for name, runs in self.runs.items() if name in mine]
        if not frames:
            raise InputError(f"there are no runs of {' or '.join(names)}")
        return pl.concat(frames, how="diagonal_relaxed")

    def performances(self, algorithms: Iterable[str], last: float = QUARTER) -> pl.DataFrame:
        """One row a run: its mean return over the `last` part of its steps (`gpbe.analysis.performance`)."""
        names = list(algorithms)
        frames = []
        for experiment in self.part(names)["experiment"].unique().sort():
            key = (experiment, float(last))
            if key not in self._kept:
                playable = check_runs(self.runs[experiment]).filter(pl.col("domain").is_in(self.domains))
                self._kept[key] = performance(playable, last, self.worst)
            frames.append(self._kept[key].filter(pl.col("algorithm").is_in(names)))
        if not frames:
            raise InputError(f"there are no runs of {' or '.join(names)}")
        return pl.concat(frames, how="diagonal_relaxed").sort(*SETTING, "run")


def amount(runs: StoredRuns, algorithms: Sequence[str]) -> str:
    """How much stands behind what is said of some algorithms: runs, steps, settings and the scale."""
    rows = runs.part(algorithms)
    steps = (rows["every"] * rows["points"]).to_list()
    count = _span(rows["fewest"].to_list() + rows["most"].to_list())
    said = f"{count} run{'' if count == '1' else 's'} of {_span(steps)} environment steps"
    settings = _span(rows["settings"].to_list())
    said += f", {settings} setting{'' if settings == '1' else 's'} an algorithm"
    return f"{said}; {runs.scale} scale" if runs.scale else said


def missing(runs: StoredRuns, algorithms: Sequence[str], expected: Sequence[str] = PAPER) -> list[str]:
    """Names of the missing domains and algorithms: whole domains, whole algorithms, then single pairs."""
    rows = runs.part(algorithms)
    pairs = set(rows.select("domain", "algorithm").rows())
    domains, there = domains_in(rows["domain"]), [name for name in algorithms if name in set(rows["algorithm"])]
    gone = [title_of(name) for name in expected if name not in domains]
    gone += [label_of(name) for name in algorithms if name not in there]
    return gone + [
        f"{label_of(name)} in {title_of(domain)}" for domain in domains for name in there if (domain, name) not in pairs
    ]


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
