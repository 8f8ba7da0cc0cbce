"""The bias of the TD error: on a walk with a table its minimum is not v_pi (paper, appendix B).

TDE = BE + the variance of the target R + gamma v(S'), and the TDE's minimum buys less variance with Bellman error.
The weighting is uniform, the discount 1, the policy fair; the features are a table, so every other objective here
has its minimum at v_pi.
"""

import numpy as np
import polars as pl

from gpbe import exact, mdp

OBJECTIVES = ("ve", "be", "pbe", "tde")


def run(states: int) -> pl.DataFrame:
    """A row for each objective and state; errors and `distance`, to v_pi in the L2 norm, are the solution's."""
    problem = mdp.PredictionProblem(mdp.random_walk(states), [0.5, 0.5], [0.5, 0.5])
    parts = []
    for objective in OBJECTIVES:
        values = exact.solution(problem, objective, "uniform").values
        errors = exact.td_error_parts(problem, values, "uniform")
        parts.append(
            pl.DataFrame(
                {
                    "objective": objective,
                    "state": problem.mdp.state_names,
                    "value": values,
                    "true_value": problem.values,
                    "td_error": errors.total,
                    "bellman_error": errors.bellman,
                    "variance": errors.variance,
                    "distance": np.linalg.norm(values - problem.values),
                }
            )
        )
    return pl.concat(parts)
