"""What objects look like in a REPL: one line that says what they are, whatever they hold."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import gpbe
from gpbe import exact, mdp
from gpbe.learn.control.trained import Evaluation


@pytest.fixture(scope="module")
def walk():
    return mdp.problem("random-walk-5")


def test_every_exported_name_is_listed():
    listed = set(dir(gpbe))
    assert {*gpbe.__all__, "__version__", "predict", "train", "load", "grid", "evaluate"} <= listed
    assert all(hasattr(gpbe, name) for name in listed)
    for package in (gpbe.algorithms.control, gpbe.envs):
        assert set(package.__all__) <= set(dir(package))


def test_problems_tell_their_sizes(walk):
    assert repr(walk) == "<PredictionProblem random-walk-5: 5 states, 2 actions, 3 features>"
    assert repr(walk.mdp) == "<FiniteMDP: 5 states, 2 actions>"
    eye = csr_array(np.eye(1500))
    assert repr(mdp.FiniteMDP([eye], 1.0, 0.9)) == "<FiniteMDP: 1,500 states, 1 action (sparse)>"
    assert "104 states, 4 actions (a batch (8,))" in repr(mdp.four_rooms())
    assert "(a batch (2,))" in repr(walk.replace(target=np.stack([walk.target, walk.behavior])))


def test_a_diagnosis_says_what_matters(walk):
    assert repr(exact.diagnose(mdp.baird())) == (
        "<Diagnosis of baird: off-policy TD diverges; recommended: TDRC (a gradient method)>"
    )
    found = exact.diagnose(walk)
    assert "off-policy TD converges" in repr(found)
    assert repr(found.finding("pbe", "behavior")).startswith("<Finding: minimum of PBE weighted by behavior, RMSVE ")


def test_logs_tell_their_sizes(walk, tmp_path):
    log = mdp.Log.simulate(walk, 30)
    assert repr(log) == "<Log: 30 transitions, 3 features>"
    for name in ("one", "two"):
        log.write(tmp_path / f"{name}.parquet")
    files = mdp.scan_log([tmp_path / "one.parquet", tmp_path / "two.parquet"])
    assert repr(files) == f"<LogFiles: {tmp_path / 'one.parquet'} and 1 more>"


def test_what_was_learned_is_told_in_a_line(walk):
    swept = gpbe.predict(walk, "td", steps=40, runs=3, step_size=[0.1, 0.2], metrics="rmsve")
    best = swept.finals["rmsve"].astype(float).mean(-1).min()
    said = f"<Prediction by td: 2 settings of 3 runs, 40 updates, final rmsve {best:.4g} at best>"
    assert repr(swept) == said
    one = gpbe.predict("baird", "td", steps=1500, step_size=[5.0], metrics="rmsve")
    assert "1 diverged, final rmsve inf" in repr(one)


def test_training_and_its_agent(walk):
    result = gpbe.train("CartPole-v1", "qrc", steps=200, runs=2, every=100, hidden=(4,))
    assert repr(result).startswith("<Training by qrc on CartPole-v1: 2 runs, 200 steps, final return ")
    size = result.weights.shape[-1]
    said = f"observations 4, 2 actions, layers (4,), {size} weights"
    assert repr(result.agent()) == f"<TrainedAgent by qrc for CartPole-v1: {said}>"


def test_evaluations(walk):
    played = Evaluation(np.array([1.0, 3.0]), np.array([5, 7]))
    assert repr(played) == "<Evaluation: mean return 2 ± 1 over 2 episodes>"
    assert repr(Evaluation(played.returns[:1], played.lengths[:1])) == "<Evaluation: mean return 1 over 1 episode>"
    found = gpbe.evaluate(mdp.Log.simulate(walk, 300))
    low, high = found.interval
    assert repr(found).startswith(f"<Evaluation: value {found.value:.4g}, 95 % interval [{low:.4g}, {high:.4g}] by ")
    assert len(repr(found)) < 150
