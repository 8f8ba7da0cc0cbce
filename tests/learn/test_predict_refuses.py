"""What `gpbe.predict` and logs refuse, each with one line that says what was wrong and what would be right."""

import jaxtyping
import numpy as np
import pytest

import gpbe
from gpbe import InputError, mdp
from gpbe.algorithms.linear import Algorithm, expected_system
from gpbe.algorithms.linear.table import find
from gpbe.algorithms.nonlinear import NonlinearAlgorithm
from gpbe.learn.predict import read_problem


def walk(features=None) -> mdp.PredictionProblem:
    """Seven states, two actions, five features."""
    x = np.eye(7)[:, :5] if features is None else features
    return mdp.PredictionProblem(mdp.random_walk(7), [0.4, 0.6], [0.5, 0.5], x)


def predict(problem=None, algorithm="tdc", **given):
    source = walk() if problem is None else problem
    runs = {"every": 1} if isinstance(source, mdp.Log) else {"every": 5, "steps": 60, "runs": 3}
    return gpbe.predict(source, algorithm, **(runs | given))


def endless() -> mdp.PredictionProblem:
    """Continuing: nothing ends."""
    return mdp.PredictionProblem(mdp.random_mdp(5, 2, 3, rng=1), [0.5, 0.5], [0.4, 0.6])


def never_ending_target() -> mdp.PredictionProblem:
    """The behavior ends episodes, the target does not."""
    return mdp.tsitsiklis_van_roy(epsilon=0.0)


def a_log(**changes) -> mdp.Log:
    columns = {"reward": [0, 1, 0], "discount": [1, 0, 1], "target": [1, 0.5, 1], "behavior": [0.5, 0.5, 0.5]}
    return mdp.Log(**({"features": np.eye(3)} | columns | changes))


def misspelled(algorithm: Algorithm, **axes: str) -> None:
    """As if the algorithm had been made with these axes, which the types of the tests would refuse first."""
    for name, value in axes.items():
        object.__setattr__(algorithm, name, value)
    algorithm.__post_init__()


