"""How often do the intervals of `gpbe.evaluate` hold the truth?

`python benchmarks/coverage.py [logs]`, 400 of each kind if left out: some minutes on one core. Logs are simulated from
random problems with 7 states and 3 actions, whose value is known; the kinds differ in how much of the target is in the
behavior, in how long episodes and logs are, and so in how many episodes of the target's a log is worth. Prints a row
for each estimator, as Markdown; a frequency p from n logs has a standard error of sqrt(p (1 - p) / n).
"""

import sys

import numpy as np

import gpbe
from gpbe import mdp
from gpbe.evaluation import ESTIMATORS

KINDS = (
    (0, 0.5, 0.15, 3000),
    (0, 0.2, 0.15, 1500),
    (0, 0.5, 0.15, 600),
    (0, 0.0, 0.15, 1000),
    (0, 0.3, 0.08, 1500),
    (1, 0.2, 0.08, 800),
)
"""Number of a problem, how much of the target is in the behavior, probability of an end, and rows of a log."""
ASKED = (("asymptotic", 0.9), ("asymptotic", 0.95), ("bootstrap", 0.9))


def problem(number: int, mixed: float, termination: float) -> mdp.PredictionProblem:
    rng = np.random.default_rng(number)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=termination)
    target = rng.dirichlet(np.ones(3), 7)
    return mdp.PredictionProblem(m, target, mixed * target + (1 - mixed) / 3)


def measure(p: mdp.PredictionProblem, rows: int, logs: int) -> tuple[dict[tuple[str, str, float], float], float, float]:
    """Frequencies, and how many episodes a log has and is worth."""
    truth = float(p.mdp.start @ p.values)
    inside: dict[tuple[str, str, float], list[bool]] = {}
    episodes, effective = [], []
    for k in range(logs):
        log = mdp.Log.simulate(p, rows, seed=1000 + k)
        for method, level in ASKED:
            found = gpbe.evaluate(log, interval=method, level=level, resamples=200)
            for name, estimate in found.estimates.items():
                low, high = estimate.interval
                inside.setdefault((name, method, level), []).append(low <= truth <= high)
        episodes.append(found.diagnostics.survey.episodes)
        effective.append(found.diagnostics.effective_episodes)
    return {asked: float(np.mean(each)) for asked, each in inside.items()}, np.mean(episodes), np.mean(effective)


def main(logs: int) -> None:
    for *kind, rows in KINDS:
        found, episodes, effective = measure(problem(*kind), rows, logs)
        print(f"\n{logs} logs of {rows:,} rows, {episodes:.0f} episodes, worth {effective:.0f} of the target's\n")
        print("| estimator | " + " | ".join(f"{method}, {100 * level:g} %" for method, level in ASKED) + " |")
        print("| --- |" + " --- |" * len(ASKED))
        for name in ESTIMATORS:
            numbers = (f"{found[name, method, level]:.2f}" for method, level in ASKED)
            print(f"| {name} | " + " | ".join(numbers) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
