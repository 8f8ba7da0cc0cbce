"""`gpbe.train` and what it leaves: known values, same bits, stopping and going on, saving, and mistakes."""

from typing import ClassVar

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS
from gpbe.envs import probes
from gpbe.learn.control import checkpoint
from gpbe.learn.control.loop import Hypers, epsilon_at

SMALL = {"hidden": (17,), "gamma": 0.9, "step_size": 2.0**-8}
CRITICS = {"sbeed": {"tau": 0.03}, "tdrc-pg": {}}


@pytest.mark.parametrize("make", [probes.chosen, probes.endless], ids=lambda p: p.__name__)
@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a not in CRITICS])
def test_learners_of_action_values_learn_those_of_probes(algorithm, make):
    probe = make()
    # A table of values, for the observations are one-hot: with a hidden layer the gradient methods get there too, but
    # slowly, and saddlepoint methods with constant steps circle around. Actions are random: this is off-policy.
    result = gpbe.train(probe, algorithm, steps=16_000, epsilon=1.0, **SMALL | {"hidden": ()})
    q = result.agent().preferences(probe.observations)
    np.testing.assert_allclose(q, probe.q(0.9), atol=0.2 if probe.name != "endless" else 0.6)
    assert result.diverged_at == -1


@pytest.mark.parametrize("make", probes.PROBES, ids=lambda p: p.__name__)
def test_qrc_with_a_hidden_layer_passes_every_probe(make):
    probe = make()
    q = gpbe.train(probe, "qrc", steps=12_000, epsilon=0.5, **SMALL).agent().preferences(probe.observations)
    np.testing.assert_allclose(q, probe.q(0.9), atol=0.2 if probe.name != "endless" else 0.6)


@pytest.mark.parametrize("make", [probes.acted, probes.endless], ids=lambda p: p.__name__)
@pytest.mark.parametrize("algorithm", CRITICS)
def test_actor_critics_learn_the_values_of_probes_and_what_to_do(algorithm, make):
    probe = make()
    result = gpbe.train(probe, algorithm, steps=12_000, **SMALL, **CRITICS[algorithm])
    agent, best = result.agent(), probe.q(0.9).max(axis=1)
    values = np.asarray(agent.networks.critic(jnp.asarray(probe.observations.T, jnp.float32))[0])
    np.testing.assert_allclose(values, best, atol=0.6 if probe.name == "endless" else 0.2)
    if probe.name == "acted":
        assert agent.act(probe.observations[0]) == 1


@pytest.fixture(scope="module")
def cartpole():
    return gpbe.train("CartPole-v1", "qrc", steps=1000, runs=3, hidden=(9, 7), every=250)


def test_equal_seeds_give_equal_bits_and_runs_differ_from_the_first_weight_on(cartpole):
    again = gpbe.train("CartPole-v1", "qrc", steps=1000, runs=3, hidden=(9, 7), every=250)
    np.testing.assert_array_equal(again.weights, cartpole.weights)
    np.testing.assert_array_equal(again.returns, cartpole.returns)
    # Before the first update, weights are as they began.
    fresh = [gpbe.train("CartPole-v1", "qrc", steps=16, runs=2, hidden=(9, 7), seed=s).weights for s in (0, 1)]
    first = np.concatenate(fresh)
    q_weights = first[:, np.abs(first).max(axis=0) > 0]  # h is 0 at the start
    for i in range(4):
        for j in range(i):
            assert (q_weights[i] != q_weights[j]).all()


def test_a_swept_hyperparameter_adds_an_axis_and_run_k_starts_alike_in_every_setting():
    swept = gpbe.train("CartPole-v1", "qrc", steps=16, runs=2, hidden=(5,), **gpbe.grid(step_size=[0.1, 0.2], beta=[1]))
    assert swept.returns.shape == (2, 2, 1)
    assert swept.weights.shape[:2] == (2, 2)
    assert swept.settings["step_size"].tolist() == [0.1, 0.2]
    np.testing.assert_array_equal(swept.weights[0], swept.weights[1])


def test_a_run_that_diverges_is_marked_and_does_not_disturb_the_others():
    common = {"steps": 1500, "runs": 2, "hidden": (5,), "optimizer": "sgd", "every": 500}
    calm = gpbe.train("CartPole-v1", "qrc", step_size=[0.01, 0.02], **common)
    wild = gpbe.train("CartPole-v1", "qrc", step_size=[0.01, 1e25], **common)
    assert (calm.diverged_at == -1).all()
    assert (wild.diverged_at[0] == -1).all()
    assert (wild.diverged_at[1] >= 31).all()  # not before the first update
    np.testing.assert_array_equal(wild.weights[0], calm.weights[0])


