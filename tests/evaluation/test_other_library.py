"""Estimators against SCOPE-RL 0.2.1 (Kiyohara et al. 2023), on a log that is written down by formulas.

Its episodes have one length, and its normalized estimators are ours. If it is installed, the numbers below are made
again; they were made once with its estimators of `scope_rl.ope.discrete.basic_estimators`.
"""

import numpy as np
import pytest

from gpbe import evaluate, mdp
from gpbe.evaluation.importance import PerDecision
from gpbe.evaluation.reading import collected, groupings, surveyed
from gpbe.evaluation.sums import total
from gpbe.evaluation.values import LinearValues

EPISODES, STEPS, A, K, GAMMA = 7, 4, 3, 2, 0.9
N = EPISODES * STEPS
W = np.array([0.5, -0.3, 1.1, 0.2, -0.7, 0.4])
"""Action values are linear in the features, two weights for each action."""

RECORDED = {
    "is": 8.991621996229652,
    "wis": 5.253308957474368,
    "pdis": 5.992650531522385,
    "wpdis": 4.4569362201936125,
    "dr": 4.0238745710855195,
    "wdr": 3.063688328992901,
}


def columns() -> dict[str, np.ndarray]:
    i = np.arange(N)
    raw = 1.5 + np.sin(1.0 * i[:, None] + 2.0 * np.arange(A))
    policy, action = raw / raw.sum(1, keepdims=True), (i * i + i // 3) % A
    return {
        "features": np.column_stack([np.cos(0.7 * i), np.sin(1.9 * i)]),
        "reward": np.sin(1.3 * i) + 0.1 * i,
        "action": action,
        "policy": policy,
        "behavior": 0.35 + 0.2 * np.sin(2.7 * i),
    }


def a_log() -> mdp.Log:
    c = columns()
    ends = np.arange(N) % STEPS == STEPS - 1
    follows = np.roll(c["features"], -1, axis=0)
    return mdp.Log(
        c["features"],
        c["reward"],
        np.where(ends, 0.0, GAMMA),
        c["policy"][np.arange(N), c["action"]],
        c["behavior"],
        follows,
        episode=np.arange(N) // STEPS,
        action=c["action"],
        policy=c["policy"],
        next_policy=np.roll(c["policy"], -1, axis=0),
    )


def ours() -> dict[str, float]:
    log = a_log()
    found = evaluate(log, ("is", "wis", "pdis", "wpdis"))
    values = {name: found[name].value for name in found.estimates}
    surveys = surveyed(log, 1, lambda rows: None)
    for name in ("dr", "wdr"):
        estimator = PerDecision(name, name == "wdr", STEPS, LinearValues(W[None], actions=True))
        (sums,) = collected(log, [estimator], groupings(surveys, 1), 1, lambda rows: None)
        values[name] = float(estimator.value(total(sums)))
    return values


def theirs() -> dict[str, float]:
    from scope_rl.ope.discrete import basic_estimators as basic  # pyright: ignore[reportMissingImports]

    c = columns()
    given = {"step_per_trajectory": STEPS, "gamma": GAMMA, "action": c["action"], "reward": c["reward"]}
    given |= {"pscore": c["behavior"], "evaluation_policy_action_dist": c["policy"]}
    given["state_action_value_prediction"] = c["features"] @ W.reshape(A, K).T
    classes = {
        "is": basic.TrajectoryWiseImportanceSampling,
        "wis": basic.SelfNormalizedTIS,
        "pdis": basic.PerDecisionImportanceSampling,
        "wpdis": basic.SelfNormalizedPDIS,
        "dr": basic.DoublyRobust,
        "wdr": basic.SelfNormalizedDR,
    }
    return {name: float(made().estimate_policy_value(**given)) for name, made in classes.items()}


@pytest.mark.parametrize("name", RECORDED)
def test_estimates_are_those_of_scope_rl(name):
    assert ours()[name] == pytest.approx(RECORDED[name], rel=1e-8)


def test_the_recorded_numbers_are_scope_rls():
    pytest.importorskip("scope_rl.ope.discrete")
    assert theirs() == pytest.approx(RECORDED, rel=1e-12)
