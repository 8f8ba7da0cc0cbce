"""How often do the intervals of `gpbe.evaluate` hold the truth?

`python benchmarks/coverage.py [--logs 200] [--networks 100] [--minutes 20] [--page docs/evaluate.md]`: so many logs of
each kind, fewer with values of networks, which take longer. It ends earlier when the time is up, of which linear values
have half at most and networks what is left, and tells how many there were. Logs are simulated from random problems with
7 states and 3 actions, whose value is known. The kinds differ in how much of the target is in the behavior, in how long
episodes and logs are, and so in how many of the target's episodes a log is worth. Prints Markdown, and with `--page`
writes it into a page, between the lines that begin and end it. A frequency p from n logs has an error of
sqrt(p (1 - p) / n).

Not here: what algorithms of `gpbe.predict` have learned after one pass. Their intervals are about what a pass over
another log would find, which is the policy's value only where learning is done.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

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
WITH_NETWORKS = (KINDS[0], KINDS[3])
METHODS, LEVELS = ("asymptotic", "bootstrap"), (0.9, 0.95)
ASKED = tuple((method, level) for method in METHODS for level in LEVELS)
ONE_INTERVAL = ("mis",)
"""Estimators whose interval is asymptotic in any case."""
HIDDEN = (16,)
BEGIN, END = "<!-- coverage, by benchmarks/coverage.py -->", "<!-- end of coverage -->"
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

    @property
    def name(self) -> str:
        """What kind of logs they are."""
        episodes, effective = np.mean(self.sizes, axis=0)
        return f"{episodes:.0f} episodes, worth {effective:.0f}"

    def found(self, name: str, asked: Sequence[tuple[str, float]]) -> str:
        """The frequencies of an estimator, one for each interval; one, if they are the same intervals."""
        each = [self.inside[name, *interval] for interval in asked]
        return ", ".join(f"{np.mean(inside):.2f}" for inside in (each if name not in ONE_INTERVAL else each[:1]))


def table(heading: str, rows: Mapping[str, list[str]], columns: Sequence[str]) -> str:
    """A table in Markdown."""
    lines = [f"| {heading} | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def page(kinds: list[Kind], fitted: list[Kind], command: str) -> str:
    """What was found: a table for each level, and one of networks."""
    said = [
        f"Of all estimators, over {counted(kinds)} of each kind (`{command}`; a frequency p from n logs has a standard "
        "error of sqrt(p (1 - p) / n)), with asymptotic intervals and, after the comma, with those of the bootstrap:"
    ]
    for level in LEVELS:
        asked = [(method, level) for method in METHODS]
        rows = {name: [kind.found(name, asked) for kind in kinds] for name in ESTIMATORS}
        said.append(table(f"where {100 * level:g} % is said", rows, [kind.name for kind in kinds]))
    if fitted[0].sizes:
        asked = [(METHODS[0], level) for level in LEVELS]
        rows = {name: [kind.found(name, asked) for kind in fitted] for name in WITH_VALUES}
        levels = " and ".join(f"{100 * level:g} %" for level in LEVELS)
        said.append(f"With values of a network (`hidden={HIDDEN}`), over {counted(fitted)} of each kind:")
        said.append(table(f"where {levels} are said", rows, [kind.name for kind in fitted]))
    return "\n\n".join(said)


def counted(kinds: list[Kind]) -> str:
    """How many logs there were of each kind."""
    return f"{len(kinds[0].sizes)} log{'s' * (len(kinds[0].sizes) != 1)}"


def write(file: Path, text: str) -> None:
    """Put a text between the lines of a page that begin and end it."""
    before, _, rest = file.read_text().partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{file} should have the lines {BEGIN} and {END}")
    file.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def measured(
    title: str, kinds: list[Kind], logs: int, until: float, asked: tuple[tuple[str, float], ...], **options: object
) -> None:
    """Some logs of every kind in turn, so that there are as many of each when the time is up."""
    with progress(title, logs * len(kinds), "logs", True) as advance:
        for number in range(logs):
            for kind in kinds:
                kind.measure(number, asked, **options)
                advance(1)
            if time.monotonic() > until:
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


def main(logs: int, nets: int, minutes: float, file: Path | None) -> None:
    """Linear values first, then those of a network."""
    kinds, fitted = [Kind(*kind) for kind in KINDS], [Kind(*kind) for kind in WITH_NETWORKS]
    begun = time.monotonic()
    measured("linear", kinds, logs, begun + (30 if nets else 60) * minutes, ASKED)
    if nets:
        networks.fit = once(networks.fit)
        asked = tuple((METHODS[0], level) for level in LEVELS)  # fqe has 20 resampled logs in any case
        options = {"estimator": WITH_VALUES, "hidden": HIDDEN}
        measured(f"networks {HIDDEN}", fitted, nets, begun + 60 * minutes, asked, **options)
    text = page(kinds, fitted, f"python benchmarks/coverage.py --logs {logs} --networks {nets} --minutes {minutes:g}")
    print(text)
    if file is not None:
        write(file, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    main(given.logs, given.networks, given.minutes, given.page)
