"""Outliers in Bellman errors spoil squared losses and not robust ones (Patterson, Liao and White 2022).

A random MDP of 60 states has values that four features represent exactly, with a mean square of 1. But a few states
have values that are off by the size of the outliers, up or down, and no feature tells them apart. Whatever the weights,
the Bellman error is large there and one step before. A loss may give up on these states, or let them spoil the others.

Shown is the root mean squared error of the values in all other states: at the exact minimum of each loss under d_b,
over the size of the outliers and over their number, and while learning. All is on-policy.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

import gpbe
from gpbe import exact, mdp
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece
from gpbe.shapes import Array, Scalar, as_scalar

STATES, FEATURES, GAMMA = 60, 4, 0.9
HUBER = 0.1
LOSSES = {
    "VE": ("ve", {}),
    "PBE, H = F": ("pbe", {}),
    "BE": ("be", {}),
    "Huber BE": ("hbe", {"huber": HUBER}),
    "absolute BE": ("abe", {}),
}
SIZES = tuple(float(size) for size in np.geomspace(0.1, 100, 13).round(6))
NUMBERS = (0, 1, 2, 3, 5, 8, 12, 16, 20)
SIZE, NUMBER = 10.0, 3
"""The size and number of the outliers where it is the other one that varies, and while learning."""
LEARNERS = {"BE": ("gtd2", {}), "Huber BE": ("huber-gtd2", {"huber": HUBER})}
STEP_SIZES = (0.03, 0.1, 0.3)
WORK: dict[Scale, tuple[int, int, int]] = {"smoke": (2, 2, 600), "quick": (50, 10, 20_000), "paper": (200, 30, 40_000)}
"""Draws of a problem, runs of learning for each loss and step size, and updates of a run."""
AT_ONCE = 25
"""Draws in a piece."""


def pieces(scale: Scale) -> list[Piece]:
    """Draws for the exact minima, some at a time, and each loss learned."""
    draws, runs, steps = WORK[scale]
    firsts = range(0, draws, AT_ONCE)
    counts = [min(AT_ONCE, draws - first) for first in firsts]
    minima = [Piece(f"{__name__}:minima", (first, n), n) for first, n in zip(firsts, counts, strict=True)]
    return minima + [Piece(f"{__name__}:learned", (loss, runs, steps), runs) for loss in LEARNERS]


class Spoiled(NamedTuple):
    """A problem with outliers."""

    problem: mdp.PredictionProblem
    others: Array
    """Which states are none; their values are a combination of the features."""

    def error(self, values: Array) -> Scalar:
        """The root mean squared error of values (..., S) in states that are no outliers."""
        wrong = (values - self.problem.values)[..., self.others]
        return as_scalar(np.sqrt((wrong**2).mean(-1)))


def spoiled(draw: int, size: float, number: int) -> Spoiled:
    """A draw of the problem; of a draw, more outliers are the same ones and more."""
    rng = np.random.default_rng(draw)
    m = mdp.random_mdp(STATES, 2, 3, GAMMA, rng=rng)
    policy = rng.dirichlet(np.ones(2), STATES)
    x = np.column_stack([np.ones(STATES), rng.standard_normal((STATES, FEATURES - 1))])
    clean, order = x @ rng.standard_normal(FEATURES), rng.permutation(STATES)
    outlier = np.isin(np.arange(STATES), order[:number])
    values = clean / np.sqrt((clean**2).mean()) + size * outlier * rng.choice([-1.0, 1.0], STATES)
    # With these rewards they are the values of every policy.
    reward = values[:, None, None] - m.discount * values
    changed = mdp.FiniteMDP(m.transition, reward, m.discount, m.start)
    return Spoiled(mdp.PredictionProblem(changed, policy, policy, x, name=f"spoiled-{draw}"), ~outlier)


def minima(first: int, draws: int) -> pl.DataFrame:
    """The error at the exact minimum of each loss, over sizes and numbers of outliers."""
    rows = []
    for draw in range(first, first + draws):
        cases = [("size", size, size, NUMBER) for size in SIZES]
        cases += [("number", float(number), SIZE, number) for number in NUMBERS]
        for panel, at, size, number in cases:
            case = spoiled(draw, size, number)
            for loss, (objective, options) in LOSSES.items():
                weights = exact.fixed_point(case.problem, objective, "behavior", **options)
                error = case.error(case.problem.features @ weights)
                rows.append((panel, loss, at, draw, None, error))
    return _table(rows)


def learned(loss: str, runs: int, steps: int) -> pl.DataFrame:
    """The error while the saddlepoint form learns from replay, with every function in H; null where it is infinite."""
    algorithm, options = LEARNERS[loss]
    case, rows = spoiled(0, SIZE, NUMBER), []
    for step_size in STEP_SIZES:
        result = gpbe.predict(
            case.problem,
            algorithm,
            net=(),
            basis=np.eye(STATES),
            steps=steps,
            runs=runs,
            every=steps // 40,
            batch=32,
            step_size=step_size,
            ratio=3.0,
            metrics=("rmsbe",),
            **options,
        )
        for (run, point), error in np.ndenumerate(np.asarray(case.error(result.values.astype(float)))):
            seen = float(error) if np.isfinite(error) else None
            rows.append(("learned", loss, float(result.steps[point]), run, step_size, seen))
    return _table(rows)


def _table(rows: list[tuple]) -> pl.DataFrame:
    types = [pl.String, pl.String, pl.Float64, pl.Int64, pl.Float64, pl.Float64]
    names = ["panel", "loss", "at", "draw", "step_size", "error"]
    return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")
