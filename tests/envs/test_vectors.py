"""Vector environments: the same numbers as copies that are stepped one by one, seeds, and what is refused."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import gpbe
from gpbe import envs
from gpbe.errors import InputError, SeedWarning


def cart_pole():
    return gymnasium.make("CartPole-v1")


def vector(n, mode=AutoresetMode.DISABLED):
    return SyncVectorEnv([cart_pole] * n, autoreset_mode=mode)


def played(lanes, steps=60):
    """What lanes give for the same actions."""
    rng = np.random.default_rng(4)
    seen = [lanes.reset(seeds=[7, 8, 9])]
    for _ in range(steps):
        seen.extend(lanes.step(rng.integers(0, 2, 3)))
    return seen


def test_all_lanes_at_once_are_the_same_as_one_by_one():
    """Episodes end at different times in the 60 steps; each is seeded by its own number."""
    with envs.find(cart_pole).open(3) as separate:
        expected = played(separate)
    with envs.find(vector).open(3) as together:
        found = played(together)
        at = together.snapshot()
        step = together.step(np.array([0, 1, 1]))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(set(at.episodes.tolist())) > 1
    with envs.find(vector).open(3) as again:  # a snapshot leads back, though episodes are of different lengths
        np.testing.assert_array_equal(again.restore(at), at.observation)
        for a, b in zip(again.step(np.array([0, 1, 1])), step, strict=True):
            np.testing.assert_array_equal(a, b)


def test_an_instance_is_as_many_lanes_as_it_has_and_is_left_open(refuses):
    mine = vector(2)
    host = envs.find(mine)
    assert (host.observation, host.actions, host.together) == ((4,), 2, True)
    with host.open(2) as lanes:
        lanes.reset([1, 2])
    assert not mine.closed
    refuses(lambda: host.open(3), "has 2 lanes for 3 runs side by side; it should be made with 3")


@pytest.mark.parametrize("algorithm", ["qrc", "qrc-lambda"])
def test_runs_with_a_large_network_share_an_instance(algorithm):
    """Runs of large networks are learned one after the other, unless the environment steps all lanes at once."""
    mine = vector(2)
    learned = gpbe.train(mine, algorithm, steps=40, every=20, runs=2, hidden=(200, 200))
    assert learned.returns.shape == (2, 2)
    mine.close()


def test_vectors_that_begin_episodes_by_themselves_are_refused(refuses):
    refuses(
        lambda: envs.find(lambda n: vector(n, mode=AutoresetMode.NEXT_STEP)),
        "has autoreset_mode NextStep; make it with gymnasium.vector.AutoresetMode.DISABLED",
    )
    with pytest.raises(InputError, match=r"takes a number and gave a TimeLimit; it should make a gymnasium.vector"):
        envs.find(lambda n: cart_pole())


class Unseeded(gymnasium.Env):
    """Starts by a random number of its own, as many environments of beginners do."""

    observation_space, action_space = spaces.Box(0, 1, (1,)), spaces.Discrete(2)
    rng = np.random.default_rng()

    def reset(self, *, seed=None, options=None):
        return self.rng.random(1), {}

    def step(self, action):
        return self.rng.random(1), 0.0, False, False, {}


def test_environments_that_ignore_their_seeds_are_said_to():
    message = "starts differently from equal seeds: results cannot be repeated"
    for given in (Unseeded, Unseeded(), lambda n: SyncVectorEnv([Unseeded] * n, autoreset_mode=AutoresetMode.DISABLED)):
        found = envs.find(given)  # an instance may be in use: it is asked when it is opened
        with pytest.warns(SeedWarning, match=message):
            found.open(1)
