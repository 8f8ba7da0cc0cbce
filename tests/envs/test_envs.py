"""Environments against Gymnasium's own, step for step; cutoffs; lanes on the host; probes; what is refused."""

import itertools

import gymnasium
import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit, TransformReward
from gymnax.environments.classic_control.cartpole import CartPole
from scipy import stats

from gpbe import InputError, envs
from gpbe.envs import probes
from helpers.samples import few

CLASSIC = {"MountainCar-v0": 1000, "CartPole-v1": 500, "Acrobot-v1": 500}
PHYSICAL = {  # the numbers that Gymnasium keeps as its state
    "MountainCar-v0": ("position", "velocity"),
    "CartPole-v1": ("x", "x_dot", "theta", "theta_dot"),
    "Acrobot-v1": ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"),
}
COMPILED = [name for name in gymnax.registered_envs if name != "MNISTBandit-bsuite"]  # which downloads its images


def roll(env, actions, key):
    """Lanes of transitions with resets, as a learning loop makes them: (state, action, stepped), each (L, T, ...)."""

    def lane(key, actions):
        key_start, key_steps, key_resets = jax.random.split(key, 3)
        _, state = env.reset(key_start)

        def step(state, xs):
            key_step, key_reset, action = xs
            stepped = env.step(key_step, state, action)
            done = stepped.terminated | stepped.truncated
            after = jax.tree.map(lambda a, b: jnp.where(done, a, b), env.reset(key_reset)[1], stepped.state)
            return after, (state, action, stepped)

        keys = (jax.random.split(key_steps, len(actions)), jax.random.split(key_resets, len(actions)))
        return jax.lax.scan(step, state, (*keys, actions))[1]

    return jax.tree.map(np.asarray, jax.jit(jax.vmap(lane))(jax.random.split(key, len(actions)), actions))


# ---------------------------------------------------------------- gymnax is Gymnasium


HELD = [("MountainCar-v0", 18, 900), ("CartPole-v1", 1, 200), ("Acrobot-v1", 7, 900)]


