"""Declaring control experiments, and running them: the same chunks, the same bits, mistakes in one line."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import experiments, store
from gpbe.cli import main
from gpbe.experiments import control
from gpbe.experiments.sweep import Sweep, Swept, read, run_chunk

OWN = """
domains = ["CartPole-v1"]
runs = 3
steps = 200
every = 100

[options]
hidden = [5]

[algorithms.q-learning]
step_size = [0.001, 0.01, 0.1]

[algorithms.tdrc-pg]
"""


def test_the_papers_sweeps_are_as_large_as_the_paper_says():
    """Six step sizes, six values of tau; SBEED has twenty-four times as many settings as QRC, GQ four times."""
    counts = {s.algorithm: s.count for name in control.MEMBERS for s in control.sweep(name, "paper").algorithms}
    assert counts["qrc"] == counts["q-learning"] == counts["qc-ll"] == 36
    assert counts["sbeed"] == 24 * 36
    assert counts["gq"] == 4 * 36
    total = sum(control.sweep(name, "paper").work for name in control.MEMBERS)
    assert total == pytest.approx(6.5e10, rel=0.01)


def test_chunks_are_the_same_every_time_and_hold_every_lane_once():
    s = control.sweep("basis", "quick")
    first, again = list(s.chunks()), list(s.chunks())
    assert [c.id for c in first] == [c.id for c in again]
    assert len({c.id for c in first}) == len(first)
    lanes = [(c.payload["domain"], c.payload["algorithm"], *lane) for c in first for lane in c.payload["lanes"]]
    assert len(lanes) == len(set(lanes)) == s.settings * s.runs * len(s.domains)
    assert sum(c.cost for c in first) == s.work
    assert all(len({x.get("width") for x in c.payload["hyperparameters"]}) == 1 for c in first)


def test_a_lane_is_what_train_makes_of_its_setting(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    rows = pl.concat(run_chunk(c.payload) for c in read(file).chunks() if c.payload["algorithm"] == "q-learning")
    trained = gpbe.train(
        "CartPole-v1", "q-learning", steps=200, runs=3, every=100, hidden=(5,), step_size=[0.001, 0.01, 0.1]
    )
    assert rows["setting"].to_list() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    # Not to the last bit: the sweep's program also knows mellowmax.
    got = np.array(rows["returns"].to_list()).reshape(3, 3, 2)
    np.testing.assert_array_equal(got[0], trained.returns[0])
    assert rows["step_size"].to_list() == sorted([0.001, 0.01, 0.1] * 3)
    assert rows["tau"].null_count() == 9


def test_run_from_the_command_line_is_whole_and_the_same_as_in_this_process(tmp_path, capsys):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    command = [sys.executable, "-m", "gpbe", "run", str(file), "--out", str(tmp_path), "--json"]
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    (report,) = json.loads(done.stdout)
    assert (report["done"], report["failed"], report["steps_done"]) == (report["total"], 0, 4 * 3 * 200)
    main(["status", str(tmp_path), "--json"])
    (status,) = json.loads(capsys.readouterr().out)
    assert (status["done"], status["missing"], status["diverged"]) == (report["total"], 0, 0)
    table = store.scan(report["folder"]).collect()
    assert table.height == 12
    chunk = next(iter(read(file).chunks()))
    mine = run_chunk(chunk.payload)
    theirs = table.filter(algorithm=chunk.payload["algorithm"]).head(mine.height)
    assert mine["returns"].to_list() == theirs["returns"].to_list()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runs = 3", "runs = -1"), "runs is -1; it should be a whole number, 1 or more"),
        (("runs = 3", "run = 3"), "has no 'run'; did you mean 'runs'"),
        (("step_size = [0.001, 0.01, 0.1]", "step_size = []"), "the grid of q-learning has no values for step_size"),
        (("step_size = [", "stepsize = ["), "the grid of q-learning has no 'stepsize'; did you mean 'step_size'"),
        (("step_size = [", "beta = ["), "the grid of q-learning has no 'beta'"),
        (("[0.001, 0.01, 0.1]", "[0.001, -0.1]"), "step_size is -0.1; it should be above 0"),
        (("algorithms.q-learning", "algorithms.q-learner"), "did you mean q-learning"),
        (("steps = 200", "steps = 250"), "steps is 250; it should be a multiple of every"),
        (("hidden = [5]", "layers = [5]"), "options has no 'layers'"),
        (('["CartPole-v1"]', "[]"), "domains is empty"),
        (("CartPole-v1", "CartPole-v9"), "environment 'CartPole-v9' is in neither gymnax nor Gymnasium; did you mean"),
        (("runs = 3", "runs = 3\nname = '../up'"), "name is '../up'; it should be a text that can name a folder"),
        (("runs = 3", "runs = ["), "is not TOML"),
    ],
)
def test_wrong_declarations_get_one_line(change, message, tmp_path, capsys):
    file = tmp_path / "own.toml"
    file.write_text(OWN.replace(*change))
    with pytest.raises(SystemExit) as stop:
        main(["run", str(file), "--out", str(tmp_path)])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_unknown_experiments_and_places(capsys, tmp_path):
    for arguments, message in (
        (["run", "bakeof"], "did you mean bakeoff"),
        (["run", "bakeoff", "--on", "moon"], "--on moon is not a place to run"),
        (["status", str(tmp_path / "nothing")], "there is no such folder"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err


def test_a_declaration_in_python():
    s = Sweep("mine", ("CartPole-v1",), (Swept("qrc", {"step_size": (0.1, 0.2)}),), runs=2, steps=100, every=50)
    assert (s.settings, s.work, len(list(s.chunks()))) == (2, 400, 1)


def test_a_python_file_with_a_study_and_its_runner(tmp_path, run):
    file = Path(__file__).parents[2] / "examples" / "divergence.py"
    mine = tmp_path / "divergence.py"
    mine.write_text(file.read_text().replace("250", "5"))
    (report,) = run("run", str(mine), "--out", str(tmp_path), "--json")
    assert (report["experiment"], report["unit"], report["steps_done"]) == ("divergence", "problems", 80)
    table = store.scan(report["folder"]).collect()
    assert table.height == 80
    assert set(table["emphatic"]) == {"converges"}  # as it always does
    direct = import_module("divergence").verdicts(8, 3, 5)  # the last chunk, in this process
    assert table.tail(5).equals(direct)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "makes no experiment; it should have one with a name"),
        ("x = 1\ny = 1 / 0\n", ", line 2: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", ", line 1: SystemExit: 3"),
        ("x = (\n", ", line 1: SyntaxError: '(' was never closed"),
        ("from gpbe import experiments\na = experiments.find('kolter', 'tiny')", ", line 2: there is no scale 'tiny'"),
        (
            "from gpbe import experiments\na, b = (experiments.find('kolter', s) for s in ('smoke', 'quick'))",
            "has 2 experiments called 'kolter'; give each a name of its own",
        ),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_wrong_python_files_get_one_line(text, message, relative, tmp_path, monkeypatch, refuses):
    file = tmp_path / "wrong_file.py"
    file.write_text(text)
    monkeypatch.chdir(tmp_path)
    refuses(lambda: experiments.read(file.name if relative else file), re.escape(message))


@pytest.mark.parametrize("name", ["random", "gpbe", "sys"])
def test_a_python_file_does_not_take_the_name_of_another_module(name, tmp_path, refuses):
    file = tmp_path / f"{name}.py"
    refuses(lambda: experiments.read(file), "there is no file")
    file.write_text("")
    before = sys.modules[name]
    refuses(lambda: experiments.read(file), f"there is another module called '{name}'; give the file another name")
    assert sys.modules[name] is before
