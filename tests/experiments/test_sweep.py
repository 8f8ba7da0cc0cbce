"""Declaring control experiments, and running them: the same chunks, the same bits, mistakes in one line."""

import json
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
from gpbe.errors import InputError
from gpbe.experiments import control
from gpbe.experiments.sweep import Sweep, Swept, run_chunk
from gpbe.experiments.sweep_file import read
from gpbe.learn.control import lanes
from gpbe.learn.control.lanes import Learned

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
FOUR = OWN.replace("runs = 3", "runs = 4").replace("[0.001, 0.01, 0.1]", "[0.01]")
"""Four lanes each: compiling takes longer than learning, and the tests of `gpbe.train` have made most programs."""


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


@pytest.mark.slow
def test_a_lane_is_what_train_makes_of_its_setting(tmp_path):
    """To the last bit where both know hard and soft maxima, as a sweep's program always does."""
    file, grid = tmp_path / "own.toml", {"step_size": [0.01], "tau": [0.0, 1.0]}
    file.write_text(OWN.replace("runs = 3", "runs = 2").replace("[0.001, 0.01, 0.1]", "[0.01]\ntau = [0.0, 1.0]"))
    rows = pl.concat(run_chunk(c.payload) for c in read(file).chunks() if c.payload["algorithm"] == "q-learning")
    trained = gpbe.train("CartPole-v1", "q-learning", steps=200, runs=2, every=100, hidden=(5,), **gpbe.grid(**grid))
    assert rows["setting"].to_list() == [0, 0, 1, 1]
    np.testing.assert_array_equal(np.array(rows["returns"].to_list()).reshape(2, 2, 2), trained.returns)
    assert rows["step_size"].to_list() == [0.01] * 4
    assert rows["tau"].to_list() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.slow
