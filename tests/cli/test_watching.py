"""The options that watch a training are the callbacks of the library, and change nothing that is learned."""

import polars as pl
import pytest

import gpbe
from gpbe.callbacks import Evaluate
from gpbe.cli import main

FEW = ("--steps", "400", "--every", "100", "--runs", "2", "--hidden", "4")


def test_files_evaluations_and_returns_are_those_of_the_library(run, tmp_path):
    table, board = tmp_path / "log.csv", tmp_path / "board"
    watched = ("--csv", str(table), "--tensorboard", str(board), "--evaluate-every", "200", "--evaluate-episodes", "3")
    seen = run("train", "CartPole-v1", "qrc", *FEW, *watched, "--json")
    greedy = Evaluate(every=200, episodes=3)
    training = gpbe.train("CartPole-v1", "qrc", steps=400, every=100, runs=2, hidden=(4,), callbacks=greedy)
    assert [{k: v for k, v in row.items() if k != "algorithm"} for row in seen["evaluations"]] == greedy.rows
    assert seen["settings"][0]["final"] == pytest.approx(training.finals.mean())
    told = pl.read_csv(table)
    assert told.filter(name="evaluation").select("steps", "run").rows() == [(200, 0), (200, 1), (400, 0), (400, 1)]
    assert sorted(folder.name for folder in board.iterdir()) == ["run 0", "run 1"]


def test_runs_that_are_good_enough_are_stopped_and_that_is_told(run):
    """Every episode of Cart Pole has at least the return 1, so that the first evaluation is good enough."""
    said = run("train", "CartPole-v1", "qrc", *FEW, "--evaluate-every", "200", "--stop-at", "1")
    assert "greedy return after 200 steps" in said
    assert "stopped early: after 200 steps" in said


def test_the_agent_that_played_best_is_saved_and_plays_so_again(run, tmp_path):
    """One setting learns and one cannot; the file has the weights of when its agent played."""
    swept = ("--step-size", "1e-30", "2^-8", "--evaluate-every", "100", "--evaluate-episodes", "3")
    seen = run("train", "CartPole-v1", "qrc", *FEW, *swept, "--save", str(tmp_path / "agent.npz"), "--json")
    best = max(seen["evaluations"], key=lambda row: (row["mean"], row["steps"], row["setting"], row["run"]))
    saved = seen["agent"]
    assert (saved["run"], saved["steps"], saved["evaluation"]) == (best["run"], best["steps"], best["mean"])
    assert saved["step_size"] == pytest.approx([1e-30, 2**-8][best["setting"]])
    assert gpbe.load(tmp_path / "agent.npz").evaluate(episodes=3).mean == best["mean"]


@pytest.mark.slow
def test_of_several_algorithms_each_has_a_file_of_its_own(run, tmp_path):
    watched = ("--csv", str(tmp_path / "log.csv"), "--tensorboard", str(tmp_path / "board"), "--measure")
    run("train", "CartPole-v1", "qrc", "q-learning", *FEW, *watched)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "log-q-learning.csv", "log-qrc.csv"]
    assert sorted(path.name for path in (tmp_path / "board").iterdir()) == ["q-learning", "qrc"]
    names = {name: set(pl.read_csv(tmp_path / f"log-{name}.csv")["name"]) for name in ("qrc", "q-learning")}
    assert "loss" in names["qrc"]
    assert "loss" in names["q-learning"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--measure",), "--measure has nowhere to write; give --csv FILE or --tensorboard FOLDER, too"),
        (("--patience", "0"), "patience is 0; it should be a whole number, 1 or more"),
        (("--evaluate-every", "0"), "evaluate_every is 0; it should be a whole number, 1 or more"),
    ],
)
def test_mistakes_get_one_line(options, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["train", "CartPole-v1", "qrc", *FEW, *options])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
