"""How often do the intervals of `gpbe.evaluate` hold the truth?

`python benchmarks/coverage.py [--logs 200] [--networks 40] [--minutes 20]`: so many logs of each kind, fewer with
values of networks, which take longer. It ends earlier when the time is up, of which networks have a quarter, and tells
how many there were. Logs are simulated from random problems with 7 states and 3 actions, whose value is known. The
kinds differ in how much of the target is in the behavior, in how long episodes and logs are, and so in how many of
the target's episodes a log is worth. Prints Markdown; a frequency p from n logs has an error of sqrt(p (1 - p) / n).

Not here: what algorithms of `gpbe.predict` have learned after one pass. Their intervals are about what a pass over
another log would find, which is the policy's value only where learning is done.
"""

import argparse
import time
from collections import defaultdict

import numpy as np

import gpbe
from gpbe import mdp
from gpbe.bars import progress
from gpbe.evaluation import ESTIMATORS, networks
from gpbe.evaluation.asked import WITH_VALUES

KINDS = (
    (0, 0.5, 0.15, 3000),
    (0, 0.2, 0.15, 1500),
    (0, 0.5, 0.15, 600),
    (0, 0.0, 0.15, 1000),
    (0, 0.3, 0.08, 1500),
    (1, 0.2, 0.08, 800),
)
"""Number of a problem, how much of the target is in the behavior, probability of an end, and rows of a log."""
ASKED = (("asymptotic", 0.9), ("asymptotic", 0.95), ("bootstrap", 0.9), ("bootstrap", 0.95))
HIDDEN = (16,)
Inside = dict[tuple[str, str, float], list[bool]]
"""Whether each log's interval holds the truth, by estimator, method and level."""


def problem(number: int, mixed: float, termination: float) -> mdp.PredictionProblem:
    """A random problem whose values are linear in its features, a table."""
    rng = np.random.default_rng(number)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=termination)
    target = rng.dirichlet(np.ones(3), 7)
    return mdp.PredictionProblem(m, target, mixed * target + (1 - mixed) / 3)


class Kind:
    """Logs of one kind, and what was found in them."""

    def __init__(self, number: int, mixed: float, termination: float, rows: int):
        self.problem, self.rows = problem(number, mixed, termination), rows
        self.truth = float(self.problem.mdp.start @ self.problem.values)
        self.inside: Inside = defaultdict(list)
        self.sizes: list[tuple[int, float]] = []

    def measure(self, number: int, asked: tuple[tuple[str, float], ...], **options: object) -> None:
        """One more log."""
        log = mdp.Log.simulate(self.problem, self.rows, seed=1000 + number)
        for method, level in asked:
            found = gpbe.evaluate(log, interval=method, level=level, resamples=200, **options)
            for name, estimate in found.estimates.items():
                low, high = estimate.interval
                self.inside[name, method, level].append(low <= self.truth <= high)
        self.sizes.append((found.diagnostics.survey.episodes, found.diagnostics.effective_episodes))

    def table(self, names: tuple[str, ...], asked: tuple[tuple[str, float], ...]) -> str:
        """Frequencies, a row for each estimator."""
        episodes, effective = np.mean(self.sizes, axis=0)
        lines = [
            f"{len(self.sizes)} logs of {self.rows:,} rows, {episodes:.0f} episodes, worth {effective:.0f}\n",
            "| estimator | " + " | ".join(f"{method}, {100 * level:g} %" for method, level in asked) + " |",
            "| --- |" + " --- |" * len(asked),
        ]
        for name in names:
            numbers = (f"{np.mean(self.inside[name, method, level]):.2f}" for method, level in asked)
            lines.append(f"| {name} | " + " | ".join(numbers) + " |")
        return "\n".join(lines)


def measured(
    title: str, kinds: list[Kind], logs: int, seconds: float, asked: tuple[tuple[str, float], ...], **options: object
) -> None:
    """Some logs of every kind in turn, so that there are as many of each when the time is up."""
    begun = time.monotonic()
    with progress(title, logs * len(kinds), "logs", True) as advance:
        for number in range(logs):
            for kind in kinds:
                kind.measure(number, asked, **options)
                advance(1)
            if time.monotonic() - begun > seconds:
                return


def once(fit):
    """Fits depend on a log and the seed, not on the level of an interval: each log is fitted once for all levels."""
    last: dict[str, object] = {}

    def remembered(net, rows, counts, seed):
        asked = (rows.reward.tobytes(), counts.tobytes(), seed)
        if last.get("asked") != asked:
            last.update(asked=asked, found=fit(net, rows, counts, seed))
        return last["found"]

    return remembered


def main(logs: int, nets: int, minutes: float) -> None:
    """Linear values first, then those of a network."""
    kinds = [Kind(*kind) for kind in KINDS]
    measured("linear", kinds, logs, 45 * minutes, ASKED)
    print("\n\n".join(kind.table(tuple(ESTIMATORS), ASKED) for kind in kinds), flush=True)
    if not nets:
        return
    networks.fit = once(networks.fit)
    fitted, asked = [Kind(*KINDS[3])], ASKED[:2]  # the interval of fqe is from 20 resampled logs in any case
    measured(f"networks {HIDDEN}", fitted, nets, 15 * minutes, asked, estimator=WITH_VALUES, hidden=HIDDEN)
    print(f"\nvalues of a network, hidden={HIDDEN}: {fitted[0].table(WITH_VALUES, asked)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--networks", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=20.0)
    given = parser.parse_args()
    main(given.logs, given.networks, given.minutes)