@pytest.mark.parametrize(("name", "hold", "steps"), few(HELD, ("CartPole-v1",)))
def test_steps_are_gymnasiums(name, hold, steps):
    """From the same state, with the same action: the same observation, reward and end. Held actions reach the goals."""
    env, theirs = envs.find(name), gymnasium.make(name).unwrapped
    rng = np.random.default_rng(0)
    actions = np.repeat(rng.integers(env.actions, size=(13, steps // hold)), hold, axis=1)
    states, actions, stepped = roll(env, actions, jax.random.key(1))
    theirs.reset(seed=0)
    observation, reward, terminated = (np.empty_like(a) for a in (stepped.observation, stepped.reward, actions))
    for at in np.ndindex(actions.shape):
        theirs.state = np.array([getattr(states, part)[at] for part in PHYSICAL[name]], float)
        theirs.steps_beyond_terminated = None  # Cart Pole counts steps after the end
        observation[at], reward[at], terminated[at], _, _ = theirs.step(int(actions[at]))
    np.testing.assert_allclose(stepped.observation, observation, rtol=1e-6, atol=2e-6)
    np.testing.assert_array_equal(stepped.reward, reward)
    np.testing.assert_array_equal(stepped.terminated, terminated)
    assert terminated.sum() > 10


@pytest.mark.parametrize(
    ("name", "bounds"), [("MountainCar-v0", (-0.6, -0.4)), ("CartPole-v1", (-0.05, 0.05)), ("Acrobot-v1", (-0.1, 0.1))]
)
def test_starts_are_gymnasiums(name, bounds):
    env, theirs = envs.find(name), gymnasium.make(name).unwrapped
    n = 3000
    _, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(4), n))
    mine = np.stack([getattr(state, part) for part in PHYSICAL[name]], axis=1)
    theirs.reset(seed=5)
    other = np.empty_like(mine)
    for i in range(n):
        theirs.reset()
        other[i] = theirs.state
    for a, b in zip(mine.T, other.T, strict=True):
        if not b.any():  # Mountain Car starts at rest
            assert not a.any()
            continue
        low, high = bounds
        assert low <= a.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < a.max() <= high
        assert abs(a.mean() - b.mean()) < 4 * (high - low) * np.sqrt(2 / 12 / n)
        assert stats.ks_2samp(a, b).pvalue > 0.01


# ---------------------------------------------------------------- cutoffs


def survive(name, observation):
    """Actions that never end an episode: no push, no torque; and a balanced pole."""
    return (observation @ jnp.array([0.1, 0.3, 1.0, 0.5]) > 0).astype(jnp.int32) if name == "CartPole-v1" else 1


@pytest.mark.parametrize("name", few(CLASSIC, ("MountainCar-v0",)))
def test_cut_off_at_the_papers_step(name):
    env = envs.find(name)

    def step(carry, key):
        observation, state = carry
        stepped = env.step(key, state, jnp.asarray(survive(name, observation)))
        return (stepped.observation, stepped.state), (stepped.terminated, stepped.truncated)

    cutoff = CLASSIC[name]
    keys = jax.random.split(jax.random.key(0), cutoff)
    terminated, truncated = jax.jit(lambda keys: jax.lax.scan(step, env.reset(keys[0]), keys)[1])(keys)
    assert not terminated.any()
    assert np.flatnonzero(truncated).tolist() == [cutoff - 1]


LAST = [
    ("MountainCar-v0", {"position": 0.49, "velocity": 0.07}),
    ("CartPole-v1", {"theta": 0.2, "theta_dot": 3.0}),
    ("Acrobot-v1", {"joint_angle1": 3.0, "joint_angle2": 0.1}),
]


@pytest.mark.parametrize(("name", "last"), few(LAST, ("MountainCar-v0",)))
def test_an_end_at_the_cutoff_is_an_end(name, last):
    env = envs.find(name)
    key = jax.random.key(0)
    _, state = env.reset(key)
    state = state.replace(time=jnp.asarray(CLASSIC[name] - 1), **{k: jnp.asarray(v) for k, v in last.items()})
    stepped = env.step(key, state, jnp.asarray(1))
    assert stepped.terminated
    assert not stepped.truncated


# ---------------------------------------------------------------- all of gymnax


@pytest.mark.parametrize("name", few(COMPILED, [*COMPILED][::4]))
def test_every_gymnax_environment_fits_the_loop_or_is_refused(name):
    """Traced, not run: a state keeps its shapes and types, and everything else has the type that is promised."""
    if name in {"Pendulum-v1", "MountainCarContinuous-v0", "PointRobot-misc", "Reacher-misc", "Swimmer-misc"}:
        with pytest.raises(InputError, match=f"^{name} has Box actions; gpbe learns the values of Discrete ones$"):
            envs.find(name)
        return
    env = envs.find(name)
    key, action = jax.random.key(0), jnp.asarray(0)
    observation, state = jax.eval_shape(env.reset, key)
    stepped = jax.eval_shape(env.step, key, state, action)
    assert jax.tree.map(str, stepped.state) == jax.tree.map(str, state)  # with weak_type, where there is one
    assert "weak_type" not in str(state)
    assert stepped.observation.shape == observation.shape == env.observation
    assert stepped.observation.dtype == observation.dtype == stepped.reward.dtype == jnp.float32
    assert stepped.reward.shape == stepped.terminated.shape == stepped.truncated.shape == ()
    assert stepped.terminated.dtype == stepped.truncated.dtype == bool


def test_images_stay_images_and_labels_become_one_hot():
    assert envs.find("Breakout-MinAtar").observation == (10, 10, 4)
    lake = envs.find("FrozenLake-misc")
    observation, _ = lake.reset(jax.random.key(0))
    np.testing.assert_array_equal(observation, np.eye(16)[0])


def test_one_object_a_name_and_instances_of_gymnaxs():
    """So that a program that was compiled for an environment is found again."""
    assert envs.find("Acrobot-v1") is envs.find("Acrobot-v1")
    assert hash(envs.find("Acrobot-v1"))
    env = envs.find(CartPole())
    assert (env.name, env.observation, env.actions) == ("CartPole-v1", (4,), 2)
    assert isinstance(env, envs.CompiledEnv)
    assert envs.find(env) is env


# ---------------------------------------------------------------- lanes on the host


def plain_loop(env, seed, actions):
    """What Gymnasium's documentation tells a user to write, but for a seed of its own for every episode."""
    seeds = (int(np.random.SeedSequence([seed, k]).generate_state(1)[0]) for k in itertools.count())
    observation, _ = env.reset(seed=next(seeds))
    rows = [(observation, 0.0, False, False, observation)]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        following = env.reset(seed=next(seeds))[0] if terminated or truncated else observation
        rows.append((observation, reward, terminated, truncated, following))
    env.close()
    return rows


LUNAR = "LunarLander-v3"
HOSTED = [(LUNAR, 8, 4, 250), ("CartPole-v1", 4, 2, 90), ("FrozenLake-v1", 16, 4, 60), ("Taxi-v4", 500, 6, 230)]


@pytest.mark.parametrize(("name", "size", "count", "steps"), HOSTED)
def test_lanes_are_plain_loops(name, size, count, steps):
    host = envs.find_host(name)
    assert (host.name, host.observation, host.actions) == (name, (size,), count)
    seeds = [3, 7, 7]
    actions = np.random.default_rng(8).integers(count, size=(3, steps))
    with host.open(3) as lanes:
        start = lanes.reset(seeds)
        steps_ = [lanes.step(a) for a in actions.T]
    for lane, seed in enumerate(seeds):
        rows = plain_loop(gymnasium.make(name), seed, actions[lane].tolist())
        shown = np.eye(size, dtype=np.float32) if name in {"FrozenLake-v1", "Taxi-v4"} else None
        show = (lambda o: o) if shown is None else shown.__getitem__
        np.testing.assert_array_equal(start[lane], show(rows[0][0]))
        for mine, (observation, reward, terminated, truncated, following) in zip(steps_, rows[1:], strict=True):
            np.testing.assert_array_equal(mine.observation[lane], show(observation))
            np.testing.assert_array_equal(mine.following[lane], show(following))
            assert mine.reward[lane] == np.float32(reward)
            assert (mine.terminated[lane], mine.truncated[lane]) == (terminated, truncated and not terminated)
    ended = np.array([s.terminated | s.truncated for s in steps_])
    assert ended.any()
    assert all(a.dtype == np.float32 for a in (start, steps_[0].observation, steps_[0].reward, steps_[0].following))


def test_lanes_come_back_to_a_snapshot():
    actions = np.random.default_rng(1).integers(4, size=(150, 2))
    host = envs.find_host(LUNAR)
    with host.open(2) as lanes:
        lanes.reset([1, 2])
        for a in actions[:100]:
            lanes.step(a)
        there = lanes.snapshot()
        later = [lanes.step(a) for a in actions[100:]]
        assert (there.episodes > 0).any()
    with host.open(2) as lanes:
        np.testing.assert_array_equal(lanes.restore(there), there.observation)
        for a, want in zip(actions[100:], later, strict=True):
            for got, expected in zip(lanes.step(a), want, strict=True):
                np.testing.assert_array_equal(got, expected)
        wrong = there._replace(observation=there.observation + 1)
        with pytest.raises(InputError, match="does not come back to where it was"):
            lanes.restore(wrong)


def test_lunar_landers_own_time_limit():
    with envs.find(LUNAR).open(1) as lanes:
        (env,) = lanes._copies._envs
        assert env.spec.max_episode_steps == 1000


class Counter(gymnasium.Env):
    """Counts its steps in an array that it keeps; ends at the third. Actions begin at 5."""

    observation_space = spaces.Box(0, 9, (2, 3), np.float64)
    action_space = spaces.Discrete(3, start=5)

    def __init__(self):
        self.array = np.zeros((2, 3))
        self.taken = []
        self.closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.array[:] = 0
        return self.array, {}

    def step(self, action):
        self.taken.append(action)
        self.array += 1
        return self.array, 2.5, self.array[0, 0] == 3, False, {}

    def close(self):
        self.closed = True


def test_an_end_is_reached_before_the_new_episode_begins():
    """Though the environment writes both observations into one array, and the time limit falls on the same step."""
    env = TimeLimit(Counter(), 3)
    lanes = envs.find(env).open(1)
    np.testing.assert_array_equal(lanes.reset([0]), np.zeros((1, 2, 3)))
    seen = [lanes.step(np.array([2])) for _ in range(4)]
    assert [s.observation[0, 1, 2] for s in seen] == [1, 2, 3, 1]
    assert [s.following[0, 1, 2] for s in seen] == [1, 2, 0, 1]
    assert [s.terminated[0] for s in seen] == [False, False, True, False]
    assert not any(s.truncated[0] for s in seen)
    assert env.unwrapped.taken == [7, 7, 7, 7]


def test_a_time_limit_truncates():
    with envs.find(lambda: TimeLimit(Counter(), 2)).open(2) as lanes:
        lanes.reset(np.array([0, 1]))
        seen = [lanes.step(np.array([0, 1])) for _ in range(4)]
    assert [s.truncated.tolist() for s in seen] == [[False] * 2, [True] * 2] * 2
    assert not any(s.terminated.any() for s in seen)
    assert seen[1].observation[0, 0, 0] == 2
    assert seen[1].following[0, 0, 0] == 0


def test_what_was_made_is_closed_and_what_was_given_is_not():
    made = []

    def make():
        made.append(Counter())
        return made[-1]

    with envs.find(make).open(3):
        assert [env.closed for env in made] == [True, False, False, False]  # the first was only looked at
    assert all(env.closed for env in made)
    given = Counter()
    envs.find(given).open(1).close()
    assert not given.closed


def test_copies_of_an_instance_come_from_its_spec():
    given = TransformReward(gymnasium.make("CartPole-v1", max_episode_steps=4), float)
    with envs.find(given).open(3) as lanes:
        assert lanes._copies._envs[0] is given
        start = lanes.reset([1, 1, 2])
        np.testing.assert_array_equal(start[0], start[1])
        assert (start[0] != start[2]).all()
        seen = [lanes.step(np.array([0, 1, 0])) for _ in range(4)]
    assert seen[-1].truncated.all()


# ---------------------------------------------------------------- what is refused


class Plain(gymnasium.Wrapper):
    """Its arguments are not recorded, so that no spec can make it again."""


def of(observation, action):
    env = Counter()
    env.observation_space, env.action_space = observation, action
    return env


BOX, TWO = spaces.Box(0, 1, (2,)), spaces.Discrete(2)
REFUSED = {
    "misspelled": (
        "MountianCar-v0",
        "'MountianCar-v0' is in neither gymnax nor Gymnasium; did you mean 'MountainCar-v0'",
    ),
    "other case": ("lunarlander", "did you mean 'LunarLander-v3'"),
    "MinAtar": ("MinAtar-Breakout", "did you mean 'Breakout-MinAtar'"),
    "nothing like it": ("xyz", "'xyz' is in neither gymnax nor Gymnasium; MountainCar-v0 is one that there is"),
    "no such module": ("nowhere:Env-v0", "could not make nowhere:Env-v0: No module named 'nowhere'"),
    "unregistered": ("gymnasium:Nope-v0", "could not make gymnasium:Nope-v0: Environment `Nope` doesn't exist"),
    "continuous": ("LunarLanderContinuous-v3", "LunarLanderContinuous-v3 has Box actions"),
    "several actions": (of(BOX, spaces.MultiDiscrete([2, 3])), "Counter has MultiDiscrete actions"),
    "dict": (of(spaces.Dict(a=BOX), TWO), "Counter has observations in a Dict; make them single arrays"),
    "tuple": ("Blackjack-v1", "Blackjack-v1 has observations in a Tuple"),
    "no environment": (3, "a 'int' is no environment; it should be a name"),
    "makes none": (dict, "dict gave a dict; it should make a gymnasium.Env"),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(given, message):
    with pytest.raises(InputError) as error:
        envs.find(given)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


SHARED = Counter()
LANES_REFUSED = {
    "no spec": (Counter(), "Counter, given as an instance without a spec, is one lane only; give a function"),
    "not recorded": (
        Plain(gymnasium.make("CartPole-v1")),
        "CartPole-v1 could not be copied from its spec (Plain wrapper",
    ),
    "shared": (lambda: SHARED, "<lambda> gave the same environment twice; it should make a new one at every call"),
}


@pytest.mark.parametrize(("given", "message"), LANES_REFUSED.values(), ids=LANES_REFUSED)
def test_lanes_refused(given, message):
    with pytest.raises(InputError) as error:
        envs.find(given).open(2)
    assert message in str(error.value)


class Faulty(Counter):
    """An environment whose third step is not what a step should be."""

    def __init__(self, **fault):
        super().__init__()
        self.fault = fault

    def step(self, action):
        seen, reward, terminated, truncated, info = super().step(action)
        if len(self.taken) == 3:
            seen, reward = self.fault.get("observation", seen), self.fault.get("reward", reward)
        return seen, reward, terminated, truncated, info


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"reward": np.nan}, r"step gave the reward nan; it should be a number, 1e\+15 at most$"),
        ({"reward": -1e300}, r"step gave the reward -1e\+300; it should be a number, 1e\+15 at most$"),
        ({"reward": 10**400}, r"step gave the reward 10{70,}; it should be a number, 1e\+15 at most$"),
        ({"observation": np.full((2, 3), np.nan)}, r"an observation is array\(\[\[nan, .* finite in 32 bits$"),
        ({"observation": np.full((2, 3), 1e300)}, r"an observation is array\(\[\[inf, .* finite in 32 bits$"),
        ({"observation": np.zeros((3, 2, 1))}, r"an observation is array.*; it should be numbers of shape \(2, 3\)$"),
    ],
)
def test_steps_that_give_what_cannot_be_learned_from(fault, message):
    with envs.find(lambda: Faulty(**fault)).open(1) as lanes:
        lanes.reset([0])
        lanes.step(np.array([0]))
        lanes.step(np.array([0]))
        with pytest.raises(InputError, match=message):
            lanes.step(np.array([0]))


