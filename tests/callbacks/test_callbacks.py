"""Callbacks of `gpbe.train`: what they are told is true, what they write can be read, and learning is left alone."""

import struct
from pathlib import Path
from typing import ClassVar

import gymnasium
import jax.numpy as jnp
import jaxtyping
import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe.algorithms.control import ControlAlgorithm, Hypers
from gpbe.algorithms.control.action_values import ActionValues
from gpbe.callbacks import CSV, Evaluate, Stop, Stretch, TensorBoard
from gpbe.callbacks.tensorboard import crc32c, masked
from gpbe.learn import grouping
from gpbe.learn.control.measuring import measure
from gpbe.learn.control.reading import Asked
from gpbe.learn.control.state import Run, shape_of
from gpbe.learn.train import read_plan

SMALL = {"every": 100, "hidden": (4,), "runs": 2}
"""The shapes that the examples have, too: their programs are compiled once."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """One training with every callback, and the same without."""
    folder = tmp_path_factory.mktemp("watched")
    greedy = Evaluate(every=200, episodes=3, seed=5)
    told = []
    callbacks = [greedy, CSV(folder / "log.csv"), TensorBoard(folder / "board"), told.append]
    learned = gpbe.train("CartPole-v1", "qrc", steps=400, callbacks=callbacks, measure=True, **SMALL)
    return learned, gpbe.train("CartPole-v1", "qrc", steps=400, **SMALL), greedy, told, folder


def test_what_is_learned_is_the_same_to_the_last_bit(watched):
    learned, alone, *_ = watched
    for name in ("weights", "returns", "diverged_at", "steps"):
        np.testing.assert_array_equal(getattr(learned, name), getattr(alone, name))


ON_HOST = {"steps": 150, "every": 50, "hidden": (4,), "buffer": 100, "gamma": 0.9, "step_size": 0.01}


@pytest.mark.slow
def test_an_instance_that_is_learned_in_is_not_disturbed_by_episodes_elsewhere():
    """Its episodes would be broken off if it were reset in their middle."""
    alone = gpbe.train(gymnasium.make("CartPole-v1"), "qrc", **ON_HOST)
    greedy = Evaluate(every=50, episodes=2)
    seen = gpbe.train(gymnasium.make("CartPole-v1"), "qrc", callbacks=greedy, **ON_HOST)
    np.testing.assert_array_equal(seen.weights, alone.weights)
    np.testing.assert_array_equal(seen.returns, alone.returns)
    assert len(greedy.rows) == 3


def test_the_last_evaluation_is_that_of_the_agents_that_are_left(watched):
    learned, _, greedy, *_ = watched
    assert [row["steps"] for row in greedy.rows] == [200, 200, 400, 400]
    for row in greedy.rows[2:]:
        again = learned.agent(row["run"]).evaluate(episodes=3, seed=5)
        assert (row["mean"], row["standard_error"]) == (again.mean, again.standard_error)


def test_a_stretch_tells_the_return_of_the_last_episode_and_has_no_agents_later(watched):
    learned, _, _, told, _ = watched
    assert [stretch.steps for stretch in told] == [100, 200, 300, 400]
    np.testing.assert_array_equal(told[-1].values["return"], learned.returns[:, -1])  # nothing ends after the end
    with pytest.raises(gpbe.InputError, match="ask for its agents while the callback runs"):
        told[0].agent()


def test_the_table_is_long_and_has_all_that_was_told(watched):
    *_, told, folder = watched
    rows = pl.read_csv(folder / "log.csv")
    assert rows.filter(name="evaluation").height == 4
    for stretch in told:
        for name in ("delta", "h", "loss"):
            found = rows.filter(name=name, steps=stretch.steps).sort("run")["value"].to_numpy()
            np.testing.assert_array_equal(found, stretch.values[name])


def records(path: Path):
    """Records of an event file, by the format's definition."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8) == (masked(data[at : at + 8]),)
        body = data[at + 12 : at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size) == (masked(body),)
        yield body
        at += 16 + size


