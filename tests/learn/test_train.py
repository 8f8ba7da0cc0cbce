"""`gpbe.train` and what it leaves: known values, same bits, stopping and going on, saving, and mistakes."""

import gc
import sys
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS, ControlAlgorithm, Hypers
from gpbe.algorithms.control.action_values import ActionValues
from gpbe.files import arrays as arrays_file
from gpbe.learn import grouping
from gpbe.learn.control import checkpoint
from gpbe.learn.control.chances import epsilon_at
from gpbe.learn.control.learning import STREAMING
from gpbe.learn.control.reading import Asked
from gpbe.learn.train import read_plan
from gpbe.nets import flat
from gpbe.summary import standard_error
from helpers.seeds import seed

ON_HOST = {"hidden": (5,), "every": 50}
ALIKE = {"runs": 4, "hidden": (5,), "every": 100}
"""Four lanes of one network: compiling takes longer than learning, and all that has these shapes shares programs."""
STILL = 1e-30
"""A step size that changes no weight."""


@pytest.fixture(scope="module")
def cartpole():
    return gpbe.train("CartPole-v1", "qrc", steps=400, **ALIKE)


def test_equal_seeds_give_equal_bits_and_runs_differ_from_the_first_weight_on(cartpole):
    again = gpbe.train("CartPole-v1", "qrc", steps=400, **ALIKE)
    np.testing.assert_array_equal(again.weights, cartpole.weights)
    np.testing.assert_array_equal(again.returns, cartpole.returns)
    fresh = [gpbe.train("CartPole-v1", "qrc", steps=100, step_size=STILL, **ALIKE, seed=s).weights for s in (0, 1)]
    first = np.concatenate(fresh)
    q_weights = first[:, np.abs(first).max(axis=0) > 1e-6]  # h is 0 at the start
    for i in range(8):
        for j in range(i):
            assert (q_weights[i] != q_weights[j]).all()


def test_a_swept_hyperparameter_adds_an_axis_and_run_k_starts_alike_in_every_setting():
    grid = gpbe.grid(step_size=[STILL, 2 * STILL], beta=[1])
    swept = gpbe.train("CartPole-v1", "qrc", steps=100, **ALIKE | {"runs": 2}, **grid)
    assert swept.returns.shape == (2, 2, 1)
    assert swept.weights.shape[:2] == (2, 2)
    assert swept.settings["step_size"].tolist() == [STILL, 2 * STILL]
    np.testing.assert_allclose(swept.weights[0], swept.weights[1], atol=1e-20)


def test_a_run_that_diverges_is_marked_and_does_not_disturb_the_others():
    common = ALIKE | {"steps": 400, "runs": 2}
    calm = gpbe.train("CartPole-v1", "qrc", step_size=[0.01, 0.02], **common)
    wild = gpbe.train("CartPole-v1", "qrc", step_size=[0.01, 1e38], **common)
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
    result = gpbe.train(lambda: Logged(gymnasium.make("CartPole-v1")), "qrc", steps=600, **ON_HOST)
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


