"""The runs that claims about control are judged by: those that choose settings, and fresh ones that judge them.

They come from the stages of the evidence, from a replication of it, or from whole sweeps, half of whose runs choose
and half of which judge. Performances are parts of the way (`levels`).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from gpbe.analysis.findings import Cell
from gpbe.analysis.inference import Share, resampled_choices, share
from gpbe.analysis.inference.evidence import RESAMPLES
from gpbe.analysis.labels import label_of
from gpbe.analysis.performance import performance
from gpbe.analysis.selection import comparable, hold
from gpbe.analysis.settings import setting_means
from gpbe.analysis.stored import StoredRuns
from gpbe.analysis.tables import Table
from gpbe.envs.domains import DOMAINS, domains_in, title_of
from gpbe.errors import InputError
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.choices import chosen, tuned, voted
from gpbe.experiments.evidence.design import LANDER, PLAN, Plan, part_of
from gpbe.experiments.evidence.grids import Part
from gpbe.experiments.evidence.levels import on_the_way
from gpbe.shapes import Array
from gpbe.summary import QUARTER
from gpbe.wording import counted

Runs = Float[Array, " _"]
"""One number a run; how many differs between settings."""
Cells = Mapping[Cell, Runs]
WAYS = {"voted": ("condorcet", ()), "held out": ("condorcet", (LANDER,)), "runoff": ("instant-runoff", ())}
VOTES = 400
"""Resamples of the runs, to see whether two ways to choose would choose alike."""


class Missing(InputError):
    """Something that a claim needs is not stored; the message says what."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """All that is stored of one source."""

    judging: str
    """The experiment whose runs judge."""
    chosen: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Settings by choice, algorithm and domain."""
    fresh: Cells = field(default_factory=dict)
    """Runs that judge, by their last quarter."""
    choosing: Cells = field(default_factory=dict)
    """Runs that choose, by their last quarter."""
    overall: Cells = field(default_factory=dict)
    """Runs of whole grids or of parts of them, by all of their steps."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    """The settings that stand for the grid of each algorithm."""
    sides: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Side sweeps by name."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """How many runs judge in each domain; any number where it is not said."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Why something is not there, by the name of an experiment."""
    looks: int = 1
    """How often claims are looked at: the error is then divided."""
    screening: str = names.SCREEN
    """The experiment whose settings stand for the grids."""
    resamples: int = RESAMPLES
    """That each test draws; fewer are quicker, and have no small p-values."""
    kept: dict[Cell, Any] = field(default_factory=dict, init=False, repr=False)
    """What was computed of a setting's runs, for all who ask."""

    def repeated(self, times: int) -> "Gathered":
        """What would be stored if all runs had been made so many times, and had come out alike."""

        def more(cells: Cells) -> Cells:
            return {cell: np.tile(runs, times) for cell, runs in cells.items()}

        sides = {name: _again(table, times) for name, table in self.sides.items()}
        return replace(
            self, fresh=more(self.fresh), choosing=more(self.choosing), overall=more(self.overall), sides=sides
        )

    def setting(self, choice: str, algorithm: str, domain: str) -> int:
        """The setting of an algorithm that was chosen for a domain in some way."""
        if (choice, algorithm, domain) not in self.chosen:
            raise Missing(
                self._lack(self.judging, f"a {choice} setting of {label_of(algorithm)} in {title_of(domain)}")
            )
        return self.chosen[choice, algorithm, domain]

    def judged(self, cell: Cell) -> Runs:
        """The fresh runs of a setting. Some of them are none: who stops when it looks good is always right."""
        found, needed = self.fresh.get(cell, np.zeros(0)), self.runs.get(cell.domain, 1)
        if len(found) < needed:
            what = f"{counted(needed, 'run')} of {label_of(cell.algorithm)} in {title_of(cell.domain)}"
            raise Missing(self._lack(self.judging, what))
        return found

    def grid(self, algorithm: str, domain: str) -> list[Float[Array, "settings runs"]]:
        """The runs of an algorithm's settings over all steps, stratum by stratum."""
        part = self.part(algorithm)
        strata: list[list[Runs]] = [[] for _ in part.sizes]
        for setting, stratum in zip(part.settings, part.strata, strict=True):
            strata[stratum].append(self._screened(self.overall, Cell(algorithm, domain, setting)))
        return [np.stack([x[: min(map(len, stratum))] for x in stratum]) for stratum in strata]

    def late(self, algorithm: str, domain: str) -> dict[int, Runs]:
        """The runs that choose of every setting that stands for the grid, by their last quarter."""
        settings = self.part(algorithm).settings
        return {k: self._screened(self.choosing, Cell(algorithm, domain, k)) for k in settings}

    def part(self, algorithm: str) -> Part:
        """The settings that stand for an algorithm's grid."""
        if algorithm not in self.parts:
            raise Missing(self._lack(self.screening, f"settings of {label_of(algorithm)}"))
        return self.parts[algorithm]

    def side(self, name: str) -> pl.DataFrame:
        """The table of a side sweep, all of it."""
        if name not in self.sides or name in self.lacking:
            raise Missing(self._lack(name, "results"))
        return self.sides[name]

    def everywhere(self, algorithm: str) -> list[int]:
        """The settings of an algorithm that were chosen, by whatever vote, and so have fresh runs in every domain."""
        found = {s for (choice, name, _), s in self.chosen.items() if name == algorithm and choice in WAYS}
        if not found:
            raise Missing(self._lack(self.judging, f"a chosen setting of {label_of(algorithm)}"))
        return sorted(found)

    def unchanged(self, algorithm: str, one: str, other: str) -> Share:
        """How often two votes choose the same setting, had the runs come out differently."""
        key = (algorithm, *sorted((one, other)))
        if key not in self._unchanged:
            self._unchanged[key] = self._resampled(algorithm, one, other)
        return self._unchanged[key]

    @cached_property
    def _unchanged(self) -> dict[tuple[str, ...], Share]:
        return {}

    def _resampled(self, algorithm: str, one: str, other: str) -> Share:
        mine = {cell: runs for cell, runs in self.choosing.items() if cell.algorithm == algorithm}
        domains = domains_in(cell.domain for cell in mine)
        # Candidates are settings with as many runs as any, in every domain.
        most = max(map(len, mine.values()), default=0)
        counts = [cell.setting for cell, runs in mine.items() if len(runs) == most]
        settings = sorted({s for s in counts if counts.count(s) == len(domains)})
        if not settings:
            raise Missing(self._lack(self.judging, f"settings of {label_of(algorithm)} that ran in every domain"))
        runs = np.array([[mine[Cell(algorithm, d, s)] for d in domains] for s in settings])

        def winner(means: Array, way: str) -> int:
            method, without = WAYS[way]
            voters = [k for k, domain in enumerate(domains) if domain not in without]
            return hold(comparable(means.T[voters]), method, settings).winner  # pyright: ignore[reportArgumentType]

        same = resampled_choices(runs, lambda means: int(winner(means, one) == winner(means, other)), VOTES)
        return share(same)

    def _screened(self, cells: Cells, cell: Cell) -> Runs:
        found = cells.get(cell, np.zeros(0))
        if len(found) < 2:
            what = f"two runs of every setting of {label_of(cell.algorithm)} in {title_of(cell.domain)}"
            raise Missing(self._lack(self.screening, what))
        return found

    def _lack(self, name: str, what: str) -> str:
        return self.lacking.get(name, f"{name} lacks {what}")