class Logged(gymnasium.Wrapper):
    """Keeps rewards and where episodes end, as seen from outside of the learning."""

    log: ClassVar[list[tuple[float, bool]]] = []

    def step(self, action):
        result = self.env.step(action)
        Logged.log.append((result[1], result[2] or result[3]))
        return result


def test_returns_are_those_of_the_episodes_that_the_recorded_steps_belong_to():
    Logged.log.clear()
    result = gpbe.train(lambda: Logged(gymnasium.make("CartPole-v1")), "qrc", steps=600, hidden=(5,), every=50)
    rewards, ends = map(np.array, zip(*Logged.log[:600], strict=True))
    episode = np.concatenate([[0], np.cumsum(ends)[:-1]])
    totals = np.array([rewards[episode == k].sum() for k in range(episode[-1] + 1)])
    if not ends[-1]:
        totals[-1] = totals[-2]  # the unfinished last episode repeats the one before
    np.testing.assert_array_equal(result.returns[0], totals[episode[49::50]])


def stop_after(calls):
    left = [calls]

    def advance(steps, recent):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    return advance


@pytest.mark.parametrize("env", ["MountainCar-v0", lambda: gymnasium.make("CartPole-v1")], ids=["compiled", "host"])
def test_stopped_and_continued_is_the_same_as_uninterrupted(env, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    file, common = tmp_path / "run.npz", {"runs": 2, "hidden": (5,), "every": 100}
    whole = gpbe.train(env, "qrc", steps=1000, **common)
    for calls in (4, 3):
        with pytest.raises(KeyboardInterrupt):
            gpbe.train(env, "qrc", steps=800, checkpoint=file, advance=stop_after(calls), **common)
    gpbe.train(env, "qrc", steps=800, checkpoint=file, **common)
    longer = gpbe.train(env, "qrc", steps=1000, checkpoint=file, **common)
    for field in ("weights", "returns", "diverged_at"):
        np.testing.assert_array_equal(getattr(longer, field), getattr(whole, field))
    with pytest.raises(gpbe.InputError, match="is of a training with seed 0, not 1"):
        gpbe.train(env, "qrc", steps=1000, checkpoint=file, seed=1, **common)


def test_many_lanes_go_in_groups_and_come_back_in_order():
    """Nine settings are two groups; each is what it is in a group of the same size elsewhere."""
    sizes = np.geomspace(1e-4, 1e-2, 9)
    nine = gpbe.train("CartPole-v1", "q-learning", steps=200, hidden=(5,), step_size=sizes)
    five = gpbe.train("CartPole-v1", "q-learning", steps=200, hidden=(5,), step_size=sizes[[0, 2, 4, 6, 8]])
    np.testing.assert_array_equal(nine.weights[::2], five.weights)


def test_an_agent_survives_saving(cartpole, tmp_path):
    agent = cartpole.agent(2)
    loaded = gpbe.load(agent.save(tmp_path / "agent.npz"))
    np.testing.assert_array_equal(loaded.weights, cartpole.weights[2])
    seen = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_array_equal(loaded.preferences(seen), agent.preferences(seen))
    assert [loaded.act(o) for o in seen] == agent.preferences(seen).argmax(axis=1).tolist()
    compiled, host = (loaded.evaluate(e, episodes=3) for e in (None, lambda: gymnasium.make("CartPole-v1")))
    assert (compiled.lengths == compiled.returns).all()  # Cart Pole pays 1 a step
    assert (host.lengths == host.returns).all()
    assert loaded.hyperparameters["beta"] == 1


def test_agents_of_all_kinds_can_be_saved(tmp_path):
    for algorithm in ("qrc-sep", "qrc-grad", "sbeed", "sbeed-q", "tdrc-pg"):
        agent = gpbe.train(probes.acted(), algorithm, steps=40, hidden=(5,)).agent()
        loaded = gpbe.load(agent.save(tmp_path / f"{algorithm}.npz"))
        np.testing.assert_array_equal(loaded.preferences([[1.0]]), agent.preferences([[1.0]]))
        assert loaded.evaluate(probes.acted(), episodes=4, sample=True).lengths.tolist() == [1] * 4


def test_a_body_of_ones_own_on_images(tmp_path):
    class Convolution(eqx.Module):
        layer: eqx.nn.Conv2d

        def __call__(self, image):
            return jax.nn.relu(self.layer(jnp.moveaxis(image, -1, 0))).ravel()

    def body(key):
        return Convolution(eqx.nn.Conv2d(4, 3, 5, key=key))

    agent = gpbe.train("Breakout-MinAtar", "qrc-grad", steps=100, body=body, every=50).agent()
    image = np.zeros((10, 10, 4))
    assert agent.preferences(image).shape == (3,)
    path = agent.save(tmp_path / "agent.npz")
    np.testing.assert_array_equal(gpbe.load(path, body=body).preferences(image), agent.preferences(image))
    with pytest.raises(gpbe.InputError, match="was trained with a body of its own"):
        gpbe.load(path)
    flat = gpbe.train("Breakout-MinAtar", "qrc", steps=100, hidden=(5,), every=50)
    assert flat.weights.shape == (1, 400 * 5 + 5 + 2 * 3 * 5 + 2 * 3)


def test_epsilon_goes_along_a_line():
    hypers = Hypers(*[0.0] * 9)._replace(epsilon=1.0, epsilon_final=0.2, epsilon_steps=4.0)
    got = epsilon_at(hypers, jnp.arange(7))
    np.testing.assert_allclose(got, [1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2], rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "CartPole-v9"}, "did you mean 'CartPole-v1'"),
        ({"env": "Pendulum-v1"}, "actions; gpbe learns the values of Discrete ones"),
        ({"algorithm": "qcr"}, "there is no control algorithm 'qcr'; did you mean qc or qrc"),
        ({"step_size": 0.0}, "step_size is 0; it should be above 0"),
        ({"step_size": -1.0}, "step_size is -1"),
        ({"batch": 5000}, "batch is 5000, but the buffer holds only 4000"),
        ({"steps": 750}, "steps is 750; it should be a multiple of every, which is 500"),
        ({"runs": 0}, "runs is 0; it should be 1 or more"),
        ({"optimizer": "adamw"}, "there is no optimizer 'adamw'; there are adam, rmsprop, sgd"),
        ({"eta": 0.5}, "qrc does not use 'eta'; it has step_size"),
        ({"width": 5, "algorithm": "sbeed"}, "sbeed has no 'width'"),
        ({"width": 0.0, "algorithm": "qrc-sep"}, "width is 0.0; it should be above 0"),
        ({"learning_rate": 0.1}, "qrc has no 'learning_rate'"),
        ({"hidden": (5, 0)}, "every layer should have 1 unit or more"),
        ({"step_size": [0.1, 0.2], "tau": [0.0, 0.1, 1.0]}, "need one length"),
    ],
)
def test_mistakes_get_one_line(arguments, message):
    arguments = {"env": "CartPole-v1", "algorithm": "qrc", "steps": 500} | arguments
    with pytest.raises(gpbe.InputError, match=message) as error:
        gpbe.train(arguments.pop("env"), arguments.pop("algorithm"), **arguments)
    assert "\n" not in str(error.value)


