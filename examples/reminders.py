"""From a raw CSV to a decision: which patients should be reminded? `python examples/reminders.py`

A clinic has reminded patients by text message, by telephone or not at all, with probabilities that it wrote down. Each
row of its file is a week of a patient. Two rules are proposed to replace what was done. What would they have been worth
(a week of keeping to the treatment counts 1, a message costs 0.02, a call 0.2), and how sure is that?
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import gpbe
from gpbe import mdp

Rule = Callable[[np.ndarray], np.ndarray]
NOTHING, MESSAGE, CALL = range(3)
COST = (0.0, 0.02, 0.2)
EFFECT = (0.0, 0.05, 0.5)


def record(path: Path, patients: int, seed: int = 0, rule: Rule | None = None) -> None:
    """The clinic's file, as its software exports it. Nobody who evaluates it knows the numbers in here.

    With a rule it is what would have happened: what an evaluation should have said.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for patient in range(patients):
        missed, engaged = 0, rng.uniform(0.3, 0.9)
        for week in range(52):
            chances = [0.5, 0.35, 0.15] if missed == 0 else [0.3, 0.4, 0.3]
            if rule is not None:
                chances = rule(np.array([[missed, engaged]]))[0]
            done = int(rng.choice(3, p=chances))
            helped = engaged + EFFECT[done] - 0.15 * min(missed, 3)
            kept = rng.random() < np.clip(helped, 0.05, 0.95)
            benefit = round(float(kept) - COST[done], 2)
            left = rng.random() < 0.05
            rows.append((patient, week, missed, round(engaged, 2), done, chances[done], benefit, int(left)))
            missed = 0 if kept else missed + 1
            if left:
                break
    names = ["patient", "week", "missed", "engaged", "reminder", "probability", "benefit", "left"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)


def features(states: np.ndarray) -> np.ndarray:
    """Weeks missed in a row (0, 1, 2, 3 or more), each with how engaged the patient was at first."""
    missed = np.eye(4)[np.minimum(states[:, 0], 3).astype(int)]
    return np.concatenate([missed, missed * states[:, 1:]], axis=1)


def messages_for_all(states: np.ndarray) -> np.ndarray:
    """A message every week."""
    return np.eye(3)[np.full(len(states), MESSAGE)]


def calls_after_misses(states: np.ndarray) -> np.ndarray:
    """A message every week; a call after two missed weeks."""
    return np.eye(3)[np.where(states[:, 0] >= 2, CALL, MESSAGE)]


def evaluate(path: Path, policy: Rule) -> gpbe.Evaluation:
    """The value of a rule, in weeks of keeping to the treatment less what reminders cost, discounted by 0.95 a week."""
    log = mdp.scan_log(
        path,
        state=["missed", "engaged"],
        features=features,
        reward="benefit",
        discount=0.95,
        terminal="left",
        episode="patient",
        step="week",
        action="reminder",
        behavior="probability",
        target=policy,
    )
    return gpbe.evaluate(log)


def main(patients: int = 2000) -> dict[str, gpbe.Evaluation]:
    """Record, evaluate both rules, and say which to try."""
    path = Path(tempfile.mkdtemp()) / "reminders.csv"
    record(path, patients)
    rules = {"messages for all": messages_for_all, "calls after misses": calls_after_misses}
    found = {name: evaluate(path, rule) for name, rule in rules.items()}
    for name, evaluation in found.items():
        print(f"\n{name}\n{evaluation}")
    first = found["messages for all"].diagnostics.survey
    print(f"\nAs it was: {first.behavior_return / first.episodes:.2f}")
    for name, evaluation in found.items():
        low, high = evaluation.interval
        print(f"{name}: {evaluation.value:.2f}, 95 % between {low:.2f} and {high:.2f} ({evaluation.recommended})")
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
