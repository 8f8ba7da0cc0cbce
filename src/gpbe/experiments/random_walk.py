"""Fixed points on the 19-state random walk under random policies and representations (paper, section 5.1).

One draw is a random target policy, a random behaviour and, for each of four kinds of representation, features. The
minima of two objectives under three weightings are compared by their value error under two weightings. What is kept
is a running sum a cell, so memory does not grow with the number of draws.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import polars as pl

from gpbe import features, mdp
from gpbe.exact.many import FixedPoints
from gpbe.exact.weightings import weighting
from gpbe.types import Array

STATES, GAMMA = 19, 0.99
OBJECTIVES = ("pbe", "be")
WEIGHTINGS = ("behavior", "target", "emphatic")
EVALUATIONS = ("behavior", "target")
CHUNK = 1000
"""Draws solved in one batch: small enough to stay near the cache."""

REPRESENTATIONS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "dependent": lambda rng, n: features.dependent(STATES),
    "network": lambda rng, n: features.random_network(STATES, rng=rng, batch=(n,)),
    "tile coding": lambda rng, n: features.tile_coding(STATES, rng=rng, batch=(n,)),
    "aggregation": lambda rng, n: features.aggregation(features.equal_bins(STATES)),
}


class Sums(NamedTuple):
    """Sums over draws of the normalised error, its square and its logarithm: (representation, evaluation, rows)."""

    draws: int
    error: Array
    square: Array
    log10: Array

    def plus(self, other: "Sums") -> "Sums":
        sums = (a + b for a, b in zip(self[1:], other[1:], strict=True))
        return Sums(self.draws + other.draws, *sums)


def solve_chunk(seed: int, chunk: int, n: int) -> Sums:
    """The normalised errors of n draws, summed. Chunk k of a seed is the same whoever computes it."""
    rng = np.random.default_rng([seed, chunk])
    target, behavior = rng.dirichlet([1.0, 1.0], size=(2, n, STATES))
    problem = mdp.PredictionProblem(mdp.random_walk(STATES, GAMMA), target, behavior)
    weightings = {name: weighting(problem, name) for name in WEIGHTINGS}
    error = np.stack(
        [normalised_errors(problem.with_features(make(rng, n)), weightings) for make in REPRESENTATIONS.values()]
    )
    log = np.log10(np.maximum(error, 1e-12))
    return Sums(n, error.sum(-1), (error**2).sum(-1), log.sum(-1))


def normalised_errors(problem: mdp.PredictionProblem, d: dict[str, Array]) -> Array:
    """VE above the best representable, over the largest of its column: (evaluation, minimum, draw)."""
    solver = FixedPoints(problem)
    solutions = np.stack([solver.values(objective, d[w]) for objective in OBJECTIVES for w in WEIGHTINGS])
    squared = (solutions - problem.values) ** 2
    columns = []
    for evaluation in EVALUATIONS:
        best = (solver.values("ve", d[evaluation]) - problem.values) ** 2
        error = np.einsum("rns,ns->rn", squared, d[evaluation]) - np.einsum("ns,ns->n", best, d[evaluation])
        error = np.maximum(error, 0.0)  # the best is best up to rounding
        columns.append(error / error.max(0))
    return np.stack(columns)


def run(
    draws: int,
    seed: int = 0,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda draws: None,
) -> pl.DataFrame:
    """Mean normalised errors over `draws` draws, one row for each bar of the figure.

    `advance` is told how many more draws are done. The result does not depend on the number of workers.
    """
    jobs = [(seed, k, min(CHUNK, draws - k * CHUNK)) for k in range(-(-draws // CHUNK))]
    workers = min(len(jobs), workers or os.cpu_count() or 1)
    parts = map(_job, jobs) if workers == 1 else _in_processes(jobs, workers)
    total = None
    for part in parts:
        total = part if total is None else total.plus(part)
        advance(part.draws)
    assert total is not None
    return _table(total)


def _job(job: tuple[int, int, int]) -> Sums:
    return solve_chunk(*job)


def _in_processes(jobs: list[tuple[int, int, int]], workers: int) -> Iterator[Sums]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process a core; BLAS threads would fight for them
    # Fresh processes, not forks: JAX, if loaded, has threads that a fork would leave behind.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_job, jobs, chunksize=4)


def _table(sums: Sums) -> pl.DataFrame:
    n = sums.draws
    rows = []
    for i, representation in enumerate(REPRESENTATIONS):
        for j, evaluation in enumerate(EVALUATIONS):
            for k, (objective, name) in enumerate((o, w) for o in OBJECTIVES for w in WEIGHTINGS):
                mean = sums.error[i, j, k] / n
                spread = max(sums.square[i, j, k] / n - mean**2, 0.0)
                rows.append(
                    {
                        "representation": representation,
                        "evaluation": evaluation,
                        "objective": objective,
                        "weighting": name,
                        "error": mean,
                        "standard_error": (spread / max(n - 1, 1)) ** 0.5,
                        "log10_error": sums.log10[i, j, k] / n,
                        "draws": n,
                    }
                )
    return pl.DataFrame(rows)
