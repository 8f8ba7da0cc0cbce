"""Claims about gradient eligibility traces (Elelimy et al. 2025), decided by streams on MinAtar (docs/traces.md).

Everything rests on fresh runs of settings that other runs chose: on sums of mean scores over four games, with
limits by the studentized bootstrap. With 8 runs of each chosen setting in each game these have 32 runs a side.
"""

import zlib
from collections.abc import Callable, Mapping
from itertools import product

import polars as pl

from gpbe.analysis.findings import Answer, Fact, above, every
from gpbe.analysis.inference import studentized
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import title_of
from gpbe.errors import InputError
from gpbe.experiments.streaming.verdict import LAM, NAME, SCALE, chosen_step_size, scored, with_lam
from gpbe.report.claims.claim import claim

WHERE = "Elelimy et al. 2025"
LEVEL = 0.01
"""A fifth of the error that is allowed. The rest is for the choice of step sizes, from two runs each, which the limits
of fresh runs know nothing of (`benchmarks/streams.py`)."""
MEAN = "difference of scores, mean over four games"


@claim("On MinAtar, QRC(lambda) performs better than Watkins' Q(lambda).", WHERE, NAME, LEVEL)
def qrc_lambda_better_than_q_lambda(table: pl.DataFrame) -> Answer:
    return every([gain(table, "qrc-lambda", "q-lambda")], MEAN)


@claim("On MinAtar, QRC(lambda) performs better than StreamQ.", WHERE, NAME, LEVEL)
def qrc_lambda_better_than_stream_q(table: pl.DataFrame) -> Answer:
    return every([gain(table, "qrc-lambda", "stream-q")], MEAN)


@claim(
    "On MinAtar, the saddlepoint method GQ(lambda) performs worse than gradient corrections, QC(lambda) and "
    "QRC(lambda).",
    WHERE,
    NAME,
    LEVEL,
)
def gq_lambda_worse_than_corrections(table: pl.DataFrame) -> Answer:
    return every([gain(table, name, "gq-lambda") for name in ("qc-lambda", "qrc-lambda")], MEAN)


@claim("On MinAtar, traces help QRC(lambda): with lambda 0.8 it performs better than without.", WHERE, NAME, LEVEL)
def traces_help_qrc_lambda(table: pl.DataFrame) -> Answer:
    return every([contrast("lambda 0.8 - lambda 0", table, {"qrc-lambda": without_traces})], MEAN)


@claim("On MinAtar, QRC(lambda) is less sensitive to the step size than Q(lambda).", WHERE, NAME, LEVEL)
def qrc_lambda_less_sensitive_to_step_size(table: pl.DataFrame) -> Answer:
    """Lost is what the mean over three step sizes is below the chosen one, with lambda 0.8."""
    return every([less_lost(table, "lam")], "score lost with the mean step size, mean over four games")


@claim("On MinAtar, QRC(lambda) is less sensitive to lambda than Q(lambda).", WHERE, NAME, LEVEL)
def qrc_lambda_less_sensitive_to_lambda(table: pl.DataFrame) -> Answer:
    """Lost is what the mean over three lambdas is below lambda 0.8, with the step size that was chosen for it."""
    return every([less_lost(table, "step_size")], "score lost with the mean lambda, mean over four games")


Weigh = Callable[[pl.DataFrame], pl.Series]
"""The weights of an algorithm's settings in a game in what is asked: a row a setting, with its step size and lambda."""


def gain(table: pl.DataFrame, first: str, second: str) -> Fact:
    """Is the first algorithm better than the second, in the mean over games?"""
    weigh: dict[str, Weigh] = {first: tuned, second: lambda rows: -tuned(rows)}
    return contrast(f"{label_of(first)} - {label_of(second)}", table, weigh)


def less_lost(table: pl.DataFrame, given: str) -> Fact:
    """Does QRC(lambda) lose less than Q(lambda), in the mean over games, if all but `given` is left to chance?"""

    def lost(rows: pl.DataFrame) -> pl.Series:
        same = rows[given] == rows.filter(tuned(rows) > 0)[given][0]
        if same.sum() < 2:
            raise InputError(f"{NAME} has one setting only of {rows['algorithm'][0]}; sensitivity needs several")
        return tuned(rows) - same.cast(pl.Float64) / same.sum()

    weigh: dict[str, Weigh] = {"q-lambda": lost, "qrc-lambda": lambda rows: -lost(rows)}
    return contrast(f"{label_of('q-lambda')} - {label_of('qrc-lambda')}", table, weigh)


def tuned(rows: pl.DataFrame) -> pl.Series:
    """1 for the chosen setting."""
    return rows.select((with_lam(LAM) & (pl.col("step_size") == chosen_step_size(rows))).cast(pl.Float64)).to_series()


def without_traces(rows: pl.DataFrame) -> pl.Series:
    """The chosen setting less the one that was chosen without traces: of two, that which has another step size."""
    none = rows.select(with_lam(0.0).cast(pl.Float64)).to_series()
    if none.sum() > 1:
        none *= (rows["step_size"] != chosen_step_size(rows)).cast(pl.Float64)
    return tuned(rows) - none


def contrast(what: str, table: pl.DataFrame, weigh: Mapping[str, Weigh]) -> Fact:
    """Is a weighted sum of mean scores above 0, in the mean over games?"""
    scores, key = scored(table), ("algorithm", "domain", "setting", "step_size", "lam")
    cells: list[list[float]] = []
    weights: list[float] = []
    for name, game in product(weigh, SCALE):
        mine = scores.filter(algorithm=name, domain=game).group_by(*key).agg("score").sort("setting")
        if mine.is_empty():
            raise InputError(f"{NAME} has no runs of {label_of(name)} in {title_of(game)}")
        for runs, weight in zip(mine["score"].to_list(), weigh[name](mine), strict=True):
            if weight:
                cells.append(runs)
                weights.append(weight / len(SCALE))
    return above(what, studentized(cells, weights, zlib.crc32(what.encode())))
