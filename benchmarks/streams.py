"""How often do claims about streams err if the choice of step sizes is itself noisy? Simulated runs with a known truth.

`python benchmarks/streams.py [repetitions]`: a world has a mean score for each algorithm, game, step size and lambda.
In each repetition the sweep is drawn, it chooses, fresh runs of what it chose are drawn, and the six claims are judged,
by the functions that judge stored results (with 999 resamples in place of 9,999). In each game and for each algorithm
another step size is best, and all others are worse by the same amount, so that what a claim says of *algorithms*, each
with its best step size, is known, and so is what it says of the settings that were *chosen*. Told are the shares of
repetitions in which a claim is decided right and wrong, by either truth. A verdict "holds" is wrong if a number that it
rests on is not above 0, "does not hold" if all of them are 0 or above; each may happen in 5 % of repetitions.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from gpbe import experiments, report
from gpbe.analysis.findings import Answer, found
from gpbe.analysis.inference import studentized
from gpbe.experiments.streaming import ALGORITHMS, DECLARED
from gpbe.experiments.streaming.verdict import GAMES, LAM, NAME, SCALE, fresh
from gpbe.experiments.sweep import Sweep
from gpbe.report.claims import streams
from gpbe.report.claims.claim import StudyClaim

CLAIMS = [claim for claim in report.CLAIMS if isinstance(claim, StudyClaim) and claim.experiment == NAME]


def _same(value: float) -> dict[str, float]:
    return dict.fromkeys(ALGORITHMS, value)


EQUAL = _same(0.5)
PAPER = {"q-lambda": 0.45, "qc-lambda": 0.55, "qrc-lambda": 0.6, "gq-lambda": 0.3, "stream-q": 0.5}


@dataclass(frozen=True)
class World:
    """Mean scores, and how runs scatter about them."""

    levels: Mapping[str, float]
    """The mean score with the best step size and lambda 0.8."""
    slopes: Mapping[str, float]
    """What any other step size loses."""
    bends: Mapping[str, float]
    """What any other lambda loses."""
    noise: float = 0.15
    """The deviation of a run's score."""
    failing: bool = False
    """Does a fifth of the runs fall far below the others? Else they are normal."""

    def mean(self, algorithm: str, domain: str, place: int, lam: float) -> float:
        """The mean score with the step size in this place of the grid."""
        best = (ALGORITHMS.index(algorithm) + GAMES.index(domain)) % 3
        lost = self.slopes[algorithm] * (place != best) + self.bends[algorithm] * (lam != LAM)
        return self.levels[algorithm] - lost

    def runs(self, sweep: Sweep, random: np.random.Generator | None) -> pl.DataFrame:
        """What a sweep finds on MinAtar; without chance, two runs of each setting that are the mean."""
        rows = []
        for domain, swept in sweep.parts():
            if domain not in GAMES:
                continue
            sizes = list(swept.grid["step_size"])
            for number, setting in swept.numbered().items():
                mean = self.mean(swept.algorithm, domain, sizes.index(setting["step_size"]), setting["lam"])
                runs = sweep.runs_of(swept)
                scores = np.full(runs, mean) if random is None else mean + self.noise * self.scatter(random, runs)
                about = {"domain": domain, "algorithm": swept.algorithm, "setting": number, **setting}
                more = {"every": sweep.every, "diverged_at": -1}
                returns = (scores * SCALE[domain]).tolist()
                rows += [about | more | {"run": run, "returns": [x] * 4} for run, x in enumerate(returns)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def scatter(self, random: np.random.Generator, runs: int) -> np.ndarray:
        """Numbers of mean 0 and variance 1."""
        if self.failing:
            return np.where(random.random(runs) < 0.2, -2.0, 0.5)
        return random.normal(size=runs)


STEEP_Q = _same(0.1) | {"q-lambda": 0.25}
WORLDS = {
    **{f"alike, other step sizes lose {x:g}": World(EQUAL, _same(x), _same(0.0)) for x in (0.5, 0.2, 0.1, 0.05)},
    "alike, other step sizes lose 0.1, a fifth of runs fails": World(EQUAL, _same(0.1), _same(0.0), failing=True),
    "as the paper has it, other step sizes lose 0.1, of Q(lambda) 0.25": World(PAPER, STEEP_Q, STEEP_Q),
}
"""The deviation of runs is 0.15: the more other step sizes lose, the easier is the choice."""


def truth(answer: Answer) -> tuple[bool, bool]:
    """May it be said to hold, and not to hold, if the numbers are exact?"""
    estimates = [float(fact.interval.estimate) for fact in answer.facts]
    return all(x > 1e-9 for x in estimates), any(x < -1e-9 for x in estimates)


def is_right(verdict: str, facts: tuple[bool, bool]) -> bool:
    """Is a verdict true?"""
    return facts[verdict != "holds"]


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    streams.studentized = partial(studentized, resamples=999)  # pyright: ignore[reportPrivateImportUsage]
    declared = DECLARED[0]
    sweep = experiments.find(declared.name, "paper")
    assert isinstance(sweep, Sweep)
    for title, world in WORLDS.items():
        best = world.runs(fresh(declared, world.runs(sweep, None), "paper"), None)
        of_algorithms = {claim.name: truth(claim.ask(best)) for claim in CLAIMS}
        counts: dict[str, Counter[str]] = {claim.name: Counter() for claim in CLAIMS}
        missed = []
        for seed in range(repetitions):
            random = np.random.default_rng(seed)
            judging = fresh(declared, world.runs(sweep, random), "paper")
            rows, exact = world.runs(judging, random), world.runs(judging, None)
            missed.append(share_missed(world, judging))
            for claim in CLAIMS:
                verdict = found(claim.ask(rows), claim.level).verdict
                count = counts[claim.name]
                if verdict == "undecided":
                    count["open"] += 1
                    continue
                count["right" if is_right(verdict, of_algorithms[claim.name]) else "wrong"] += 1
                count["wrong of chosen"] += not is_right(verdict, truth(claim.ask(exact)))
        told = (
            f"{title}: the choice missed the best step size in {100 * np.mean(missed):.0f} %, {repetitions} repetitions"
        )
        print(f"\n{told}\n{'':45}{'right':>8}{'wrong':>8}{'open':>8}{'wrong of chosen':>18}", flush=True)
        for name, count in (*counts.items(), ("all", sum(counts.values(), Counter()))):
            whole = repetitions * (len(CLAIMS) if name == "all" else 1)
            shares = [100 * count[kind] / whole for kind in ("right", "wrong", "open", "wrong of chosen")]
            print(f"{name:45}{shares[0]:7.0f}%{shares[1]:7.1f}%{shares[2]:7.0f}%{shares[3]:17.1f}%", flush=True)


def share_missed(world: World, judging: Sweep) -> float:
    """The share of algorithms and games for which another step size than the best was chosen."""
    wrong = []
    for domain, swept in judging.parts():
        sizes = list(swept.grid["step_size"])
        for setting in swept.numbered().values():
            if setting["lam"] == LAM and judging.runs_of(swept) == judging.runs:
                level = world.mean(swept.algorithm, domain, sizes.index(setting["step_size"]), LAM)
                wrong.append(level < world.levels[swept.algorithm])
    return float(np.mean(wrong))


if __name__ == "__main__":
    main()
