"""QRC(lambda) learns by streams, with the settings that its authors published (Elelimy et al. 2025)."""

import pytest

import gpbe
from gpbe.envs.domains import domain_of
from gpbe.learn.control.learning import STREAMING
from helpers.seeds import seed

PUBLISHED = {
    "lam": 0.8,
    "step_size": 1e-4,
    "ratio": 0.1,
    "beta": 1.0,
    "epsilon": 1.0,
    "epsilon_final": 0.01,
    **STREAMING,
}


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize(("domain", "steps", "runs"), [("CartPole-v1", 40_000, 16), ("Breakout-MinAtar", 30_000, 4)])
def test_returns_are_twice_those_of_random_actions(domain, steps, runs):
    """Returns are means over runs and over the last quarter of the steps.

    With another seed there were means of 221 (deviation 129 over runs) and 3.1 (0.5), where random actions have 29 and
    0.83: by these, twice as much is missed once in 100,000 times. Mountain Car is not learned in every run
    (docs/traces.md).
    """
    result = gpbe.train(
        domain, "qrc-lambda", steps=steps, runs=runs, epsilon_steps=steps / 5, seed=seed(0), **PUBLISHED
    )
    assert result.finals.mean() > 2 * domain_of(domain).random_return, result.finals
