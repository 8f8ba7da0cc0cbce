"""Huber's errors as metrics: those of `gpbe.exact` at every point, for linear values and networks."""

import numpy as np
import pytest

import gpbe
from gpbe import InputError, exact, mdp
from gpbe.learn.robust import ROBUST, Named, measure_robust
from helpers.strategies import random_problem

S, K = 7, 3


def problem():
    return random_problem(3, states=S, representation="random", columns=K)


def test_linear_metrics_are_the_exact_errors_at_every_point():
    p, d = problem(), problem().behavior_distribution
    names = ("rhpbe:0.05", "rmspbe", "rhbe", "rhbe:0.2", "rhpbe:1e6")
    options = {"steps": 60, "runs": 3, "every": 20, "step_size": [0.01, 0.2], "seed": 4}
    result = gpbe.predict(p, "tdrc", metrics=names, **options)
    assert list(result.curves) == list(names)
    assert result.curves["rhbe"].shape == result.curves["rmspbe"].shape == (2, 3, 3)
    for k, j in np.ndindex(2, 3):
        v = p.features @ result.weights[k, j].astype(float)
        last = {name: curve[k, j, -1] for name, curve in result.curves.items()}
        assert last["rhpbe:0.05"] ** 2 == pytest.approx(exact.huber_projected_bellman_error(p, v, d, 0.05), rel=1e-6)
        assert last["rhbe"] ** 2 == pytest.approx(exact.huber_bellman_error(p, v, d, 1.0), rel=1e-6)
        assert last["rhbe:0.2"] ** 2 == pytest.approx(exact.huber_bellman_error(p, v, d, 0.2), rel=1e-6)
        assert last["rhpbe:0.05"] < last["rmspbe"]
    np.testing.assert_allclose(result.curves["rhpbe:1e6"], result.curves["rmspbe"], rtol=1e-4, atol=1e-5)
    w0 = p.features @ p.initial_weights
    assert result.initial["rhbe"] ** 2 == pytest.approx(exact.huber_bellman_error(p, w0, d, 1.0), rel=1e-6)
    plain = gpbe.predict(p, "tdrc", metrics=("rmspbe",), **options)
    np.testing.assert_allclose(plain.curves["rmspbe"], result.curves["rmspbe"], rtol=1e-5)
    means = gpbe.predict(p, "tdrc", metrics=("rhpbe:0.05",), average=True, **options)
    np.testing.assert_allclose(means.curves["rhpbe:0.05"], result.curves["rhpbe:0.05"].mean(1), rtol=1e-5)
    np.testing.assert_allclose(means.areas["rhpbe:0.05"], result.areas["rhpbe:0.05"], rtol=1e-5)


@pytest.mark.parametrize("name", ["lstd", "svrg"])
def test_algorithms_of_other_loops_have_them_too(name):
    p = problem()
    result = gpbe.predict(p, name, metrics=("rhbe:0.3",), steps=40, runs=2, every=10)
    assert result.curves["rhbe:0.3"].shape == (2, 4)
    v = p.features @ result.weights[1].astype(float)
    exactly = exact.huber_bellman_error(p, v, p.behavior_distribution, 0.3)
    assert result.curves["rhbe:0.3"][1, -1] ** 2 == pytest.approx(exactly, rel=1e-5)


@pytest.mark.slow
def test_metrics_of_networks_are_the_exact_errors():
    p, d = problem(), problem().behavior_distribution
    phi = np.random.default_rng(0).standard_normal((S, 2))
    names = ("rhbe:0.2", "rhpbe:0.02", "rhgpbe:0.02", "rmspbe")
    result = gpbe.predict(
        p, "tdc", net=(1,), steps=40, runs=2, every=20, metrics=names, projection=phi, step_size=0.05, seed=1
    )
    for run in range(2):
        v = result.values[run, -1].astype(float)
        last = {name: curve[run, -1] ** 2 for name, curve in result.curves.items()}
        assert last["rhbe:0.2"] == pytest.approx(exact.huber_bellman_error(p, v, d, 0.2), rel=1e-6)
        given = exact.huber_projected_bellman_error(p, v, d, 0.02, projection=phi)
        assert last["rhgpbe:0.02"] == pytest.approx(given, rel=1e-6)
        assert 0 < last["rhpbe:0.02"] < last["rmspbe"]
        gradients = gradients_of(result.network(run).v, p.features)
        own = exact.huber_projected_bellman_error(p, v, d, 0.02, projection=gradients)
        assert last["rhpbe:0.02"] == pytest.approx(own, rel=1e-3)


def gradients_of(net, x):
    """The values' derivatives in each weight, by differences in 64 bits: one ReLU unit, and a head."""
    weight, bias = np.asarray(net.body.layers[0].weight, float), np.asarray(net.body.layers[0].bias, float)
    out, lift = np.asarray(net.head.weight, float)[0, 0], np.asarray(net.head.bias, float)[0]

    def values(w):
        return w[-2] * np.maximum(x @ w[:K] + w[K], 0) + w[-1]

    w = np.concatenate([weight[0], bias, [out, lift]])
    return np.stack([(values(w + e) - values(w - e)) / 2e-6 for e in 1e-6 * np.eye(len(w))], axis=1)


def test_values_that_are_not_finite_have_infinite_errors():
    p, values = problem(), np.ones((2, S))
    values[1, 3] = np.inf
    for name in ROBUST:
        found = measure_robust(p, Named(name, 0.1), values, p.behavior_distribution, p.features)
        assert np.isfinite(found[0])
        assert np.isinf(found[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ("rhpbe:-1",)}, "the threshold of rhpbe is '-1'; write a number above 0"),
        ({"metrics": ("rhpbe:many",)}, "the threshold of rhpbe is 'many'"),
        ({"metrics": ("rmspbe:1",)}, "rmspbe has no threshold"),
        ({"metrics": ("rhpeb:1",)}, "there is no metric 'rhpeb'; did you mean 'rhpbe'"),
        ({"metrics": ("rhgpbe",), "net": (4,)}, "rhgpbe needs the features of H"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(InputError, match=message):
        gpbe.predict(problem(), "td", steps=10, **options)


def test_a_log_has_none():
    log = mdp.Log.simulate(problem(), steps=20, seed=0)
    for net in (None, (4,)):
        with pytest.raises(InputError, match="rhbe needs"):
            gpbe.predict(log, "td", metrics=("rhbe",), net=net)