def test_lanes_must_be_alike():
    sizes = iter([3, 3, 4])
    host = envs.find(lambda: of(spaces.Box(0, 1, (next(sizes),)), TWO))
    with pytest.raises(InputError, match=r"lane 1 has \(4,\) and 2; it should have observations \(3,\) and 2 actions$"):
        host.open(2)


# ---------------------------------------------------------------- probes


@pytest.mark.parametrize("make", probes.PROBES)
def test_probe_values_solve_the_bellman_equation(make):
    probe, gamma = make(), 0.7
    q = probe.q(gamma)
    target = probe.rewards + gamma * ~probe.ends * q.max(1)[probe.following]
    np.testing.assert_allclose(q, target, atol=1e-12)
    assert isinstance(probe, envs.CompiledEnv)
    assert envs.find(probe) is probe


@pytest.mark.parametrize("make", probes.PROBES)
def test_probe_values_are_what_experience_says(make):
    """Tabular Q-learning from the transitions alone, with a cutoff that bootstraps."""
    probe, gamma = make(), 0.7
    actions = np.random.default_rng(1).integers(probe.actions, size=(1, 2000))
    states, actions, stepped = roll(probe, actions, jax.random.key(2))
    q = np.zeros((len(probe.observations), probe.actions))
    for t, action in enumerate(actions[0]):
        following = np.flatnonzero((probe.observations == stepped.observation[0, t]).all(1))[0]
        target = stepped.reward[0, t] + gamma * (not stepped.terminated[0, t]) * q[following].max()
        q[states.state[0, t], action] += 0.5 * (target - q[states.state[0, t], action])
    np.testing.assert_allclose(q, probe.q(gamma), atol=1e-6)


