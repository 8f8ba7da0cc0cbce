"""One scale for all domains, and the two numbers that are chosen by us: what is small, and what is solved.

*The way* goes from what a random policy gets (0) to the reward threshold that Gymnasium states (1). A domain is
*solved* where the mean return over the last quarter of the steps covers `SOLVED` of it. Not all of it, because agents
are measured while they learn, and action-value methods take a random action in ten.
"""

import polars as pl

from gpbe.envs.domains import DOMAINS, Domain, domain_of

SOLVED = 0.75
SOLVED_AT = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
"""Other numbers for it, with which verdicts are shown too."""
MARGIN = 0.1
"""Differences up to this part of the way are small: algorithms within it perform alike."""
NEAR = 0.2
"""Settings within this part of the way of the best are near it."""


def way(name: str) -> float:
    """The way from the return of a random policy to the threshold.

    >>> way("CartPole-v1")
    446.0
    """
    domain = domain_of(name)
    return domain.threshold - domain.random_return


def return_at(name: str, part: float) -> float:
    """The return at a part of the way.

    >>> return_at("MountainCar-v0", SOLVED)
    -332.5
    """
    return domain_of(name).random_return + part * way(name)


def bounds_of(name: str) -> tuple[float, float]:
    """The parts of the way between which all returns of a domain lie, or count as lying.

    >>> [round(bound, 3) for bound in bounds_of("CartPole-v1")]
    [-0.065, 1.056]
    """
    return _part(domain_of(name), 0), _part(domain_of(name), 1)


def on_the_way(performances: pl.DataFrame) -> pl.DataFrame:
    """Performances as parts of the way, those out of a domain's bounds as its bounds."""
    names = list(DOMAINS)
    columns = {
        "_low": [DOMAINS[name].bounds[0] for name in names],
        "_high": [DOMAINS[name].bounds[1] for name in names],
        "_start": [DOMAINS[name].random_return for name in names],
        "_way": [way(name) for name in names],
    }
    known = performances.join(pl.DataFrame({"domain": names, **columns}), on="domain", maintain_order="left")
    clipped = pl.col("performance").clip(pl.col("_low"), pl.col("_high"))
    return known.with_columns(performance=(clipped - pl.col("_start")) / pl.col("_way")).drop(columns)


def _part(domain: Domain, side: int) -> float:
    return (domain.bounds[side] - domain.random_return) / (domain.threshold - domain.random_return)
