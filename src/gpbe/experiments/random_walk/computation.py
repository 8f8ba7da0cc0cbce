"""Fixed points on the 19-state random walk under random policies and representations (paper, section 5.1).

One draw is a random target policy, a random behavior and, for each of four kinds of representation, features. The
minima of two objectives under three weightings are compared by their value error under two weightings. What is kept
is a running sum a cell, so memory does not grow with the number of draws.
"""

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from gpbe import features, mdp
from gpbe.exact.many import FixedPoints
from gpbe.exact.weightings import weighting
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece
from gpbe.shapes import Array

STATES, GAMMA = 19, 0.99
OBJECTIVES = ("pbe", "be")
WEIGHTINGS = ("behavior", "target", "emphatic")
EVALUATIONS = ("behavior", "target")
CHUNK = 1000
"""Draws solved in one batch: small enough to stay near the cache."""
PIECE = 10 * CHUNK
CELL = ("representation", "evaluation", "objective", "weighting")

REPRESENTATIONS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "dependent": lambda rng, n: features.dependent(STATES),
    "network": lambda rng, n: features.random_network(STATES, rng=rng, batch=(n,)),
    "tile coding": lambda rng, n: features.tile_coding(STATES, rng=rng, batch=(n,)),
    "aggregation": lambda rng, n: features.aggregation(features.equal_bins(STATES)),
}


class Sums(NamedTuple):
    """Sums over draws of the normalized error, its square and its logarithm: (representation, evaluation, rows)."""

    draws: int
    error: Array
    square: Array
    log10: Array

    def plus(self, other: "Sums") -> "Sums":
        sums = (a + b for a, b in zip(self[1:], other[1:], strict=True))
        return Sums(self.draws + other.draws, *sums)


def solve_chunk(seed: int, chunk: int, n: int) -> Sums:
    """The normalized errors of n draws, summed. Chunk k of a seed is the same whoever computes it."""
    rng = np.random.default_rng([seed, chunk])
    target, behavior = rng.dirichlet([1.0, 1.0], size=(2, n, STATES))
    problem = mdp.PredictionProblem(mdp.random_walk(STATES, GAMMA), target, behavior)
    weightings = {name: weighting(problem, name) for name in WEIGHTINGS}
    error = np.stack(
        [normalized_errors(problem.with_features(make(rng, n)), weightings) for make in REPRESENTATIONS.values()]
    )
    log = np.log10(np.maximum(error, 1e-12))
    return Sums(n, error.sum(-1), (error**2).sum(-1), log.sum(-1))


def normalized_errors(problem: mdp.PredictionProblem, d: dict[str, Array]) -> Array:
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


def pieces(scale: Scale) -> list[Piece]:
    """Ten thousand draws each."""
    draws = {"smoke": 200, "quick": 100_000, "paper": 1_000_000}[scale]
    return pieces_of(draws)


def pieces_of(draws: int, seed: int = 0) -> list[Piece]:
    """Any number of draws."""
    parts = [(first, min(PIECE, draws - first)) for first in range(0, draws, PIECE)]
    return [Piece(f"{__name__}:rows", (seed, first, n), n) for first, n in parts]


def rows(seed: int, first: int, draws: int) -> pl.DataFrame:
    """Sums over `draws` draws, from number `first` on: a row for each bar of the figure."""
    chunks = range(first, first + draws, CHUNK)
    parts = [solve_chunk(seed, k // CHUNK, min(CHUNK, first + draws - k)) for k in chunks]
    total = functools.reduce(Sums.plus, parts)
    cells = itertools.product(REPRESENTATIONS, EVALUATIONS, OBJECTIVES, WEIGHTINGS)
    sums = {name: getattr(total, name).ravel() for name in ("error", "square", "log10")}
    names = pl.DataFrame(list(cells), schema=list(CELL), orient="row")
    return names.with_columns(pl.Series(k, v) for k, v in sums.items()).with_columns(draws=pl.lit(total.draws))


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean normalized errors over all draws, one row for each bar."""
    n, error, square = pl.col("draws"), pl.col("error"), pl.col("square")
    spread = (square / n - (error / n) ** 2).clip(0)
    return (
        rows.group_by(CELL, maintain_order=True)
        .agg(pl.col("error", "square", "log10", "draws").sum())
        .select(
            *CELL,
            error=error / n,
            standard_error=(spread / (n - 1).clip(1)).sqrt(),
            log10_error=pl.col("log10") / n,
            draws=n,
        )
    )
