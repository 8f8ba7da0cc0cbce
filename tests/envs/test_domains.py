"""What is known of domains, against Gymnasium and against random actions."""

import gymnasium
import numpy as np
import pytest

from gpbe.envs import find
from gpbe.envs.domains import DOMAINS, PAPER, domain_of
from gpbe.envs.host import HostEnv


@pytest.mark.parametrize("name", PAPER)
def test_a_domain_is_as_gymnasium_has_it(name):
    domain, spec = DOMAINS[name], gymnasium.spec(name)
    assert domain.threshold == spec.reward_threshold
    assert isinstance(find(name), HostEnv) == domain.host
    assert domain.random_return < domain.threshold
    if domain.host:
        assert domain.cutoff == spec.max_episode_steps


def test_the_papers_four():
    assert [domain_of(name).title for name in PAPER] == ["Mountain Car", "Acrobot", "Cart Pole", "Lunar Lander"]
    assert [domain_of(name).cutoff for name in PAPER] == [1000, 500, 500, 1000]


def test_random_actions_on_cart_pole():
    """A step carries its episode's return, so that the mean over steps is E[G^2] / E[G]: the delta method's error."""
    env, returns = gymnasium.make("CartPole-v1"), []
    env.action_space.seed(0)
    for episode in range(3000):
        env.reset(seed=episode)
        steps, done = 0, False
        while not done:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            steps, done = steps + 1, terminated or truncated
        returns.append(steps)
    g = np.array(returns, float)
    mean = (g**2).mean() / g.mean()
    error = (g * (g - mean)).std() / g.mean() / np.sqrt(len(g))
    assert abs(DOMAINS["CartPole-v1"].random_return - mean) < 5 * error + 0.5
