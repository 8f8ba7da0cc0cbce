"""Which states the weightings care about: the behavior's, the target's and the emphatic one, on two problems.

All are scaled to sum to 1: the emphatic weighting, as defined, sums to the expected length of an excursion.
"""

from collections.abc import Callable

import polars as pl

from gpbe import exact, mdp

PROBLEMS: dict[str, Callable[[], mdp.PredictionProblem]] = {
    "random walk": lambda: mdp.PredictionProblem(mdp.random_walk(5), target=[0.4, 0.6], behavior=[0.5, 0.5]),
    "Baird's star": mdp.baird,
}
WEIGHTINGS = ("behavior", "target", "emphatic")


def run() -> pl.DataFrame:
    """A row for each problem, weighting and state; `total` is what the weights summed to before scaling."""
    parts = []
    for name, make in PROBLEMS.items():
        problem = make()
        for weighting in WEIGHTINGS:
            d = exact.weighting(problem, weighting)
            parts.append(
                pl.DataFrame(
                    {
                        "problem": name,
                        "weighting": weighting,
                        "state": problem.mdp.state_names,
                        "weight": d / d.sum(),
                        "total": d.sum(),
                    }
                )
            )
    return pl.concat(parts)
