"""Passes over a log, part by part, in this process or on several."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from gpbe.evaluation.intervals import Estimator
from gpbe.evaluation.sums import Sums, add
from gpbe.evaluation.survey import Calibration, Survey, look
from gpbe.evaluation.walk import Grouping, walk
from gpbe.mdp.log_source import Source, check_width

T = TypeVar("T")
BUDGET = 2**22
"""Numbers that the sums of all groups may have."""
MOST, FEWEST = 1000, 20
"""Groups that are kept, at most and at least."""
EPISODES = 5
"""Episodes below which blocks of rows take their place."""
BLOCKS = 50
"""How many blocks there are then."""


@runtime_checkable
class Workers(Protocol):
    """Processes elsewhere that read files side by side, such as `gpbe.runner.Ray`."""

    def map(self, work: Callable[[int], T], count: int) -> Iterator[T]:
        """What `work` makes of 0, 1, ..., in this order."""
        ...

    def connected(self) -> AbstractContextManager[None]:
        """Within it, workers are used several times."""
        ...


def surveyed(source: Source, workers: int | Workers, advance: Callable[[int], None]) -> list[Survey]:
    """A first look at every part."""
    found: list[Survey] = []
    for name, survey in zip(source.parts, over_parts(partial(look, source), len(source.parts), workers), strict=True):
        found.append(survey)
        check_width(name, survey.features, source.parts[0], found[0].features)
        check_width(name, survey.actions, source.parts[0], found[0].actions, "action")
        advance(survey.rows)
    return found


def groupings(surveys: list[Survey], numbers: int) -> list[Grouping]:
    """How units are grouped in each part: the fewer numbers are kept of a group, the more groups there are."""
    episodes = sum(s.episodes for s in surveys)
    rows = sum(s.rows for s in surveys)
    most = max(FEWEST, min(MOST, BUDGET // max(1, numbers)))
    if episodes < EPISODES:
        block = max(1, rows // BLOCKS)
        units = [max(1, -(-s.rows // block)) for s in surveys]
    else:
        block, units = None, [s.episodes for s in surveys]
    each = max(1, most // len(surveys))
    sizes = [min(n, each) for n in units]
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    total = min(sum(sizes), most)
    return [Grouping(size, start % total, total, block) for size, start in zip(sizes, starts, strict=True)]


def collected(
    source: Source,
    estimators: list[Estimator | Calibration],
    grouped: list[Grouping],
    workers: int | Workers,
    advance: Callable[[int], None],
) -> list[Sums]:
    """The sums of every estimator over the whole log, in one pass.

    Those of a part are added as it comes, so that memory does not grow with the parts; and always in the order of the
    parts, so that the result does not depend on who read which.
    """
    whole: list[Sums] = [{} for _ in estimators]
    for rows, sums in over_parts(partial(_collect, source, estimators, grouped), len(source.parts), workers):
        advance(rows)
        for its, more in zip(whole, sums, strict=True):
            add(its, more)
    return whole


def _collect(
    source: Source, estimators: list[Estimator | Calibration], grouped: list[Grouping], part: int
) -> tuple[int, list[Sums]]:
    sums: list[Sums] = [{} for _ in estimators]
    memories: list[dict[str, Any]] = [{} for _ in estimators]
    rows = 0
    with np.errstate(over="ignore", invalid="ignore"):  # products of many ratios may be beyond all numbers
        for piece in walk(source, part, grouped[part]):
            rows += len(piece.log)
            for estimator, its, memory in zip(estimators, sums, memories, strict=True):
                add(its, estimator.add(piece, memory))
    return rows, sums


def over_parts(work: Callable[[int], T], parts: int, workers: int | Workers) -> Iterator[T]:
    """What `work` makes of each part, in order; on several processes if there are several parts."""
    if parts < 2 or workers == 1:
        yield from map(work, range(parts))
        return
    if isinstance(workers, Workers):
        yield from workers.map(work, parts)
        return
    with ProcessPoolExecutor(min(workers, parts), get_context("spawn")) as pool:
        yield from pool.map(work, range(parts))
