"""Laws of runs with known truth, and how often a procedure is right about them: coverage, error rates, power."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from gpbe.checks import as_floats, check_at_least, generator
from gpbe.shapes import Array, Numbers


class Law(NamedTuple):
    """A law of runs: how to draw a shape of them, and its mean."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Float[Array, "..."]]
    mean: float


SKEW = 0.15

LAWS: Mapping[str, Law] = {
    "normal": Law(lambda rng, shape: np.clip(rng.normal(0.5, 0.1, shape), 0, 1), 0.5),
    # Most runs near the optimum, a tail of failures.
    "skewed": Law(
        lambda rng, shape: np.maximum(0.95 - rng.exponential(SKEW, shape), 0),
        0.95 - SKEW * (1 - np.exp(-0.95 / SKEW)),
    ),
    # A tenth of the runs fail.
    "bimodal": Law(
        lambda rng, shape: np.where(
            rng.random(shape) < 0.1, rng.uniform(0.05, 0.25, shape), rng.uniform(0.8, 0.9, shape)
        ),
        0.1 * 0.15 + 0.9 * 0.85,
    ),
    "degenerate": Law(lambda _, shape: np.full(shape, 0.8), 0.8),
}
"""Laws on [0, 1] like those of returns."""


def like(observed: Numbers, shift: float = 0.0) -> Law:
    """The law of drawing from observed runs with replacement, moved by `shift`.

    >>> like([1.0, 2.0, 3.0], shift=1.0).mean
    3.0
    """
    runs = as_floats(observed, "observed") + shift
    return Law(lambda rng, shape: rng.choice(runs, shape), float(runs.mean()))


class Rate(NamedTuple):
    """How often something happened in a simulation, with Clopper and Pearson's limits of level 99.99 %."""

    rate: float
    low: float
    high: float


def rate(happened: Numbers) -> Rate:
    """The share of repetitions in which something happened, and between which shares the truth is, almost surely.

    >>> rate([True] * 5 + [False] * 95).rate
    0.05
    """
    flags = np.asarray(happened, bool)
    interval = stats.binomtest(int(flags.sum()), flags.size).proportion_ci(0.9999)
    return Rate(float(flags.mean()), float(interval.low), float(interval.high))


def outcomes(
    procedure: Callable[[list[Array], int], str],
    laws: Sequence[Law],
    sizes: Sequence[int],
    repetitions: int = 500,
    seed: int = 0,
) -> dict[str, float]:
    """How often a whole procedure says what, if cell k has `sizes[k]` runs from `laws[k]`.

    `procedure` takes the runs of all cells and a seed, and gives an outcome, such as that of `verdicts.verdict`.
    """
    check_at_least(1, repetitions=repetitions)
    rng = generator(seed)
    counts: Counter[str] = Counter()
    for k in range(repetitions):
        cells = [law.draw(rng, (n,)) for law, n in zip(laws, sizes, strict=True)]
        counts[procedure(cells, k)] += 1
    return {outcome: count / repetitions for outcome, count in sorted(counts.items())}
