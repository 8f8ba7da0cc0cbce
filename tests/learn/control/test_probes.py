"""Control algorithms learn known values, and what they learned survives saving.

Rewards and steps of the probes are not random: at the solution every TD error is 0 and nothing disturbs it any more.
With plain gradient steps, which shrink along with the errors, learning is then a contraction that forgets where it
began: after enough steps, every run of every seed is there.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS
from gpbe.envs import probes
from gpbe.learn.train import Training
from helpers.probes import fixed_point, side_by_side
from helpers.samples import few
from helpers.seeds import seed

pytestmark = pytest.mark.learning

GAMMA, TAU, RUNS = 0.8, 0.2, 4
NEAR = 0.05
"""Values differ by 0.2 and more; what is left of the errors at the start is a hundredth of this, or less."""
ALL, FEW = side_by_side(probes.PROBES), side_by_side([probes.acted, probes.endless])
CRITICS = {"sbeed": {"tau": TAU, "eta": 0.1}, "sbeed-dai": {"tau": TAU, "eta": 0.1}, "tdrc-pg": {}}
OF_POLICY = ("expected-sarsa",)
"""These learn the values of the policy that acts, not the optimal ones."""
GENTLE = {
    "gq": {"beta": 0.05},
    "gq-grad": {"beta": 0.05},
    "q-lambda": {"step_size": 0.3},
    "qc-lambda": {"step_size": 0.3},
    "qrc-lambda": {"step_size": 0.3},
    "gq-lambda": {"step_size": 0.3, "beta": 0.02},
}
"""In saddlepoint methods beta slows down w as well as h; single transitions need smaller steps."""
STEPS = dict.fromkeys(("q-lambda", "qc-lambda", "qrc-lambda", "stream-q"), 24_000) | {"gq-lambda": 60_000}
"""Single transitions take more steps, and less time for each."""
COMMON = {"runs": RUNS, "gamma": GAMMA, "optimizer": "sgd", "every": 500}


def train(probe: probes.Probe, algorithm: str, **given) -> Training:
    result = gpbe.train(probe, algorithm, seed=seed(), **COMMON | given)
    assert (result.diverged_at == -1).all()
    return result


@cache
def trained(algorithm: str, hidden: tuple[int, ...] = (), step_size: float = 1.0) -> Training:
    """A linear function of the observation, unless layers are given. Actions are random: this is off-policy."""
    if algorithm in CRITICS:
        return train(FEW, algorithm, steps=16_000, hidden=(17,), step_size=0.03, **CRITICS[algorithm])
    given = {"step_size": step_size} | GENTLE.get(algorithm, {})
    return train(ALL, algorithm, steps=STEPS.get(algorithm, 12_000), epsilon=1.0, hidden=hidden, **given)


def learned(result: Training) -> np.ndarray:
    return np.stack([result.agent(run).preferences(ALL.observations) for run in range(RUNS)])


def assert_near(got: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(got, np.broadcast_to(expected, got.shape), atol=NEAR)


def test_values_of_the_probes_are_those_of_their_tables():
    np.testing.assert_allclose(ALL.q(GAMMA), fixed_point(ALL, GAMMA, lambda q: q.max(1)))


QUICK = ("qrc",)


@pytest.mark.parametrize("algorithm", few((a for a in ALGORITHMS if a not in (*CRITICS, *OF_POLICY)), QUICK))
def test_learners_of_action_values_learn_those_of_all_probes(algorithm):
    assert_near(learned(trained(algorithm)), ALL.q(GAMMA))


@pytest.mark.slow
def test_qrc_with_a_hidden_layer_learns_those_of_all_probes():
    assert_near(learned(trained("qrc", (31,), 0.25)), ALL.q(GAMMA))


@pytest.mark.slow
@pytest.mark.parametrize("make", probes.PROBES, ids=lambda p: p.__name__)
def test_qrc_with_adam_and_a_hidden_layer_passes_every_probe_alone(make):
    """Adam's steps do not shrink, so that runs stay in a cloud around the solution: their median is compared."""
    probe = make()
    result = gpbe.train(
        probe, "qrc", steps=16_000, runs=8, hidden=(17,), gamma=GAMMA, epsilon=0.5, step_size=2.0**-9, seed=seed()
    )
    q = np.median([result.agent(run).preferences(probe.observations) for run in range(8)], axis=0)
    np.testing.assert_allclose(q, probe.q(GAMMA), atol=0.1)


@pytest.mark.slow
def test_expected_sarsa_learns_the_values_of_the_policy_that_acts_now():
    """In the end all actions are equally likely, whether it was so from the start or exploration grew to that."""
    swept = {"epsilon": [1.0, 0.0], "epsilon_final": [1.0, 1.0], "epsilon_steps": [1.0, 1000.0], "step_size": 1.0}
    result = train(ALL, "expected-sarsa", steps=12_000, hidden=(), **swept | {"runs": RUNS // 2})
    expected = fixed_point(ALL, GAMMA, lambda q: q.mean(1))
    for setting in range(2):
        for run in range(RUNS // 2):
            assert_near(result.agent(run, setting).preferences(ALL.observations), expected)


@pytest.mark.parametrize("algorithm", few(CRITICS, ()))
def test_actor_critics_learn_values_and_what_to_do(algorithm):
    """SBEED's values are soft: tau log sum exp(q / tau) for the maximum over actions."""
    tau = CRITICS[algorithm].get("tau", 1e-6)

    def soft(q: np.ndarray) -> np.ndarray:
        return tau * np.logaddexp.reduce(q / tau, axis=1)

    best = soft(fixed_point(FEW, GAMMA, soft))
    for run in range(RUNS):
        agent = trained(algorithm).agent(run)
        assert_near(np.asarray(agent.networks.critic(jnp.asarray(FEW.observations.T, jnp.float32))[0]), best)
        assert agent.act(FEW.observations[0]) == 1


KINDS = ("qrc-sep", "qrc-grad", "sbeed", "sbeed-q", "tdrc-pg")


@pytest.mark.parametrize("algorithm", few(KINDS, ()))
def test_agents_of_all_kinds_can_be_saved(algorithm, tmp_path):
    probe, agent = FEW if algorithm in CRITICS else ALL, trained(algorithm).agent(1)
    loaded = gpbe.load(agent.save(tmp_path / "agent.npz"))
    np.testing.assert_array_equal(loaded.preferences(probe.observations), agent.preferences(probe.observations))
    found = loaded.evaluate(probe, episodes=20, sample=algorithm in CRITICS)
    # Only `observed` can cost, after one step; `endless` pays twice in three.
    ways = {(1, 1), (1, 2), (-1, 1), (2, 3)} | ({(0, 1)} if algorithm in CRITICS else set())
    assert set(zip(found.returns.tolist(), found.lengths.tolist(), strict=True)) <= ways