def test_run_from_the_command_line_is_whole_and_the_same_as_in_this_process(tmp_path, capsys):
    file = tmp_path / "own.toml"
    file.write_text(FOUR)
    command = [sys.executable, "-m", "gpbe", "run", str(file), "--out", str(tmp_path), "--workers", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (report,) = json.loads(done.stdout)
    assert (report["done"], report["failed"], report["steps_done"]) == (report["total"], 0, 2 * 4 * 200)
    main(["status", str(tmp_path), "--json"])
    (status,) = json.loads(capsys.readouterr().out)
    assert (status["done"], status["missing"], status["diverged"]) == (report["total"], 0, 0)
    table = store.scan(report["folder"]).collect()
    assert table.height == 8
    chunk = next(iter(read(file).chunks()))
    mine = run_chunk(chunk.payload)
    theirs = table.filter(algorithm=chunk.payload["algorithm"]).head(mine.height)
    assert mine["returns"].to_list() == theirs["returns"].to_list()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runs = 3", "runs = -1"), "runs is -1; it should be a whole number, 1 or more"),
        (("runs = 3", "run = 3"), "key 'run' is unknown; did you mean 'runs'"),
        (("step_size = [0.001, 0.01, 0.1]", "step_size = []"), "the grid of q-learning has no values for step_size"),
        (
            ("step_size = [", "stepsize = ["),
            "hyperparameter of q-learning 'stepsize' is unknown; did you mean 'step_size'",
        ),
        (("step_size = [", "beta = ["), "hyperparameter of q-learning 'beta' is unknown"),
        (("[0.001, 0.01, 0.1]", "[0.001, -0.1]"), "step_size is -0.1; it should be above 0"),
        (("algorithms.q-learning", "algorithms.q-learner"), "did you mean 'q-learning'"),
        (("steps = 200", "steps = 250"), "every is 100; it should divide the 250 steps"),
        (("hidden = [5]", "layers = [5]"), "option 'layers' is unknown"),
        (("hidden = [5]", "epsilon = 0.5"), "tdrc-pg does not use 'epsilon'"),
        (("every = 100", "every = 100\nfirst_run = -1"), "first_run is -1; it should be a whole number, 0 or more"),
        (('["CartPole-v1"]', "[]"), "domains is empty"),
        (("CartPole-v1", "CartPole-v9"), "environment 'CartPole-v9' is in neither gymnax nor Gymnasium; did you mean"),
        (("runs = 3", "runs = 3\nname = '../up'"), "name is '../up'; it should be a text that can name a folder"),
        (("runs = 3", "runs = ["), "is not TOML"),
        (('["CartPole-v1"]', '"CartPole-v1"'), "domains is 'CartPole-v1'; it should be a list of names, even of one"),
        (('["CartPole-v1"]', "5"), "domains is 5; it should be a list of names"),
        (('["CartPole-v1"]', '[["CartPole-v1"]]'), "domains is [['CartPole-v1']]; it should be a list of names"),
        (("runs = 3", "runs = true"), "runs is True; it should be a whole number"),
        (("runs = 3", "runs = 3\nseed = 'x'"), "seed is 'x'; it should be a whole number"),
        (("runs = 3", "runs = 3\nseed = 4294967296"), "seed is 4294967296; it should be a whole number from 0 to"),
        (("runs = 3", "runs = 10000000000"), "there are 40,000,000,000 runs"),
        (("hidden = [5]", "hidden = [-3]"), "hidden[0] is -3; it should be a whole number from 1"),
        (("hidden = [5]", "hidden = 0.5"), "hidden is 0.5; it should be a list of sizes"),
        (("hidden = [5]", "batch = 'many'"), "batch is 'many'; it should be a whole number, 1 or more"),
        (("hidden = [5]", "gamma = [0.5]"), "gamma is [0.5]; it should be a number"),
        (("[options]\nhidden = [5]", "options = 1"), "options is 1; it should be a table, such as [options]"),
        (("[0.001, 0.01, 0.1]", "['.']"), "step_size of q-learning is '.'; it should be a number"),
        (("[0.001, 0.01, 0.1]", "[true]"), "step_size of q-learning is True; it should be a number"),
        (("[algorithms.tdrc-pg]", "[algorithms]\nqrc = [0.1]"), "; it should be tables, such as [algorithms.qrc]"),
        (("algorithms.tdrc-pg", 'algorithms."antigravity:X"'), "'antigravity:X' is in a module, which a file does not"),
        (('"CartPole-v1"', '"antigravity:X-v0"'), "'antigravity:X-v0' is in a module, which a file does not import"),
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
    assert "antigravity" not in sys.modules


def test_unknown_experiments_and_places(capsys, tmp_path):
    for arguments, message in (
        (["run", "bakeof"], "did you mean 'bakeoff'"),
        (["run", "bakeoff", "--on", "moon"], "--on moon is not a place to run"),
        (["status", str(tmp_path / "nothing")], "there is no such folder"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err


def test_a_declaration_in_python():
    s = Sweep("mine", ("CartPole-v1",), (Swept("qrc", {"step_size": (0.1, 0.2)}),), runs=2, steps=100, every=50)
    assert (s.settings, s.work, len(list(s.chunks()))) == (2, 400, 1)


SMALL = {"runs": 2, "steps": 100, "every": 50, "options": {"hidden": [3]}}


@pytest.fixture
def run_all(monkeypatch):
    """All rows of a sweep whose returns are not learned, but tell what each lane was asked to learn."""

    def told(options, env, numbers, runs, steps, seed):
        asked = [[numbers["step_size"][k], numbers["tau"][k], run, seed] for k, run in enumerate(runs)]
        return Learned(np.array(asked, np.float32), np.zeros((len(runs), 1)), np.full(len(runs), -1))

    monkeypatch.setattr(lanes, "learn_lanes", told)
    return lambda sweep: pl.concat(run_chunk(chunk.payload) for chunk in sweep.chunks())


def test_whatever_is_swept_has_a_column_and_all_chunks_have_the_same(run_all):
    sarsa = Swept("expected-sarsa", {"step_size": (0.01, 0.1), "epsilon": (0.1, 0.5)})
    table = run_all(Sweep("mine", ("CartPole-v1",), (sarsa, Swept("qrc-sep", {"width": (0.5, 2.0)})), **SMALL))
    assert table.columns[3:6] == ["step_size", "epsilon", "width"]
    settings = table.unique(["algorithm", "setting"], maintain_order=True)
    assert settings.filter(algorithm="expected-sarsa").select("step_size", "epsilon", "width").rows() == [
        (0.01, 0.1, None),
        (0.01, 0.5, None),
        (0.1, 0.1, None),
        (0.1, 0.5, None),
    ]
    assert settings.filter(algorithm="qrc-sep").select("step_size", "epsilon", "width").rows() == [
        (None, None, 0.5),
        (None, None, 2.0),
    ]


def test_a_list_of_settings_is_as_the_same_settings_of_a_grid(run_all):
    grid = {"step_size": (0.01, 0.1), "tau": (0.0, 1.0)}
    chosen = ({"tau": 1.0, "step_size": 0.01}, {"step_size": 0.1, "tau": 0.0})
    whole, some = (
        run_all(Sweep("mine", ("CartPole-v1",), (swept,), **SMALL))
        for swept in (Swept("qrc", grid), Swept("qrc", settings=chosen))
    )
    assert some["setting"].to_list() == [0, 0, 1, 1]
    on = ["step_size", "tau", "run"]
    both = some.join(whole, on=on, how="left")
    assert both["setting_right"].to_list() == [1, 1, 2, 2]
    assert both["returns"].to_list() == both["returns_right"].to_list()


def test_later_runs_are_fresh_and_the_same_as_in_a_longer_sweep(run_all):
    swept = (Swept("q-learning", {"step_size": (0.01,)}),)
    four, later = (Sweep("mine", ("CartPole-v1",), swept, **SMALL | x) for x in ({"runs": 4}, {"first_run": 2}))
    assert (table := run_all(later))["run"].to_list() == [2, 3]
    asked = [chunk.payload["lanes"] for chunk in later.chunks()]
    assert asked == [[[0, 2], [0, 3]]]
    longer = run_all(four)
    assert longer["returns"].n_unique() == 4
    assert table["returns"].to_list() == longer["returns"].to_list()[2:]


def test_settings_for_each_domain():
    car, pole = (
        Swept("qrc", {"step_size": (x,)}, domains=(d,)) for x, d in ((0.1, "Acrobot-v1"), (0.2, "CartPole-v1"))
    )
    s = Sweep("mine", ("CartPole-v1", "Acrobot-v1"), (car, pole), **SMALL)
    tried = {(c.payload["domain"], c.payload["hyperparameters"][0]["step_size"]) for c in s.chunks()}
    assert tried == {("Acrobot-v1", 0.1), ("CartPole-v1", 0.2)}
    assert s.work == sum(chunk.cost for chunk in s.chunks()) == 400


def test_some_settings_of_an_algorithm_have_more_runs_than_others():
    grid = {"step_size": (0.1, 0.2, 0.3)}
    many, few = Swept("qrc", grid, only=(1,), runs=5), Swept("qrc", grid, only=(0, 2), runs=3)
    s = Sweep("mine", ("CartPole-v1",), (many, few), **SMALL)
    lanes = [lane for chunk in s.chunks() for lane in chunk.payload["lanes"]]
    assert sorted(lanes) == [[k, run] for k, runs in ((0, 3), (1, 5), (2, 3)) for run in range(runs)]
    with pytest.raises(InputError, match="qrc is there twice for CartPole-v1"):
        Sweep("mine", ("CartPole-v1",), (many, Swept("qrc", grid, only=(1, 2))), **SMALL)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Swept("qrc", {"tau": (0.0,)}, settings=({"tau": 0.0},)), "has a grid and a list of settings"),
        (lambda: Swept("qrc", settings=({"tau": 0.0}, {"beta": 1.0})), "settings of qrc have tau or beta; all need"),
        (lambda: Swept("qrc", settings=({"tau": -1.0},)), "tau is -1; it should be 0 or more"),
        (lambda: Swept("qrc-sep", {"width": (0.0,)}), "width is 0; it should be above 0"),
        (lambda: Swept("qrc", {"width": (1.0,)}), "hyperparameter of qrc 'width' is unknown"),
        (lambda: Sweep("mine", ("CartPole-v1",), (Swept("qrc"), Swept("qrc")), **SMALL), "qrc is there twice for Cart"),
        (
            lambda: Sweep("mine", ("CartPole-v1",), (Swept("qrc", domains=("Acrobot-v1",)),), **SMALL),
            "domain of qrc 'Acrobot-v1' is unknown",
        ),
    ],
)
def test_wrong_declarations_in_python(wrong, message, refuses):
    refuses(wrong, message)


@pytest.mark.slow
def test_an_algorithm_of_ones_own_in_a_sweep(tmp_path, run):
    """Workers import it from the file that declares the sweep."""
    file = tmp_path / "my_sweep.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from gpbe.algorithms.control import ALGORITHMS\n"
        "from gpbe.experiments.sweep import Sweep, Swept\n"
        "MINE = replace(ALGORITHMS['q-learning'], name='mine')\n"
        "swept = (Swept('my_sweep:MINE', {'step_size': (0.01,)}), Swept('q-learning', {'step_size': (0.01,)}))\n"
        "sweep = Sweep('mine', ('CartPole-v1',), swept, runs=4, steps=100, every=100, options={'hidden': [5]})\n"
    )
    (report,) = run("run", str(file), "--out", str(tmp_path), "--workers", "1", "--json")
    assert (report["done"], report["failed"]) == (2, 0)
    table = store.scan(report["folder"]).collect()
    mine, theirs = (table.filter(algorithm=a)["returns"].to_list() for a in ("my_sweep:MINE", "q-learning"))
    assert mine == theirs


@pytest.mark.slow
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
