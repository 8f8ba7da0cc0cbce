"""Which settings go on to the next stage, and which are chosen: functions of the performances so far alone."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from gpbe.analysis.selection import ballots, hold
from gpbe.analysis.settings import setting_means
from gpbe.analysis.voting import condorcet
from gpbe.experiments.evidence.design import BENCHMARK, LANDER, Plan, grid_of
from gpbe.experiments.evidence.grids import neighbors

Cells = Mapping[tuple[str, str], tuple[int, ...]]
"""Settings by algorithm and domain."""
CHOICES = ("tuned", "voted", "held out", "runoff")


def raced(performances: pl.DataFrame, plan: Plan) -> Cells:
    """After the screening: the best of each domain, what lies next to the first of them, and the votes' contenders."""
    means = setting_means(performances)
    cells = {}
    for algorithm, domain in _pairs(plan):
        ranked = _ranked(means, algorithm, domain)
        near = neighbors(grid_of(algorithm), ranked[0])
        voted = contenders(means, algorithm, plan, plan.contenders) if algorithm in BENCHMARK else []
        cells[algorithm, domain] = _sorted(ranked[: plan.best], near, voted)
    return cells


def finalists(performances: pl.DataFrame, plan: Plan) -> Cells:
    """After the race: the best of each domain and of each vote, of the settings that were raced."""
    means = setting_means(performances)
    entered = means.filter(pl.col("runs") >= plan.screen + plan.race)
    cells = {}
    for algorithm, domain in _pairs(plan):
        voted = contenders(entered, algorithm, plan, plan.best) if algorithm in BENCHMARK else []
        cells[algorithm, domain] = _sorted(_ranked(entered, algorithm, domain)[: plan.best], voted)
    return cells


def contenders(means: pl.DataFrame, algorithm: str, plan: Plan, count: int) -> list[int]:
    """The settings that may win a vote: so many by Copeland's score, fewer without Lunar Lander, and the runoff's.

    Of settings that ran in every domain.
    """
    everywhere = _everywhere(means, algorithm, plan.domains)
    found = _by_copeland(everywhere, algorithm, ())[:count]
    if LANDER in plan.domains:
        found += _by_copeland(everywhere, algorithm, (LANDER,))[: -(-count // 2)]
    return [*found, _winner(everywhere, algorithm, "instant-runoff", ())]


def chosen(performances: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """After the final: a row for each algorithm, domain and way to choose (`choice`), with the setting."""
    means = setting_means(performances)
    last = means.filter(pl.col("runs") >= plan.screen + plan.race + plan.final)
    return pl.concat([tuned(last, plan), voted(last, plan)])


def tuned(means: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The best setting of each algorithm in each domain."""
    rows = [(algorithm, domain, "tuned", _ranked(means, algorithm, domain)[0]) for algorithm, domain in _pairs(plan)]
    return _choices(rows)


def voted(means: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The winners of the votes of the domains, for the algorithms of the benchmark."""
    rows = []
    for algorithm in (name for name in BENCHMARK if name in plan.algorithms):
        everywhere = _everywhere(means, algorithm, plan.domains)
        held_out = (LANDER,) if LANDER in plan.domains else ()
        ways = {
            "voted": _winner(everywhere, algorithm, "condorcet", ()),
            "held out": _winner(everywhere, algorithm, "condorcet", held_out),
            "runoff": _winner(everywhere, algorithm, "instant-runoff", ()),
        }
        rows += [(algorithm, domain, choice, setting) for choice, setting in ways.items() for domain in plan.domains]
    return _choices(rows)


def chosen_cells(choices: pl.DataFrame) -> Cells:
    """The settings that a verdict needs runs of."""
    pairs = choices.group_by("algorithm", "domain", maintain_order=True).agg(pl.col("setting").unique().sort())
    return {(algorithm, domain): tuple(settings) for algorithm, domain, settings in pairs.rows()}


def _choices(rows: Sequence[tuple[str, str, str, int]]) -> pl.DataFrame:
    kinds = {"algorithm": pl.String, "domain": pl.String, "choice": pl.String, "setting": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _pairs(plan: Plan) -> Iterable[tuple[str, str]]:
    return ((algorithm, domain) for domain in plan.domains for algorithm in plan.algorithms)


def _ranked(means: pl.DataFrame, algorithm: str, domain: str) -> list[int]:
    """Settings by their mean, the best first; equals by number."""
    mine = means.filter(algorithm=algorithm, domain=domain)
    return mine.sort("mean", "setting", descending=[True, False])["setting"].to_list()


def _everywhere(means: pl.DataFrame, algorithm: str, domains: Sequence[str]) -> pl.DataFrame:
    """The rows of settings that ran in every domain."""
    mine = means.filter(algorithm=algorithm)
    counts = mine.group_by("setting").agg(pl.col("domain").n_unique())
    there = counts.filter(pl.col("domain") == len(domains))["setting"]
    return mine.filter(pl.col("setting").is_in(there.implode()))


def _by_copeland(means: pl.DataFrame, algorithm: str, leave_out: Sequence[str]) -> list[int]:
    """Settings by Copeland's score, equals by the sum of their ranks."""
    settings, _, scores = ballots(means, algorithm, leave_out)
    vote = condorcet(scores)
    order = np.lexsort((vote.summed_rank, -vote.copeland))
    return [settings[k] for k in order]


def _winner(means: pl.DataFrame, algorithm: str, method: str, leave_out: Sequence[str]) -> int:
    settings, _, scores = ballots(means, algorithm, leave_out)
    return settings[hold(scores, method, settings).winner]  # pyright: ignore[reportArgumentType]


def _sorted(*settings: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({number for some in settings for number in some}))