@pytest.mark.parametrize(
    ("env", "algorithm", "common"),
    [
        ("CartPole-v1", "qrc", ALIKE),
        (lambda: gymnasium.make("CartPole-v1"), "qrc", ON_HOST),
        pytest.param(lambda: gymnasium.make("CartPole-v1"), "qrc-lambda", ON_HOST | STREAMING, marks=pytest.mark.slow),
    ],
    ids=["compiled", "host", "streaming"],
)
def test_stopped_and_continued_is_the_same_as_uninterrupted(env, algorithm, common, tmp_path, monkeypatch):
    """Traces and running means are kept along with weights."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    file, every = tmp_path / "run.npz", common["every"]
    whole = gpbe.train(env, algorithm, steps=10 * every, **common)
    for calls in (4, 3):
        with pytest.raises(KeyboardInterrupt):
            gpbe.train(env, algorithm, steps=8 * every, checkpoint=file, advance=stop_after(calls), **common)
    gpbe.train(env, algorithm, steps=8 * every, checkpoint=file, **common)
    longer = gpbe.train(env, algorithm, steps=10 * every, checkpoint=file, **common)
    for field in ("weights", "returns", "diverged_at"):
        np.testing.assert_array_equal(getattr(longer, field), getattr(whole, field))
    with pytest.raises(gpbe.InputError, match="is of a training with seed 0, not 1"):
        gpbe.train(env, algorithm, steps=10 * every, checkpoint=file, seed=1, **common)


def test_many_lanes_go_in_groups_and_come_back_in_order(monkeypatch):
    """Seven settings are two groups of four; each is what it is in a group of the same size elsewhere."""
    monkeypatch.setattr(grouping, "LANES", 4)
    sizes, common = np.geomspace(1e-4, 1e-2, 7), ALIKE | {"steps": 200, "runs": 1}
    seven = gpbe.train("CartPole-v1", "qrc", step_size=sizes, **common)
    four = gpbe.train("CartPole-v1", "qrc", step_size=sizes[::2], **common)
    np.testing.assert_array_equal(seven.weights[::2], four.weights)
    assert len(np.unique(seven.weights[:, 0, 0])) == 7


def test_an_agent_survives_saving(cartpole, tmp_path):
    agent = cartpole.agent(2)
    loaded = gpbe.load(agent.save(tmp_path / "agent.npz"))
    np.testing.assert_array_equal(loaded.weights, cartpole.weights[2])
    seen = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_array_equal(loaded.preferences(seen), agent.preferences(seen))
    assert [loaded.act(o) for o in seen] == agent.preferences(seen).argmax(axis=1).tolist()
    assert loaded.act(seen).tolist() == [loaded.act(o) for o in seen]  # a batch in, actions out
    compiled, host = (loaded.evaluate(e, episodes=3) for e in (None, lambda: gymnasium.make("CartPole-v1")))
    assert (compiled.lengths == compiled.returns).all()  # Cart Pole pays 1 a step
    assert (host.lengths == host.returns).all()
    assert loaded.hyperparameters["beta"] == 1


@dataclass(frozen=True)
class Hysteretic(ActionValues):
    """Q-learning that believes bad news less than good news."""

    form: Literal["none"] = "none"
    trust: float = 0.5

    def directions(self, out, t, hypers, greedy):
        d = super().directions(out, t, hypers, greedy)
        return d._replace(q=jnp.where(d.q.sum() < 0, self.trust, 1.0) * d.q)


@pytest.mark.slow
def test_an_algorithm_of_ones_own(tmp_path):
    common = ALIKE | {"steps": 300}
    mine = ControlAlgorithm("hysteretic", Hysteretic)
    result = gpbe.train("CartPole-v1", mine, **common)
    assert result.algorithm == "hysteretic"
    trusting, plain = (
        gpbe.train("CartPole-v1", a, **common, **c) for a, c in ((mine, {"trust": 1.0}), ("q-learning", {}))
    )
    np.testing.assert_array_equal(trusting.weights, plain.weights)
    assert (result.weights != plain.weights).any()
    path = trusting.agent().save(tmp_path / "mine.npz")
    loaded, seen = gpbe.load(path, algorithm=mine), np.ones(4)
    assert dict(loaded.choices) == {"trust": 1.0}
    np.testing.assert_array_equal(loaded.preferences(seen), trusting.agent().preferences(seen))
    with pytest.raises(gpbe.InputError, match="was trained with the user's own algorithm; give it"):
        gpbe.load(path)
    with pytest.raises(gpbe.InputError, match="there is no control algorithm 'hysteretic'; it should be one of other"):
        gpbe.load(path, algorithm=ControlAlgorithm("other", Hysteretic))
    with pytest.raises(gpbe.InputError, match="hysteretic has no 'mistrust'"):
        gpbe.train("CartPole-v1", mine, mistrust=1.0)


@pytest.mark.slow
def test_a_record_that_differs_from_the_tables_is_ones_own(cartpole, tmp_path):
    """Saved under the name "qrc", it would otherwise come back as another agent."""
    mine = replace(ALGORITHMS["qrc"], choices={"form": "saddlepoint"})
    agent = gpbe.train("CartPole-v1", mine, steps=100, **ALIKE).agent()
    with pytest.raises(gpbe.InputError, match="was trained with the user's own algorithm"):
        gpbe.load(agent.save(tmp_path / "agent.npz"))
    with pytest.raises(gpbe.InputError, match="was not trained with a user's own algorithm; leave it out"):
        gpbe.load(cartpole.agent(0).save(tmp_path / "agent.npz"), algorithm=mine)


def test_no_file_makes_gpbe_import_anything(cartpole, tmp_path):
    """A name in a file is looked up in the table, though a reference to a module would be a name elsewhere."""
    agent = replace(cartpole.agent(0), record=replace(ALGORITHMS["qrc"], name="antigravity:fly"))
    path = agent.save(tmp_path / "agent.npz")
    header, arrays = arrays_file.read(path, "gpbe-agent", 2, "an agent")
    arrays_file.write(path, "gpbe-agent", 2, header | {"own_algorithm": False}, arrays)
    with pytest.raises(gpbe.InputError, match="there is no control algorithm 'antigravity:fly'"):
        gpbe.load(path)
    assert "antigravity" not in sys.modules


@pytest.mark.slow
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
    with pytest.raises(gpbe.InputError, match="was trained with the user's own body"):
        gpbe.load(path)


def test_layers_see_an_image_flat():
    plan = read_plan("Breakout-MinAtar", "qrc", 500, 1, 0, Asked(hidden=(5,)), {})
    agent, spec = plan.options.agent, plan.options.spec
    weights = jax.eval_shape(lambda key: flat(agent.start(spec, key)), jax.random.key(0))
    assert weights.shape == (400 * 5 + 5 + 2 * 3 * 5 + 2 * 3,)


def test_images_are_seen_through_sixteen_filters_and_128_units_by_default():
    plan = read_plan("Breakout-MinAtar", "q-learning", 500, 1, 0, Asked(), {})
    agent, spec = plan.options.agent, plan.options.spec
    weights = jax.eval_shape(lambda key: flat(agent.start(spec, key)), jax.random.key(0))
    assert weights.shape == (9 * 4 * 16 + 16 + 8 * 8 * 16 * 128 + 128 + 128 * 3 + 3,)


def test_one_number_is_one_layer():
    plan = read_plan("CartPole-v1", "qrc", 500, 1, 0, Asked(hidden=64), {})
    assert plan.options.spec.hidden == (64,)


def test_epsilon_goes_along_a_line():
    hypers = Hypers(*[0.0] * len(Hypers._fields))._replace(epsilon=1.0, epsilon_final=0.2, epsilon_steps=4.0)
    got = epsilon_at(hypers, jnp.arange(7))
    np.testing.assert_allclose(got, [1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2], rtol=1e-6)


def many_actions(count: int) -> gymnasium.Env:
    env = gymnasium.make("CartPole-v1")
    env.action_space = gymnasium.spaces.Discrete(count)
    return env


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "CartPole-v9"}, "did you mean 'CartPole-v1'"),
        ({"env": "Pendulum-v1"}, "actions; gpbe learns the values of Discrete ones"),
        ({"algorithm": "qcr"}, "there is no control algorithm 'qcr'; did you mean 'qc' or 'qrc'"),
        ({"step_size": 0.0}, "step_size is 0; it should be above 0"),
        ({"step_size": -1.0}, "step_size is -1"),
        ({"batch": 5000}, "batch is 5000, but the buffer holds only 4000"),
        ({"steps": 750}, "every is 500; it should divide the 750 steps"),
        ({"runs": 0}, "runs is 0; it should be a whole number, 1 or more"),
        ({"optimizer": "adamw"}, "there is no optimizer 'adamw'; did you mean 'adam'"),
        ({"activation": "tanh"}, "there is no activation 'tanh'; it should be one of relu"),
        ({"sparsity": 1.5}, r"sparsity is 1.5; it should be in \[0, 1\]"),
        ({"filters": 16}, r"filters are for images; CartPole-v1 shows arrays of shape \(4,\)"),
        ({"replay": False}, "this algorithm has no traces to learn by without replay"),
        ({"algorithm": "qrc-lambda", "target_every": 9}, "target_every is for learning from a buffer"),
        ({"algorithm": "q-lambda", "kappa": 2.0}, "q-lambda does not use 'kappa'"),
        ({"eta": 0.5}, "qrc does not use 'eta'; it has step_size"),
        ({"width": 5, "algorithm": "sbeed"}, "sbeed has no 'width'"),
        ({"width": 0.0, "algorithm": "qrc-sep"}, "width is 0; it should be above 0"),
        ({"width": [0.5, 1.0], "algorithm": "qrc-sep"}, "width shapes a network, .*; give one number"),
        ({"learning_rate": 0.1}, "qrc has no 'learning_rate'"),
        ({"algorithm": "nowhere:MINE"}, "there is no nowhere:MINE"),
        ({"hidden": (5, 0)}, r"hidden\[1\] is 0; it should be a whole number from 1"),
        ({"step_size": [0.1, 0.2], "tau": [0.0, 0.1, 1.0]}, "need one length"),
        ({"body": eqx.nn.Lambda(jnp.sum)}, "body is a Lambda; it should be a function of a random key"),
        ({"body": lambda: 3}, r"body does not take an observation of shape \(4,\): .* takes 0 positional arguments"),
        ({"body": lambda key: eqx.nn.Linear(5, 3, key=key)}, r"body does not take an observation of shape \(4,\)"),
        ({"body": lambda key: jnp.sum}, r"body makes \(\) of an observation; it should be a vector of features"),
        ({"env": np.zeros(3)}, "a 'ndarray' is no environment"),
        ({"step_size": 1e300}, r"step_size is 1e\+300; numbers of 32 bits, .*, go from 1\.4e-45 to 3\.4e\+38"),
        ({"step_size": [0.1, 1e-60]}, "step_size is 1e-60; numbers of 32 bits"),
        ({"optimizer": lambda: 3}, "optimizer makes a int; it should make an optax.GradientTransformation"),
        ({"env": lambda: many_actions(10**9)}, "the layers have 64,000,004,.* weights; there should be 100,000,000 at"),
    ],
)
def test_mistakes_get_one_line(arguments, message):
    arguments = {"env": "CartPole-v1", "algorithm": "qrc", "steps": 500} | arguments
    with pytest.raises(gpbe.InputError, match=message) as error:
        gpbe.train(arguments.pop("env"), arguments.pop("algorithm"), **arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 10.5}, "steps is 10.5; it should be a whole number, 1 or more"),
        ({"steps": "10"}, "steps is '10'; it should be a whole number, 1 or more"),
        ({"runs": "2"}, "runs is '2'; it should be a whole number, 1 or more"),
        ({"seed": "x"}, "seed is 'x'; it should be a whole number from 0 to"),
        ({"buffer": 100.5}, "buffer is 100.5; it should be a whole number, 1 or more"),
        ({"hidden": "64"}, "hidden is '64'; it should be a list of sizes"),
        ({"body": 3}, "body is a int; it should be a function of a random key that makes an Equinox module"),
        ({"runs": None}, "runs is None; leave it out for its default"),
        ({"batch": None}, "batch is None; leave it out for its default"),
        ({"activation": None}, "activation is None; leave it out for its default"),
        ({"advance": None}, "advance is of type NoneType; it should be a function, or leave it out"),
        ({"checkpoint": 5}, "checkpoint is of type int; it should be the name of a file"),
    ],
)
def test_values_of_wrong_types_get_one_line(arguments, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    test_mistakes_get_one_line(arguments, message)


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
    with pytest.raises(gpbe.InputError, match="there is no run 4; there are 0 to 3"):
        cartpole.agent(4)
    with pytest.raises(gpbe.InputError, match=r"the observation should have numbers that are finite in 32 bits"):
        agent.act([0.0, 0.0, np.nan, 0.0])
    with pytest.raises(gpbe.InputError, match=r"the observation is not an array of numbers of shape \(4,\)"):
        agent.act(["left", "right", "up", "down"])
    with pytest.raises(gpbe.InputError, match="episodes is 1,000,000,000,000; take 1,000,000 at most"):
        agent.evaluate(episodes=10**12)


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize(("env", "poor"), [("MountainCar-v0", -1000.0), ("CartPole-v1", 30.0)])
def test_qrc_learns_to_act(env, poor):
    """Cars that never arrive are cut off after 1000 steps; a pole that is balanced at random falls within 30."""
    finals = gpbe.train(env, "qrc", steps=100_000, runs=8, step_size=2.0**-10, seed=seed()).finals
    assert finals.mean() - 4 * standard_error(finals) > poor
    assert np.median(finals) > {"MountainCar-v0": -250, "CartPole-v1": 150}[env]


@pytest.mark.slow
def test_programs_of_networks_long_gone_are_let_go():
    """Memory has the programs of the last eight of twelve networks; the others stay on disk."""
    for units in range(21, 33):
        gpbe.train("CartPole-v1", "qrc", steps=20, every=20, hidden=units)
    gc.collect()
    names = [program.hlo_modules()[0].name for program in jax.devices()[0].client.live_executables()]
    assert 1 <= names.count("jit_stretch") <= 8
