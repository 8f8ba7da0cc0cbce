"""Values of networks: without hidden layers they are the linear ones; with them what linear ones cannot be."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import gpbe
from gpbe import mdp
from gpbe.evaluation.networks import NetworkValues, Scaling
from gpbe.learn.fitted import BLOCK, Net, Rows, fit, outputs
from helpers.samples import few
from helpers.seeds import seed

A, K = 3, 4


def a_log(number: int = 0, actions: bool = True, rows: int = 700) -> mdp.Log:
    """A random problem whose features have a constant among them, as a network has one."""
    rng = np.random.default_rng(number)
    m = mdp.random_mdp(7, A, 3, gamma=0.9, rng=rng, termination=0.2)
    target = rng.dirichlet(np.ones(A), 7)
    x = np.column_stack([np.ones(7), 5 + 3 * rng.standard_normal((7, K - 1))])
    log = mdp.Log.simulate(mdp.PredictionProblem(m, target, 0.5 * target + 0.5 / A, x), rows, seed=number)
    if actions:
        return log
    return mdp.Log(log.features, log.reward, log.discount, log.target, log.behavior, log.next_features)


def as_rows(log: mdp.Log) -> Rows:
    taken = np.eye(A)[log.action]
    group = np.arange(len(log)) % 7
    return Rows(
        log.features, log.next_features, taken, log.next_policy, log.reward, log.discount, np.ones(len(log)), group
    )


# ---------------------------------------------------------------- no hidden layers: linear


def test_without_hidden_layers_it_is_where_regressions_with_a_constant_end():
    """Regress r + gamma v(S') on the features and a constant of the action taken, again and again, in 64 bits."""
    log = a_log()
    x, led = (np.column_stack([part[:, 1:], np.ones(len(log))]) for part in (log.features, log.next_features))
    phi = (np.eye(A)[log.action][:, :, None] * x[:, None]).reshape(len(log), -1)
    after = (log.next_policy[:, :, None] * led[:, None]).reshape(len(log), -1)
    theta = np.zeros(phi.shape[1])
    for _ in range(400):
        theta = np.linalg.lstsq(phi, log.reward + log.discount * (after @ theta), rcond=None)[0]
    start = ~np.append(False, log.continues[:-1])
    expected = (log.policy[start][:, :, None] * x[start][:, None]).reshape(start.sum(), -1) @ theta
    found = gpbe.evaluate(log, "fqe", hidden=(), resamples=2)
    assert found.value == pytest.approx(expected.mean(), rel=1e-3)
    assert found["fqe"].network


@pytest.mark.parametrize("actions", few([True, False], []))
def test_doubly_robust_around_a_network_without_hidden_layers_is_that_around_linear_values(actions):
    """The same folds, and values of LSTD(0) where the log has no actions."""
    log = a_log(1, actions)
    linear = gpbe.evaluate(log, ("dr", "wdr"))
    network = gpbe.evaluate(log, ("dr", "wdr"), hidden=())
    for name in ("dr", "wdr"):
        assert network[name].value == pytest.approx(linear[name].value, rel=1e-3)
        assert network[name].error == pytest.approx(linear[name].error, rel=1e-2)


# ---------------------------------------------------------------- hidden layers


@pytest.fixture(scope="module")
def fitted():
    log, net = a_log(2), Net(K, A, (6, 5))
    rows = as_rows(log)._replace(x=a_log(2).features / 5, after=a_log(2).next_features / 5)
    counts = np.array([[1.0] * 7, [0, 2, 1, 1, 3, 0, 1], [1, 1, 1, 0, 1, 1, 1]])
    return net, rows, counts, fit(net, rows, counts, seed=seed(3))


def forward(net: Net, weights, x):
    """The network by hand: what goes into its last layer, and what comes out."""
    sizes, at, layers = [net.features, *net.hidden, net.outputs], 0, []
    for inputs, units in pairwise(sizes):
        w = weights[at : at + inputs * units].reshape(units, inputs)
        layers.append((w, weights[at + inputs * units : at + (inputs + 1) * units]))
        at += (inputs + 1) * units
    assert at == len(weights)
    for w, b in layers[:-1]:
        x = np.maximum(x @ w.T + b, 0)
    return x, x @ layers[-1][0].T + layers[-1][1]


@pytest.mark.slow
@pytest.mark.learning
def test_errors_are_orthogonal_to_the_last_layer(fitted):
    """Where regressions of the last layer end: the sum of phi (r + gamma v(S') - q) is 0, for each fit's counts.

    Up to the rounding of the sums and the trace of a ridge, both of which are small beside the largest feature.
    """
    net, rows, counts, found = fitted
    for count, weights in zip(counts, found.weights.astype(float), strict=True):
        phi, q = forward(net, weights, rows.x)
        _, after = forward(net, weights, rows.after)
        error = rows.reward + rows.discount * (after * rows.following).sum(1) - (q * rows.taken).sum(1)
        inputs = (rows.taken[:, :, None] * np.column_stack([phi, np.ones(len(phi))])[:, None]).reshape(len(phi), -1)
        each = count[rows.group][:, None] * inputs
        largest = np.sqrt((each**2).sum(0).max() * (rows.reward**2).sum())
        assert np.abs((each * error[:, None]).sum(0)).max() < 2e-4 * largest


def test_outputs_are_those_of_the_network_block_by_block(fitted):
    net, _, _, found = fitted
    x = np.random.default_rng(0).standard_normal((BLOCK + 3, K))
    given = outputs(net, found.weights, x)
    for k in range(3):
        np.testing.assert_allclose(given[k], forward(net, found.weights[k].astype(float), x)[1], rtol=1e-3, atol=1e-4)


def test_values_go_to_other_processes(fitted):
    net, rows, _, found = fitted
    values = NetworkValues(net, found.weights, Scaling(np.zeros(K), np.ones(K)))
    again = pickle.loads(pickle.dumps(values))
    np.testing.assert_array_equal(again.actions(rows.x[:5]), values.actions(rows.x[:5]))


@pytest.mark.slow
@pytest.mark.learning
def test_a_network_finds_what_linear_values_cannot():
    """A walk of 40 states seen through two features, of which no line makes the values; they are off by 0.4."""
    n, x = 40, np.linspace(-1, 1, 40)
    features = np.column_stack([x, np.sin(3 * x)])
    walk = mdp.PredictionProblem(mdp.random_walk(n, 0.99), [0.4, 0.6], [0.5, 0.5], features)
    truth = float(walk.mdp.start @ walk.values)
    log = mdp.Log.simulate(walk, 5000, seed=seed(4))
    found = gpbe.evaluate(log, ("fqe", "dr", "lstd"), hidden=(16,), resamples=5, seed=seed(5))
    assert abs(gpbe.evaluate(log, "fqe").value - truth) > 0.2
    assert found.recommended == "fqe"
    for name in ("fqe", "dr"):
        assert abs(found[name].value - truth) < 5 * found[name].error + 0.02, found[name]


# ---------------------------------------------------------------- what gpbe.predict learns


@pytest.mark.slow
def test_what_predict_learns_with_a_network_is_an_estimate_too():
    log = a_log(3, rows=300)
    options = {"step_size": 0.01, "optimizer": "adam", "batch": 8}
    found = gpbe.evaluate(log, "tdrc", hidden=(5,), resamples=3, seed=seed(1), **options)
    learned = gpbe.predict(log, "tdrc", net=(5,), seed=seed(1), every=300, metrics=(), **options)
    begins = ~np.append(False, log.continues[:-1])
    assert found.value == pytest.approx(learned.values[0, -1, :300][begins].mean(), rel=1e-4)
    low, high = found.interval
    assert low < found.value < high


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "wis", "hidden": 8}, r"hidden is for fqe, dr, wdr and algorithms of gpbe\.predict"),
        ({"estimator": "fqe", "hidden": [8, -1]}, r"hidden\[1\] is -1; it should be a whole number"),
        ({"estimator": "fqe", "hidden": 8, "body": lambda key: key}, r"hidden and body are two ways"),
        ({"estimator": "fqe", "body": lambda key: 3}, r"body"),
        ({"estimator": "htd", "hidden": 8}, r"no estimator 'htd'"),
        ({"estimator": "td", "hidden": 8, "step_size": [0.1, 0.2]}, r"one number each"),
        ({"estimator": "fqe", "hidden": 8, "step_size": 0.1}, r"step_size is for algorithms of gpbe\.predict"),
    ],
)
def test_what_is_refused(given, message, refuses):
    refuses(lambda: gpbe.evaluate(a_log(0, rows=50), **given), message)