def test_event_files_are_what_tensorboard_reads(watched):
    """A published check value of the checksum; the records by hand, and by TensorBoard itself where it is installed."""
    *_, told, folder = watched
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, section B.4
    files = sorted((folder / "board").rglob("events*"))
    assert [path.parent.name for path in files] == ["run 0", "run 1"]
    first, *rest = records(files[1])
    assert b"brain.Event:2" in first
    assert sum(b"delta" in record for record in rest) == 4
    values = [struct.unpack("<f", r[-4:])[0] for r in rest if b"\x05delta" in r]
    np.testing.assert_allclose(values, [stretch.values["delta"][1] for stretch in told], rtol=1e-6)
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(files[1])).Reload().Scalars("delta")
    assert [(e.step, e.value) for e in events] == list(zip([100, 200, 300, 400], values, strict=True))


class Logged(gymnasium.Wrapper):
    """Keeps transitions, as seen from outside of the learning."""

    log: ClassVar[list[tuple]] = []

    def reset(self, **options):
        self.at, info = self.env.reset(**options)
        return self.at, info

    def step(self, action):
        result = self.env.step(action)
        Logged.log.append((self.at, action, result[1], result[0], result[2]))
        self.at = result[0]
        return result


@pytest.mark.slow
def test_norms_are_those_of_the_buffer_by_hand():
    """A buffer of 100 is measured whole; action values are asked from the agent, and delta worked out from them."""
    Logged.log.clear()
    found = {}

    def look(stretch):
        if stretch.steps == 150:
            s, a, r, s_next, ended = (np.array(x) for x in zip(*Logged.log[-100:], strict=True))
            agent, row = stretch.agent(), np.arange(100)
            q, q_next = (agent.preferences(x).astype(float) for x in (s, s_next))
            found["delta"] = r + 0.9 * ~ended * q_next.max(1) - q[row, a]
            found["h"] = np.array(agent.networks.q(jnp.asarray(s.T))).T[row, 2 + a]  # the last two outputs
            found["told"] = stretch.values

    gpbe.train(lambda: Logged(gymnasium.make("CartPole-v1")), "qrc", callbacks=look, measure=True, **ON_HOST)
    delta, h, told = found["delta"], found["h"], found["told"]
    assert np.abs(h).max() > 0.01
    np.testing.assert_allclose(told["delta"], np.sqrt((delta**2).mean()), rtol=1e-4)
    np.testing.assert_allclose(told["h"], np.sqrt((h**2).mean()), rtol=1e-4)
    np.testing.assert_allclose(told["loss"], (2 * delta * h - h**2).mean(), rtol=1e-3)


def test_without_h_the_loss_is_the_squared_td_error():
    """Weights of 0 say that everything is worth 0, so a TD error is a reward: of half of the rows 1, of others 3."""
    options = read_plan("CartPole-v1", "q-learning", 100, 1, 0, Asked(hidden=(3,), every=100, buffer=40), {}).options
    size = shape_of(options.agent, options.spec).size
    buffer = jnp.zeros((1, 40, 12)).at[0, :, 9].set(jnp.where(jnp.arange(40) % 2, 1.0, 3.0))
    hypers = Hypers(*(jnp.full(1, 0.5) for _ in Hypers._fields))
    run = Run(None, jnp.zeros((1, size)), None, None, buffer, *(None,) * 2)
    measured = measure(options, hypers, 40, run)
    np.testing.assert_allclose(np.stack(measured)[:, 0], [np.sqrt(5), 0, 5], rtol=1e-6)