def test_endless_is_cut_off_and_never_ends():
    _, _, stepped = roll(probes.endless(), np.zeros((2, 7), int), jax.random.key(0))
    assert not stepped.terminated.any()
    np.testing.assert_array_equal(stepped.truncated, [[0, 0, 1, 0, 0, 1, 0]] * 2)


class Screen(gymnasium.Env):
    """Two by two bytes that count the steps."""

    observation_space = spaces.Box(0, 255, (2, 2), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.zeros((2, 2), np.uint8), {}

    def step(self, action):
        self.time += 51
        return np.full((2, 2), self.time, np.uint8), 0.0, False, False, {}


def test_bytes_become_numbers_up_to_one():
    with envs.find(Screen).open(lanes=1) as lanes:
        assert not lanes.reset(seeds=[0]).any()
        for expected in (0.2, 0.4):
            np.testing.assert_allclose(lanes.step(np.array([0])).observation, np.full((1, 2, 2), expected), rtol=1e-6)
    assert envs.as_observation([0.0, 255.0]).tolist() == [0, 255]  # numbers that are no bytes stay


def test_a_module_in_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_screens.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.classic_control import CartPoleEnv\n"
        "gymnasium.register('Mine-v0', entry_point=CartPoleEnv)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert envs.find("my_screens:Mine-v0").observation == (4,)
