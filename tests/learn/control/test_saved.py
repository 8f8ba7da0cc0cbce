"""Agents and checkpoints in files: what does not fit is refused in one line, and nothing is imported or made of it."""

import json
import sys

import numpy as np
import pytest

import gpbe
from gpbe.files import arrays as arrays_file

TRAINING = {"steps": 200, "every": 100, "runs": 2, "hidden": (5, 3), "batch": 4, "buffer": 50}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    result = gpbe.train("CartPole-v1", "qrc", checkpoint=folder / "checkpoint.npz", **TRAINING)
    result.agent(1).save(folder / "agent.npz")
    return folder, result


def edited(folder, target, change, kind="agent"):
    """An agent's file with another header, whose checksum fits."""
    header, arrays = arrays_file.read(folder / f"{kind}.npz", f"gpbe-{kind}", 2, "a file")
    header, arrays = change(header, dict(arrays))
    arrays_file.write(target, f"gpbe-{kind}", 2, header, arrays)
    return target


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden": [10**6, 10**6]}, "networks of that size have more"),
        ({"hidden": [5, 4]}, r"there are \d+ weights; its networks have \d+"),
        ({"hidden": [-3]}, r"'hidden' is \[-3\]; it should be a list of sizes"),
        ({"observation": []}, "'observation' is .*a list of sizes"),
        ({"observation": [10**9, 10**9]}, "networks of that size have more"),
        ({"actions": 10**9}, "networks of that size have more"),
        ({"actions": True}, "'actions' is True; it should be a size"),
        ({"choices": {"nothing": 1}}, "qrc has no 'nothing'"),
        ({"hyperparameters": {"step_size": "1"}}, "should be a table of numbers"),
        ({"env": ["x"]}, "'env' is .*; it should be a name"),
        ({"extra": 1}, "the entry 'extra' is unknown"),
    ],
)
def test_a_header_is_checked_before_networks_are_made(change, message, saved, tmp_path, refuses):
    path = edited(saved[0], tmp_path / "x.npz", lambda header, arrays: (header | change, arrays))
    refuses(lambda: gpbe.load(path), message)


def test_evaluating_an_agent_imports_nothing_that_its_file_names(saved, tmp_path, refuses):
    path = edited(saved[0], tmp_path / "x.npz", lambda header, arrays: (header | {"env": "antigravity:X-v0"}, arrays))
    agent = gpbe.load(path)
    assert agent.act([0.0, 0.1, 0.0, 0.1]) in (0, 1)
    refuses(lambda: agent.act("left"), "the observation is not an array of numbers of shape")
    refuses(lambda: agent.evaluate(episodes=1), "is not imported because a file names it")
    assert "antigravity" not in sys.modules
    assert agent.evaluate("CartPole-v1", episodes=1).returns[0] > 0  # named by the caller


def test_an_agent_of_the_first_version_is_still_read(saved, tmp_path):
    header, arrays = arrays_file.read(saved[0] / "agent.npz", "gpbe-agent", 2, "an agent")
    text = json.dumps(header | {"version": 1}).encode()
    np.savez(tmp_path / "old.npz", header=np.frombuffer(text, np.uint8), **arrays)
    np.testing.assert_array_equal(gpbe.load(tmp_path / "old.npz").weights, saved[1].agent(1).weights)


def test_what_was_edited_without_its_checksum_is_refused(saved, tmp_path, refuses):
    with np.load(saved[0] / "checkpoint.npz") as file:
        whole = dict(file)
    buffer = max((name for name in whole if "leaf" in name), key=lambda name: whole[name].size)
    for change in (
        {buffer: whole[buffer][:, :-1]},
        {buffer: whole[buffer].astype(np.float64)},
        {buffer: whole[buffer] + 1},
        {"0/extra": np.zeros(3)},
    ):
        np.savez(tmp_path / "x.npz", **{**whole, **change})
        refuses(
            lambda: gpbe.train("CartPole-v1", "qrc", checkpoint=tmp_path / "x.npz", **TRAINING),
            "its checksum does not fit its content",
        )


def test_a_checkpoint_of_another_shape_is_refused_though_its_checksum_fits(saved, tmp_path, refuses):
    def cut(header, arrays):
        buffer = max(arrays, key=lambda name: arrays[name].size)
        return header, arrays | {buffer: arrays[buffer][:, :-1]}

    def lost(header, arrays):
        return header, {k: v for k, v in arrays.items() if not k.endswith("leaf0")}

    def strange(header, arrays):
        return header | {"done": {"0": -1}}, arrays

    for change, message in ((cut, "has 'leaf"), (lost, "has other parts"), (strange, "does not say how far")):
        path = edited(saved[0], tmp_path / "x.npz", change, "checkpoint")
        refuses(lambda path=path: gpbe.train("CartPole-v1", "qrc", checkpoint=path, **TRAINING), message)


def test_seeds_that_jax_would_take_for_others_are_refused(refuses):
    for seed in (2**32, 2**70, -1):
        refuses(lambda seed=seed: gpbe.train("CartPole-v1", seed=seed, steps=10), "seed is .*from 0 to 4294967295")
