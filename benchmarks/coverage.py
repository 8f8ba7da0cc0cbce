"""How often do the intervals of `gpbe.evaluate` hold the truth?

`python benchmarks/coverage.py [logs]`, 300 if left out: about two minutes on one core. Logs are simulated from a random
problem with 7 states and 3 actions, whose value is known. Once its behavior is halfway between target and chance, and
logs have 3,000 rows; once it is chance and they have 1,000, so that they are worth few episodes of the target's.
Prints a row for each estimator, as Markdown; a frequency p from n logs has a standard error of sqrt(p (1 - p) / n).
"""

import sys

import numpy as np

import gpbe
from gpbe import mdp
from gpbe.evaluation import ESTIMATORS

CASES = {"many effective episodes": (0.5, 3000), "few": (0.0, 1000)}
"""How much of the target is in the behavior, and rows of a log."""
ASKED = (("asymptotic", 0.9), ("asymptotic", 0.95), ("bootstrap", 0.9))


def problem(mixed: float) -> mdp.PredictionProblem:
    rng = np.random.default_rng(0)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=0.15)
    target = rng.dirichlet(np.ones(3), 7)
    return mdp.PredictionProblem(m, target, mixed * target + (1 - mixed) / 3)


def measure(mixed: float, rows: int, logs: int) -> tuple[dict[tuple[str, str, float], float], float, float]:
    """Frequencies, and how many episodes a log has and is worth."""
    p = problem(mixed)
    truth = float(p.mdp.start @ p.values)
    inside: dict[tuple[str, str, float], list[bool]] = {}
    episodes, effective = [], []
    for k in range(logs):
        log = mdp.Log.simulate(p, rows, seed=5000 + k)
        for method, level in ASKED:
            found = gpbe.evaluate(log, interval=method, level=level, resamples=200)
            for name, estimate in found.estimates.items():
                low, high = estimate.interval
                inside.setdefault((name, method, level), []).append(low <= truth <= high)
        episodes.append(found.diagnostics.survey.episodes)
        effective.append(found.diagnostics.effective_episodes)
    return {asked: float(np.mean(each)) for asked, each in inside.items()}, np.mean(episodes), np.mean(effective)


def main(logs: int) -> None:
    for case, (mixed, rows) in CASES.items():
        found, episodes, effective = measure(mixed, rows, logs)
        print(
            f"\n{case}: {logs} logs of {rows:,} rows, {episodes:.0f} episodes, worth {effective:.0f} of the target's\n"
        )
        print("| estimator | " + " | ".join(f"{method}, {100 * level:g} %" for method, level in ASKED) + " |")
        print("| --- |" + " --- |" * len(ASKED))
        for name in ESTIMATORS:
            numbers = (f"{found[name, method, level]:.2f}" for method, level in ASKED)
            print(f"| {name} | " + " | ".join(numbers) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