V_TRACE_GRADIENT = Algorithm(bootstrapping="v-trace", update="saddlepoint")
REFUSED = {
    "unknown algorithm": (lambda: predict(None, "tdcc"), r"no algorithm 'tdcc'; did you mean .*tdc"),
    "nothing like an algorithm": (lambda: predict(None, "zzzz"), r"no algorithm 'zzzz'; it should be one of td, gtd"),
    "unknown hyperparameter": (
        lambda: predict(alpha=0.1),
        r"no hyperparameter 'alpha'; it should be one of step_size, ratio, lam",
    ),
    "unused hyperparameter": (lambda: predict(None, "td", beta=1.0), r"does not use 'beta'; it has step_size, lam"),
    "step size 0": (lambda: predict(step_size=0.0), r"step_size is 0; it should be above 0"),
    "one step size below 0": (lambda: predict(step_size=[0.1, -0.2]), r"step_size is -0\.2; it should be above 0"),
    "step size not a number": (lambda: predict(step_size="fast"), r"step_size is not an array of numbers"),
    "step size nan": (lambda: predict(step_size=np.nan), r"step_size is nan"),
    "no step size": (lambda: predict(step_size=[]), r"step_size has shape \(0,\); give one number"),
    "table of step sizes": (lambda: predict(step_size=[[0.1]]), r"step_size has shape \(1, 1\); give one number"),
    "lam above 1": (lambda: predict(lam=[0.5, 1.5]), r"lam is 1\.5; it should be .*\[0, 1\]"),
    "lengths": (lambda: predict(lam=[0, 1], step_size=[1, 2, 3]), r"step_size has 3 and lam has 2 .* gpbe\.grid"),
    "clip 0": (lambda: predict(None, "v-trace", rho_bar=0.0), r"rho_bar is 0; it should be above 0"),
    "clip not a number": (lambda: predict(None, "v-trace", rho_bar="high"), r"rho_bar is not an array of numbers"),
    "clipped gradient": (lambda: predict(None, V_TRACE_GRADIENT, rho_bar=1.0), r"rho_bar finite .* use inf"),
    "every": (lambda: predict(every=7), r"every is 7; it should divide the 60 steps"),
    "every 0": (lambda: predict(every=0), r"every is 0"),
    "steps": (lambda: predict(steps=0), r"steps is 0; it should be a whole number, 1 or more"),
    "runs": (lambda: predict(runs=0), r"runs is 0; it should be a whole number, 1 or more"),
    "seed": (lambda: predict(seed=-1), r"seed is -1; it should be a whole number from 0"),
    "metric": (lambda: predict(metrics=("rmse",)), r"no metric 'rmse'; did you mean 'rmsve'"),
    "weighting of a batch": (lambda: predict(weighting=np.ones((2, 7))), r"weighting.* \(2, 7\)"),
    "optimizer": (lambda: predict(optimizer="rmsprop"), r"no optimizer 'rmsprop'; it should be one of sgd, adam"),
    "adam with mirror-prox": (lambda: predict(None, "gtd2-mp", optimizer="adam"), r"chooses its own steps.*use sgd"),
    "adam with svrg": (lambda: predict(None, "svrg", optimizer="adam"), r"chooses its own steps.*use sgd"),
    "epochs of a stream": (lambda: predict(epochs=2), r"epochs are passes over a stored data set.*use more steps"),
    "no epochs": (lambda: predict(None, "svrg", epochs=0), r"epochs is 0; it should be .*1"),
    "initial weights": (lambda: predict(initial_weights=[1, 2]), r"initial_weights has shape \(2,\); .*\(5,\)"),
    "initial weights nan": (lambda: predict(initial_weights=[0, 0, np.nan, 0, 0]), r"initial_weights\[2\] is nan"),
    "initial weights in words": (lambda: predict(initial_weights=list("abcde")), r"initial_weights is not an array of"),
    "state_lam": (lambda: predict(state_lam=[1, 1]), r"state_lam has shape \(2,\); .* each of 7 states"),
    "state_lam above 1": (lambda: predict(state_lam=[1, 1, 1, 3, 1, 1, 1]), r"state_lam\[state 3\] is 3"),
    "features of other runs": (
        lambda: predict(walk(np.ones((2, 7, 5)))),
        r"leading axes \(2,\).* 3 runs",
    ),
    "distance with many features": (
        lambda: predict(walk(np.ones((3, 7, 5))), metrics=("distance",)),
        r"needs one set of features; leave it out",
    ),
    "a batch of rewards": (
        lambda: predict(
            mdp.PredictionProblem(
                mdp.FiniteMDP(np.full((2, 1, 2), 0.5), np.ones((3, 2, 1, 2)), 0.9), np.ones((2, 1)), np.ones((2, 1))
            )
        ),
        r"one problem; this is a batch with axes \(3,\): use problem\[i\]",
    ),
    "a batch of behaviors": (lambda: predict(mdp.kolter([0.2, 0.3])), r"one problem; .* batch with axes \(2,\)"),
    "alternative lives without episodes": (
        lambda: predict(endless(), "alternative-life-td", metrics=()),
        r"alternative-life methods need episodes.*use an emphatic",
    ),
    "expected alternative lives": (
        lambda: expected_system(endless(), "alternative-life-gtd2"),
        r"alternative-life methods need episodes.*use an emphatic",
    ),
    "alternative lives without end": (
        lambda: expected_system(never_ending_target(), "alternative-life-td"),
        r"target.*(never|end)",
    ),
    "a network's basis": (lambda: predict(basis="head"), r"basis is for values from a network; give net"),
    "a network's returns": (lambda: predict(n=3), r"n is for values from a network; give net"),
    "a network's batch": (lambda: predict(batch=3), r"batch is for values from a network; give net"),
    "ridge of a step": (lambda: predict(ridge=0.1), r"tdc does not use 'ridge'; it has step_size"),
    "a network of linear values": (lambda: predict().network(0), r"these values are linear"),
    "unknown problem": (lambda: predict("bairds"), r"no problem 'bairds'; did you mean 'baird'"),
    "no such file": (lambda: predict("nowhere.toml"), r"nowhere\.toml: cannot be read"),
    "no such log": (lambda: gpbe.predict("nowhere.parquet"), r"there is no file nowhere\.parquet"),
    "not a problem": (lambda: read_problem(walk().mdp), r"problem is of type FiniteMDP; give a PredictionProblem"),
    "not an algorithm": (lambda: find(7), r"algorithm is of type int; give a name, or an object Algorithm"),
    "network's algorithm": (lambda: predict(None, NonlinearAlgorithm()), r"is of type NonlinearAlgorithm; give a name"),
    "axis": (
        lambda: misspelled(Algorithm(), bootstrapping="tree_backup"),
        r"no bootstrapping 'tree_backup'; did you mean 'tree-backup'",
    ),
    "variance reduction": (lambda: Algorithm(variance_reduction="svrg"), r"svrg and saga are for update .finite-sum"),
    "no variance reduction": (lambda: Algorithm(update="finite-sum"), r"svrg and saga are for update .finite-sum"),
    "regularized TD": (lambda: Algorithm(regularized=True), r"regularized shrinks the h .* update 'td' has none"),
    "LSTD ahead": (lambda: Algorithm(update="least-squares", mirror_prox=True), r"mirror_prox .* 'least-squares'"),
    "decay of nothing": (lambda: Algorithm(decayed_followon=True), r"decayed_followon is for prior .emphatic"),
    "runs of a log": (lambda: predict(a_log(), runs=2), r"a log is one run"),
    "lambdas of a log": (lambda: predict(a_log(), state_lam=[1, 1]), r"a log is one run with one lam"),
    "steps of a log": (lambda: predict(a_log(), steps=5), r"steps is 5; the log has 2 transitions"),
    "values of a log": (
        lambda: predict(a_log(), metrics=("rmsve",)),
        r"rmsve needs the true dynamics.*use rmspbe or distance",
    ),
    "a log without features": (
        lambda: predict(a_log(features=np.zeros((3, 2))), metrics=("rmspbe",)),
        r"every feature of the log is 0, so that nothing can be learned",
    ),
    "distances of a log": (
        lambda: predict(a_log(), metrics=("distance",), lam=[0, 1]),
        r"needs one lam; sweep other hyperparameters, or use rmspbe",
    ),
}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"runs": None}, "runs is None; leave it out for its default"),
        ({"advance": 5}, "advance is of type int; it should be a function, or leave it out"),
    ],
)
def test_values_of_wrong_types(given, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    with pytest.raises(InputError, match=message):
        predict(**given)


def test_grids_that_cannot_be_made():
    with pytest.raises(InputError, match=r"step_size has shape \(0,\); give one number, or a list"):
        gpbe.grid(step_size=[], lam=[0.0, 0.5])
    with pytest.raises(InputError, match=r"lam has shape \(1, 2\); give one number, or a list"):
        gpbe.grid(step_size=0.1, lam=[[0.0, 0.5]])
    with pytest.raises(InputError, match="there are 1,000,000,000,000 combinations of step_size, lam; take 1,000,000"):
        gpbe.grid(step_size=range(10**6), lam=range(10**6))


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_and_why(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
