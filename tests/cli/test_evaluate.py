"""`gpbe evaluate` on logs and on agents: what it prints and writes, and what it refuses."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import mdp
from gpbe.cli import main
from gpbe.learn.control.trained import Evaluation


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "trips.parquet"
    mdp.Log.simulate(mdp.problem("boyan"), 800, seed=1).write(path)
    return str(path)


def test_a_page_json_a_table_a_drawing_and_weights(log, run, tmp_path):
    assert "Recommended: " in run("evaluate", log)
    found = run("evaluate", log, "--by", "wis", "lstd", "--json", "--out", str(tmp_path / "e.csv"))
    assert [e["estimator"] for e in found["estimates"]] == ["wis", "lstd"]
    assert pl.read_csv(tmp_path / "e.csv")["value"].to_list() == pytest.approx([e["value"] for e in found["estimates"]])
    run("evaluate", log, "--by", "lstd", "--out", str(tmp_path / "e.png"), "--weights", str(tmp_path / "w.csv"))
    assert (tmp_path / "e.png").stat().st_size > 5000
    assert pl.read_csv(tmp_path / "w.csv")["weight"].len() == 4


@pytest.mark.slow
def test_values_of_a_network(log, run):
    found = run("evaluate", log, "--by", "dr", "lstd", "--hidden", "3", "2", "--json")
    robust, linear = (e["value"] for e in found["estimates"])
    assert robust == pytest.approx(linear, abs=2)


def test_columns_functions_and_a_number_for_the_discount(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = {
        "age": rng.random(60),
        "profit": rng.random(60),
        "trip": np.arange(60) // 4,
        "action": rng.integers(2, size=60),
    }
    pl.DataFrame(rows).write_csv(tmp_path / "raw.csv")
    (tmp_path / "choices_of_ours.py").write_text(
        "import numpy as np\n\ndef even(s):\n    return np.full((len(s), 2), 0.5)\n\n"
        "def with_one(s):\n    return np.column_stack([s, np.ones(len(s))])\n"
    )
    monkeypatch.chdir(tmp_path)
    found = run(
        *("evaluate", "raw.csv", "--columns", "state=age", "reward=profit", "episode=trip", "--discount", "0.5"),
        *("--target", "choices_of_ours:even", "--behavior", "choices_of_ours:even"),
        *("--features", "choices_of_ours:with_one", "--by", "is", "--json"),
    )
    returns = rows["profit"].reshape(15, 4) @ 0.5 ** np.arange(4)
    assert found["value"] == pytest.approx(returns.mean())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.parquet"], "there is no file absent.parquet"),
        (["--by", "wis"], "give a log"),
        (["{log}", "--columns", "reward"], "--columns reward cannot be read; write reward=profit"),
        (["{log}", "--target", "nowhere:policy"], "--target nowhere:policy cannot be found"),
        (["{log}", "--out", "e.txt"], "--out e.txt should end in"),
        (["{log}", "--weights", "w.txt"], "--weights w.txt should end in .parquet or .csv"),
        (["{log}", "--episodes", "3"], "--episodes is for an agent"),
        (["{log}", "--by", "lstd", "--level", "2"], "level is 2.0"),
        (["{log}", "--by", "wis", "--hidden", "3"], "hidden is for fqe, dr, wdr"),
        (["absent.npz"], "absent.npz"),
        (["a.npz", "b.npz"], "give one agent"),
        (["a.npz", "--by", "wis"], "--by is for logs; an agent, a file that ends in .npz, plays episodes"),
        (["a.npz", "--step-size", "0.1"], "--step-size is for logs"),
    ],
)
def test_what_is_refused(arguments, message, log, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["evaluate", *(a.format(log=log) for a in arguments)])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in said
    assert said.count("\n") == 1


def test_a_module_that_fails_is_told_in_a_line(log, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unfinished.py").write_text("def new(states:\n")
    (tmp_path / "wrong.py").write_text("1 / 0\n")
    for name, said in (("unfinished", "SyntaxError: '(' was never closed"), ("wrong", "ZeroDivisionError: division")):
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", str(log), "--target", f"{name}:new"])
        told = capsys.readouterr().err
        assert stop.value.code == 2
        assert f"--target {name}:new: its module fails when it is imported: {said}" in told
        assert told.count("\n") == 1


@pytest.mark.slow
def test_an_agent_plays_episodes(run, tmp_path):
    agent = gpbe.train("CartPole-v1", "qrc", steps=200, every=100, hidden=(4,), runs=2).agent(0)
    path = str(agent.save(tmp_path / "agent.npz"))
    found = run("evaluate", path, "--episodes", "3", "--json")
    assert found["returns"] == agent.evaluate(episodes=3).returns.tolist()


def test_what_is_said_of_an_agents_episodes(run, monkeypatch):
    """Returns of 1, 2 and 6 are 3 on average, with an error of sqrt(7 / 3)."""

    def played(env, episodes, seed):
        assert (env, episodes, seed) == (None, 3, 4)
        return Evaluation(np.array([1.0, 2.0, 6.0]), np.array([1, 2, 6]))

    monkeypatch.setattr(
        gpbe, "load", lambda path: SimpleNamespace(algorithm="qrc", env="Cart", evaluate=played), raising=False
    )
    given = ("evaluate", "agent.npz", "--episodes", "3", "--seed", "4")
    assert "qrc on Cart: return 3.0 ± 1.5 over 3 greedy episodes, 3.0 steps each" in run(*given)
    assert run(*given, "--json")["standard_error"] == pytest.approx(np.sqrt(7 / 3))
