"""The lean Lunar Lander against Gymnasium's, bit for bit: observations, rewards, ends and draws."""

import pickle
from itertools import cycle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from gpbe import InputError, envs
from gpbe.envs import lunar_lander
from gpbe.envs.lunar_lander import LunarLander, make_lunar_lander, theirs

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def bits(stepped):
    observation, reward, terminated, truncated, info = stepped
    return observation.dtype, observation.tobytes(), float(reward).hex(), terminated, truncated, info


def policies(rng, env):
    """Functions from an observation to an action; together they fly, crash, land and stand."""

    def held():
        while True:
            yield from [int(rng.integers(4))] * int(rng.integers(1, 25))

    def restless(observation):
        """Land; keep the engines going on the ground."""
        return int(rng.integers(4)) if observation[6:].any() else theirs.heuristic(env, observation)

    engines, holding = cycle([1, 2, 3, 2]), held()
    return {
        "random": lambda observation: int(rng.integers(4)),
        "engines": lambda observation: next(engines),
        "held": lambda observation: next(holding),
        "hovering": lambda observation: 2 if observation[3] < -0.1 else int(rng.choice([1, 3])),
        "landing": lambda observation: theirs.heuristic(env, observation),
        "restless": restless,
    }


@pytest.mark.parametrize("policy", ["random", "engines", "held", "hovering", "landing", "restless"])
def test_every_step_is_gymnasiums(policy):
    """Episode after episode in the same two objects, most of them seeded, some from the draws that follow."""
    rng = np.random.default_rng(3)
    ours, their = LunarLander(), gymnasium.make("LunarLander-v3")
    act = policies(rng, their)[policy]
    for episode in range(5):
        seed = None if episode == 3 else int(rng.integers(2**32))
        observation, _ = their.reset(seed=seed)
        assert ours.reset(seed=seed)[0].tobytes() == observation.tobytes()
        ended = False
        while not ended:
            action = act(observation)
            stepped = their.step(action)
            assert bits(ours.step(action)) == bits(stepped)
            observation, _, terminated, truncated, _ = stepped
            ended = terminated or truncated
        assert ours.np_random.bit_generator.state == their.unwrapped.np_random.bit_generator.state


def test_the_heuristic_lands():
    """Which is the end that the other tests would miss if it never came."""
    env, rewards, discrete = LunarLander(), [], theirs.LunarLander()
    for seed in range(6):
        observation, terminated, reward = env.reset(seed=seed)[0], False, 0.0
        while not terminated:
            observation, reward, terminated, _, _ = env.step(theirs.heuristic(discrete, observation))
        rewards.append(reward)
    assert rewards.count(100.0) >= 3


def test_the_time_limit_truncates_as_gymnasiums():
    """Counted anew in each episode. Both go on after an end, if they are asked to."""
    ours, their = LunarLander(), gymnasium.make("LunarLander-v3")
    for seed in (1, 2):
        ours.reset(seed=seed)
        their.reset(seed=seed)
        stepped = [(bits(ours.step(0)), bits(their.step(0))) for _ in range(1002)]
        assert all(a == b for a, b in stepped)
        assert [a[4] for a, _ in stepped] == [False] * 999 + [True] * 3


def test_eight_in_one_process_do_not_mix():
    seeds, actions = range(8), np.random.default_rng(0).integers(4, size=(60, 8)).tolist()
    together = [LunarLander() for _ in seeds]
    for env, seed in zip(together, seeds, strict=True):
        env.reset(seed=seed)
    stepped = [[bits(env.step(a)) for env, a in zip(together, row, strict=True)] for row in actions]
    for lane, seed in enumerate(seeds):
        alone = gymnasium.make("LunarLander-v3")
        alone.reset(seed=seed)
        assert [bits(alone.step(row[lane])) for row in actions] == [row[lane] for row in stepped]


def test_lanes_on_the_host_are_gymnasiums():
    """With new episodes where old ones have ended."""

    def gymnasiums():
        return gymnasium.make("LunarLander-v3")

    actions = np.random.default_rng(5).integers(4, size=(300, 3))
    results = []
    for make in (gymnasiums, make_lunar_lander):
        with envs.find_host(make).open(lanes=3) as lanes:
            start = lanes.reset(seeds=[7, 8, 9])
            steps = [lanes.step(a) for a in actions]
        results.append([start, *(field for step in steps for field in step)])
    assert sum(step.terminated.sum() for step in steps) >= 3
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*results, strict=True))


def test_it_says_what_it_is():
    ours, their = make_lunar_lander(), gymnasium.make("LunarLander-v3")
    assert isinstance(ours, gymnasium.Env)
    assert ours.spec.id == their.spec.id
    assert ours.spec.max_episode_steps == their.spec.max_episode_steps
    assert (ours.observation_space, ours.action_space) == (their.observation_space, their.action_space)
    ours.close()


def test_a_pickled_one_begins_anew():
    env = LunarLander()
    copy = pickle.loads(pickle.dumps(env))
    assert copy.reset(seed=1)[0].tobytes() == env.reset(seed=1)[0].tobytes()


def test_steps_are_refused_before_a_reset_and_for_other_actions():
    env = LunarLander()
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    for action in (-1, 4):
        with pytest.raises(InputError, match=f"no action {action}; it should be one of 0, 1, 2, 3"):
            env.step(action)


def test_the_pinned_versions_are_checked_ones():
    """A new pin needs the tests above to pass first."""
    pins = dict(line.split("==") for line in CONSTRAINTS.read_text().splitlines() if "==" in line)
    assert all(pins[package] in versions for package, versions in lunar_lander.CHECKED.items())


@pytest.mark.parametrize("package", ["gymnasium", "Box2D", "not-installed"])
def test_other_versions_get_gymnasiums_own(monkeypatch, package):
    monkeypatch.setitem(lunar_lander.CHECKED, package, ("0.1",))
    env = make_lunar_lander()
    assert type(env.unwrapped) is theirs.LunarLander
    assert env.spec.max_episode_steps == 1000