def from_stages(stages: Mapping[str, Table], lacking: Mapping[str, str], plan: Plan = PLAN, look: int = 1) -> Gathered:
    """The evidence, as far as it is stored; at the second look with the runs of the second verdict."""
    choosing = [stages[name] for name in names.CHOOSING if name in stages]
    picked = {} if _absent(names.CHOOSING, stages, lacking) else _picked(choosing, plan)
    judging = [stages[name] for name in (names.VERDICT, names.SECOND)[:look] if name in stages]
    screen = {cell: runs[: plan.screen] for cell, runs in _cells(choosing[:1], 1.0).items()}
    before = _absent((*names.CHOOSING, names.VERDICT), stages, lacking)
    return Gathered(
        names.VERDICT,
        picked,
        _cells(judging),
        _cells(choosing),
        screen,
        {name: part_of(name) for name in plan.algorithms},
        {name: _side(stages[name]) for name in names.SIDES if name in stages},
        {domain: look * plan.runs_of(domain) for domain in plan.domains},
        {**_reasons(stages, lacking), **({names.VERDICT: before} if before else {})},
        looks=2,
    )


def from_replication(evidence: Gathered, runs: Table, counts: Mapping[str, int]) -> Gathered:
    """Fresh runs of the settings that the evidence chose."""
    judged = _cells([runs])
    return Gathered(
        names.REPLICATION, evidence.chosen, judged, evidence.choosing, runs=counts, screening=names.REPLICATION
    )


