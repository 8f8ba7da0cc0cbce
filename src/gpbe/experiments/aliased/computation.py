"""Two states that look alike: what the solution does to the states after them, as H tells them apart (section 5.1).

F has one feature for A1 and A2 together, one for B and one for C. H grows from F to everything by the difference
between A1 and A2, with a ridge on it that falls from infinity to 0 (`gpbe.experiments.widening`). Of the projection
penalty it then counts the share c = 1 / (1 + ridge), and the solution has B = 1 - c / (2 + 2c) and C = 1 - B.
"""

import numpy as np
import polars as pl

from gpbe import exact, mdp
from gpbe.experiments.widening import widened, widened_solution


def run(sizes: int) -> pl.DataFrame:
    """A row for each state and each of `sizes` sets H, from H = F (share 0, the PBE) to everything (1, the BE)."""
    problem = mdp.aliased()
    d = problem.behavior_distribution
    features = widened(problem, [1.0, 0.0, 0.0, 0.0], d)
    parts = []
    for share in np.linspace(0, 1, sizes):
        ridge = 1 / share - 1 if share else np.inf
        values = widened_solution(problem, features, d, ridge)
        parts.append(
            pl.DataFrame(
                {
                    "ridge": ridge,
                    "share": share,
                    "state": problem.mdp.state_names,
                    "value": values,
                    "true_value": problem.values,
                    "value_error": exact.value_error(problem, values, d),
                }
            )
        )
    return pl.concat(parts)