def test_files_that_are_no_agents_and_agents_for_other_environments(cartpole, tmp_path):
    wrong = tmp_path / "wrong.npz"
    wrong.write_text("not an agent")
    with pytest.raises(gpbe.InputError, match="is not an agent saved by gpbe"):
        gpbe.load(wrong)
    np.savez(wrong, weights=np.zeros(3))
    with pytest.raises(gpbe.InputError, match="is not an agent saved by gpbe"):
        gpbe.load(wrong)
    with pytest.raises(gpbe.InputError, match="there is no file"):
        gpbe.load(tmp_path / "absent.npz")
    agent = cartpole.agent(0)
    with pytest.raises(gpbe.InputError, match=r"MountainCar-v0 has observations \(2,\) and 3 actions; this agent"):
        agent.evaluate("MountainCar-v0")
    with pytest.raises(gpbe.InputError, match=r"the observation has shape \(2,\)"):
        agent.act([0.0, 0.0])
    with pytest.raises(gpbe.InputError, match="there is no run 3; there are 0 to 2"):
        cartpole.agent(3)


@pytest.mark.slow
def test_qrc_solves_mountain_car():
    result = gpbe.train("MountainCar-v0", "qrc", steps=100_000, runs=8, step_size=2.0**-10)
    assert result.finals.mean() > -250


@pytest.mark.slow
def test_qrc_solves_cart_pole():
    result = gpbe.train("CartPole-v1", "qrc", steps=100_000, runs=8, step_size=2.0**-10)
    assert result.finals.mean() > 195
