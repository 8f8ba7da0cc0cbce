"""Kolter's example: the value error of each solution over all behaviors, as H grows (paper, section 5.1).

F is one feature on two states. H grows from F to everything by one more direction, the one that is orthogonal to F
under the behavior's weighting d_b, with a ridge on it that falls from infinity to 0 (`gpbe.experiments.widening`).
Since F and this direction span all functions, the ends are exactly the linear PBE and the BE. All errors are
VE = ||v - v_pi||^2 under d_b, also that of the solution under the emphatic weighting.

At one behavior p the 1 x 1 matrix A(p) of the linear PBE is 0, and the solution b / A passes through infinity. Any
finite ridge bounds it.
"""

import numpy as np
import polars as pl

from gpbe import exact, mdp
from gpbe.experiments.widening import widened, widened_solution
from gpbe.shapes import Array, PerState

EPSILON, GAMMA = 0.01, 0.99
RIDGES = (np.inf, 1000.0, 100.0, 10.0, 0.0)


def pole(epsilon: float = EPSILON, gamma: float = GAMMA) -> float:
    """The behavior p at which A(p) = 0: A is linear in d_b, hence in p."""
    p = np.array([0.25, 0.75])
    left, right = exact.linear_system(mdp.kolter(p, epsilon, gamma), "behavior").A[:, 0, 0]
    return float(p[0] + (p[1] - p[0]) * left / (left - right))


def behaviors(points: int, around: float) -> Array:
    """At least `points` values of p, evenly spaced in (0, 1), and more of them towards `around`, never on it."""
    even = (np.arange(points) + 0.5) / points
    close = np.geomspace(1e-7, 0.1, 60)
    return np.unique(np.concatenate([even, around - close, around + close]))


def run(points: int) -> pl.DataFrame:
    """A row for each behavior p and each solution; `ridge` is null for solutions that do not depend on H."""
    at = pole()
    p = behaviors(points, at)
    problem = mdp.kolter(p, EPSILON, GAMMA)
    d = problem.behavior_distribution
    features = widened(problem, [1.0, 0.0], d)

    def rows(objective: str, weighting: str, values: PerState, ridge: float | None = None) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "p": p,
                "objective": objective,
                "weighting": weighting,
                "ridge": pl.Series([ridge] * len(p), dtype=pl.Float64),
                "value_1": values[:, 0],
                "value_2": values[:, 1],
                "value_error": exact.value_error(problem, values, d),
                "pole": at,
            }
        )

    return pl.concat(
        [
            *(rows("pbe", "behavior", widened_solution(problem, features, d, r), r) for r in RIDGES),
            rows("pbe", "emphatic", exact.solution(problem, "pbe", "emphatic").values),
            rows("be", "behavior", exact.solution(problem, "be", d).values),
            rows("ve", "behavior", exact.solution(problem, "ve", d).values),
        ]
    )