def from_sweeps(runs: StoredRuns) -> Gathered:
    """Whole sweeps: the first half of the runs of each setting chooses, and the rest judges."""
    algorithms = runs.survey["algorithm"].unique().sort().to_list()
    late, overall = (runs.performances(algorithms, last) for last in (QUARTER, 1.0))
    half = pl.col("run") < (pl.col("run").max().over("domain", "algorithm", "setting") + 1) // 2
    first, rest = late.filter(half), late.filter(~half)
    parts = {}
    for algorithm in algorithms:
        settings = overall.filter(algorithm=algorithm)["setting"].unique().sort().to_list()
        parts[algorithm] = Part(tuple(settings), tuple(range(len(settings))), (1,) * len(settings))
    name = " and ".join(runs.survey["experiment"].unique().sort())
    return Gathered(
        name, _votes(first), _by_cell(rest), _by_cell(first), _by_cell(overall), parts, screening=name, lacking={}
    )


def _votes(first: pl.DataFrame) -> dict[tuple[str, str, str], int]:
    """The settings that runs choose, as far as there are runs to choose by."""
    picked, means = {}, setting_means(first)
    for algorithm in means["algorithm"].unique().sort():
        domains = tuple(domains_in(means.filter(algorithm=algorithm)["domain"]))
        plan = Plan(domains, (algorithm,))
        picked |= _keyed(tuned(means, plan))
        with suppress(InputError):  # where no setting ran in every domain, there is no vote
            picked |= _keyed(voted(means, plan))
    return picked


def _picked(choosing: Iterable[Table], plan: Plan) -> dict[tuple[str, str, str], int]:
    return _keyed(chosen(performance(pl.concat([t.lazy() for t in choosing], how="diagonal_relaxed")), plan))


def _keyed(choices: pl.DataFrame) -> dict[tuple[str, str, str], int]:
    return {(choice, algorithm, domain): setting for algorithm, domain, choice, setting in choices.rows()}


def _cells(tables: Iterable[Table], last: float = QUARTER) -> dict[Cell, Runs]:
    frames = [_performances(table, last) for table in tables]
    return _by_cell(pl.concat(frames, how="diagonal_relaxed")) if frames else {}


def _performances(table: Table, last: float = QUARTER) -> pl.DataFrame:
    return performance(table, last, {name: domain.bounds[0] for name, domain in DOMAINS.items()})


def _by_cell(performances: pl.DataFrame) -> dict[Cell, Runs]:
    key = ("algorithm", "domain", "setting")
    rows = on_the_way(performances).group_by(key, maintain_order=True).agg("performance").rows()
    return {Cell(*row[:3]): np.array(row[3]) for row in rows}


def _side(table: Table) -> pl.DataFrame:
    """A side sweep as parts of the way, a row a run; a study has its performances already."""
    swept = "returns" in table.collect_schema().names()
    return on_the_way(_performances(table) if swept else table.lazy().collect())


def _again(table: pl.DataFrame, times: int) -> pl.DataFrame:
    """The rows of a table so many times, each time as other runs."""
    runs = pl.col("run")
    return pl.concat(table.with_columns(runs + k * (runs.max() + 1)) for k in range(times))


def _absent(needed: Iterable[str], stages: Mapping[str, Table], lacking: Mapping[str, str]) -> str:
    """Which stages are missing or not complete, in words."""
    gone = [name for name in needed if name not in stages or name in lacking]
    if not gone:
        return ""
    return lacking.get(gone[0], f"{gone[0]} is missing; first: gpbe run evidence")


def _reasons(stages: Mapping[str, Table], lacking: Mapping[str, str]) -> dict[str, str]:
    return {name: reason for name in names.STAGES if (reason := _absent([name], stages, lacking))}