def test_stopping_leaves_shorter_curves_and_their_own_finals(monkeypatch):
    """Two groups of two runs: the first stops after 200 of 400 steps, the second goes on."""
    monkeypatch.setattr(grouping, "LANES", 2)
    four = SMALL | {"runs": 4}
    whole = gpbe.train("CartPole-v1", "qrc", steps=400, **four)
    stop = gpbe.train("CartPole-v1", "qrc", steps=400, callbacks=lambda s: s.run[0] == 0 and s.steps == 200, **four)
    assert stop.points.tolist() == [2, 2, 4, 4]
    np.testing.assert_array_equal(stop.returns[2:], whole.returns[2:])
    assert np.isnan(stop.returns[:2, 2:]).all()
    assert np.isfinite(stop.finals).all()
    short = gpbe.train("CartPole-v1", "qrc", steps=200, **SMALL)
    np.testing.assert_array_equal(stop.weights[:2], short.weights)
    np.testing.assert_array_equal(stop.finals[:2], short.finals)


def test_a_stopped_training_goes_on_from_its_checkpoint(tmp_path):
    file, stop = tmp_path / "run.npz", Stop(at=0.0, over=1)
    whole = gpbe.train("CartPole-v1", "qrc", steps=400, **SMALL)
    assert gpbe.train("CartPole-v1", "qrc", steps=400, callbacks=stop, checkpoint=file, **SMALL).steps.tolist() == [100]
    later = gpbe.train("CartPole-v1", "qrc", steps=400, checkpoint=file, **SMALL)
    np.testing.assert_array_equal(later.weights, whole.weights)


def told(*returns, diverged=(-1, -1)):
    """A stretch of two runs in which nothing but returns is known."""
    values = {"return": np.array(returns, float)}
    return Stretch("env", "qrc", 100, 900, np.zeros(2, int), np.arange(2), {}, np.array(diverged), values, None)


def test_when_to_stop():
    enough = Stop(at=10.0, over=2)
    assert [enough(told(*x)) for x in ((9, 30), (10, 30), (10, 30))] == [False, False, True]
    tired = Stop(patience=2, over=1)
    assert [tired(told(x, x)) for x in (1, 2, 2, 1)] == [False, False, False, True]
    assert Stop(at=10.0)(told(1, 1, diverged=(40, 50)))
    assert not Stop(at=10.0)(told(1, 1, diverged=(40, -1)))
    assert not Stop(at=10.0, over=1)(told(np.nan, 30))


class Silent:
    """An agent that does not tell its errors."""

    def __init__(self):
        self._own = ActionValues("none")

    def __getattr__(self, name):
        if name == "errors":
            raise AttributeError(name)
        return getattr(self._own, name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": True, "algorithm": "qrc-lambda"}, "measure needs stored transitions, which traces have none of"),
        ({"measure": True, "algorithm": ControlAlgorithm("silent", Silent)}, "measure needs an agent that tells its"),
    ],
)
def test_mistakes_get_one_line(options, message, refuses):
    options = {"algorithm": "qrc", "steps": 100, **SMALL} | options
    refuses(lambda: gpbe.train("CartPole-v1", options.pop("algorithm"), **options), message)


def test_more_mistakes(refuses, tmp_path, monkeypatch):
    refuses(Stop, "there is nothing to stop at")
    refuses(lambda: Evaluate(episodes=0), "episodes is 0; it should be a whole number, 1 or more")
    refuses(lambda: CSV(tmp_path / "absent" / "log.csv"), "there is no folder")
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    refuses(lambda: gpbe.train("CartPole-v1", "qrc", callbacks=3), "callbacks is 3; it should be a function of a Str")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stop(at=np.nan), "at is nan; it should be a number: the mean return to stop at"),
        (lambda: Stop(at="high"), "at is 'high'; it should be a number"),
        (lambda: Stop(at=1.0, on=5), "on is 5; it should be a name, such as 'return' or 'evaluation'"),
        (lambda: Evaluate(every=None), "every is None; leave it out for its default"),
    ],
)
def test_callbacks_that_cannot_be_made(make, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    with pytest.raises(gpbe.InputError, match=message):
        make()
