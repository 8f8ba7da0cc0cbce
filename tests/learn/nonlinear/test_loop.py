"""Learning with networks: the linear algorithms as a special case, exact metrics, replay, divergence, refusals."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpbe
from gpbe import InputError, exact, mdp
from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.nonlinear import NonlinearAlgorithm
from gpbe.algorithms.nonlinear.model import values
from gpbe.algorithms.nonlinear.updates import Window, parts
from gpbe.algorithms.nonlinear.weights import state_weights
from gpbe.checks import check_at_least
from gpbe.learn.linear.streams import simulated
from gpbe.learn.nonlinear import predict as module
from gpbe.learn.nonlinear.checks import read_length, read_net
from gpbe.learn.nonlinear.data import read_data, second_sample, take
from gpbe.learn.nonlinear.metrics import measure
from gpbe.learn.predict import read_problem
from gpbe.summary import standard_error
from helpers.samples import few
from helpers.seeds import seed

STATES, ACTIONS, K = 7, 3, 5


class Line(eqx.Module):
    """v(x) = w . x, without a bias: `gpbe.predict`'s value function."""

    w: jax.Array

    def __call__(self, x):
        return self.w @ x


def line(key):
    return Line(jnp.zeros(K))


def problem(seed: int = 0, termination: float = 0.2) -> mdp.PredictionProblem:
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(STATES, ACTIONS, 3, 0.9, rng=rng, termination=termination)
    target, behavior = rng.dirichlet(np.ones(ACTIONS), STATES), rng.dirichlet(3 * np.ones(ACTIONS), STATES)
    return mdp.PredictionProblem(m, target, behavior, rng.standard_normal((STATES, K)) / 2)


# ---------------------------------------------------------------- linear value functions


@pytest.mark.parametrize("prior", few(["", "emphatic-", "alternative-life-"], ["emphatic-"]))
def test_a_linear_function_learns_step_by_step_what_the_linear_algorithms_learn(prior):
    """With gradient features h is linear in x too, and there is no curvature; the data are the same."""
    p = problem()
    linear = {"tdrc": f"{prior}tdrc"}
    if not prior:
        linear |= {"td": "td", "gtd2": "gtd2", "maei-tdc": "tdc"}
    for name, other in linear.items():
        given = {"step_size": 0.02} | ({} if name == "td" else {"ratio": 2.0})
        if name == "tdrc":
            given["beta"] = 0.7
        net = gpbe.predict(p, prior + name, net=line, steps=60, runs=3, every=20, seed=4, metrics=("rmsve",), **given)
        reference = gpbe.predict(p, other, steps=60, runs=3, every=20, seed=4, metrics=("rmsve",), **given)
        np.testing.assert_allclose(net.curves["rmsve"], reference.curves["rmsve"], rtol=1e-4)
        both = np.concatenate([reference.weights, reference.second_weights], axis=1)
        np.testing.assert_allclose(net.weights, both[:, : net.weights.shape[1]], rtol=1e-3, atol=1e-5)


@pytest.mark.learning
@pytest.mark.parametrize("name", few(["tdrc", "tdc"], []))
def test_gradient_methods_reach_the_fixed_point_of_their_data_from_replay(name):
    """The least-squares solution of each run's own transitions, from sums written out here.

    The noise of mini-batches remains, so it is the mean over 16 runs that is compared.
    """
    p, steps, runs = problem(3), 4000, 16
    more = {"ratio": 1.5} if name == "tdc" else {}
    given = {"batch": 40, "buffer": steps, "step_size": 0.7, "power": 0.7, "delay": 500, "metrics": ("rmspbe",)}
    result = gpbe.predict(p, name, net=line, steps=steps, runs=runs, every=steps, seed=seed(), **given, **more)
    data, x, off = mdp.simulate(p.mdp, p.behavior, steps, runs, seed=seed()), p.features, []
    for run in range(runs):
        now, after = x[data.state[run]], x[data.next_state[run]]
        rho = p.ratios[data.state[run], data.action[run]][:, None]
        A = (rho * now).T @ (now - data.discount[run][:, None] * after)
        w = np.linalg.solve(A, (rho * now).T @ data.reward[run])
        off.append((result.weights[run, :K] - w) / np.linalg.norm(w))
    assert np.linalg.norm(np.mean(off, 0)) < 4 * np.linalg.norm(standard_error(off)) + 0.02 < 0.15
    assert np.median(result.curves["rmspbe"][:, -1] / result.initial["rmspbe"]) < 0.3


@pytest.mark.learning
@pytest.mark.slow
def test_a_given_h_leads_to_the_generalized_pbe_of_that_h():
    """The aliased example: H = F makes B and C 1 and 0, an H that tells the alike states apart 3/4 and 1/4."""
    p = mdp.aliased()
    for phi, expected in ((p.features, (0.5, 1.0, 0.0)), (np.eye(4), (0.5, 0.75, 0.25))):
        result = gpbe.predict(
            p,
            "tdc",
            net=lambda key: Line(jnp.zeros(3)),
            basis=phi,
            steps=4000,
            runs=16,
            every=1000,
            batch=32,
            step_size=0.1,
            ratio=5.0,
            metrics=("rmsgpbe",),
            seed=seed(),
        )
        learned = result.values[:, -1, [0, 2, 3]]
        np.testing.assert_array_less(np.abs(learned.mean(0) - expected), 4 * standard_error(learned) + 0.02)
        solution = exact.solution(p, "pbe", "behavior", projection=phi)
        assert result.curves["rmsgpbe"][:, -1].mean() == pytest.approx(np.sqrt(solution.error), abs=0.05)


# ---------------------------------------------------------------- metrics


@pytest.mark.slow
def test_metrics_are_the_exact_ones_of_the_learned_values():
    p, phi = problem(1), np.random.default_rng(0).standard_normal((STATES, 3))
    d = exact.weighting(p, "target")
    names = ("rmsve", "rmsbe", "rmstde", "rmspbe", "rmsgpbe")
    result = gpbe.predict(
        p,
        "tdrc",
        net=(4,),
        steps=40,
        runs=3,
        every=20,
        metrics=names,
        projection=phi,
        weighting="target",
        step_size=0.1,
    )
    for run in range(3):
        v = values(result.network(run), jnp.asarray(p.features.T, jnp.float32))
        np.testing.assert_allclose(v, result.values[run, -1], rtol=1e-4, atol=1e-6)
        module = result.network(run).v
        layer, head = module.body.layers[0], module.head
        active = (np.asarray(layer.weight) @ p.features.T + np.asarray(layer.bias)[:, None]) > 0
        u = np.asarray(head.weight)[0][:, None] * active
        hidden = active * (np.asarray(layer.weight) @ p.features.T + np.asarray(layer.bias)[:, None])
        jacobian = np.concatenate(
            [np.einsum("fs,si->sfi", u, p.features).reshape(STATES, -1), u.T, hidden.T, np.ones((STATES, 1))], 1
        )
        v = np.asarray(v, dtype=float)
        expected = {
            "rmsve": exact.value_error(p, v, d),
            "rmsbe": exact.bellman_error(p, v, d),
            "rmstde": exact.td_error(p, v, d),
            "rmspbe": exact.nonlinear_projected_bellman_error(p, v, d, jacobian),
            "rmsgpbe": exact.projected_bellman_error(p, v, d, projection=phi),
        }
        for name in names:
            assert result.curves[name][run, -1] == pytest.approx(np.sqrt(expected[name]), rel=1e-3)


def test_values_that_are_not_finite_have_infinite_errors_and_spoil_no_others():
    v = np.zeros((3, STATES))
    v[1, 2], v[2, 0] = np.nan, np.inf
    found = measure(problem(), "rmsve", v, problem().behavior_distribution)
    assert np.isfinite(found).tolist() == [True, False, False]


# ---------------------------------------------------------------- runs, settings, replay


def test_divergence_is_recorded_for_its_run_and_disturbs_no_other():
    p = problem()
    given = {"net": (4,), "steps": 100, "runs": 3, "every": 10, "seed": 2, "metrics": "rmsve"}
    both, alone = (gpbe.predict(p, "tdc", step_size=alpha, **given) for alpha in ([0.01, 1e8], 0.01))
    assert (both.diverged_at[0] == -1).all()
    assert ((both.diverged_at[1] > 0) & (both.diverged_at[1] < 100)).all()
    np.testing.assert_allclose(both.curves["rmsve"][0], alone.curves["rmsve"], rtol=1e-4)
    assert np.isinf(both.curves["rmsve"][1, :, -1]).all()
    assert both.settings["step_size"].tolist() == [0.01, 1e8]
    assert both.best("rmsve").index == 0


@pytest.mark.slow
def test_runs_start_from_different_networks_and_seeds_too():
    p = problem()
    one = gpbe.predict(p, "td", net=(4,), steps=1, runs=2, seed=0, step_size=1e-9, metrics="rmsve")
    two = gpbe.predict(p, "td", net=(4,), steps=1, runs=2, seed=1, step_size=1e-9, metrics="rmsve")
    firsts = [one.weights[0], one.weights[1], two.weights[0], two.weights[1]]
    for i in range(4):
        for j in range(i):
            assert np.abs(firsts[i] - firsts[j]).max() > 0.05
    again = gpbe.predict(p, "td", net=(4,), steps=1, runs=2, seed=0, step_size=1e-9, metrics="rmsve")
    np.testing.assert_array_equal(again.weights, one.weights)


@pytest.mark.slow
def test_averages_are_means_of_the_runs():
    p = problem()
    full = gpbe.predict(p, "td", net=(4,), steps=20, runs=3, every=10, metrics="rmsve")
    mean = gpbe.predict(p, "td", net=(4,), steps=20, runs=3, every=10, metrics="rmsve", average=True)
    np.testing.assert_allclose(mean.curves["rmsve"], full.curves["rmsve"].mean(0), rtol=1e-6)
    np.testing.assert_allclose(mean.errors["rmsve"], full.curves["rmsve"].std(0, ddof=1) / 3**0.5, rtol=1e-6)
    np.testing.assert_allclose(mean.areas["rmsve"], full.curves["rmsve"].mean(-1), rtol=1e-6)


@pytest.mark.learning
def test_second_samples_come_from_the_same_state_and_are_independent():
    p = problem(2)
    stream = simulated(p, 4000, 5, seed())
    second = second_sample(p, stream, seed())
    now, first, other = (np.asarray(a).ravel() for a in (stream.now, stream.next, second.next))
    chance = p.mdp.transition_under(p.behavior)
    for s in range(STATES):
        here = now == s
        near = 5 * 0.5 / np.sqrt(here.sum())  # five standard errors of a frequency, at most
        assert near < 0.1
        counts = np.bincount(other[here], minlength=STATES) / here.sum()
        np.testing.assert_allclose(counts, chance[s], atol=near)
        joint = np.histogram2d(first[here], other[here], bins=(range(STATES + 1), range(STATES + 1)))[0] / here.sum()
        np.testing.assert_allclose(joint, np.outer(chance[s], chance[s]), atol=near)


def test_windows_hold_consecutive_transitions_and_the_state_after_them():
    p, by_state = problem(2), np.linspace(0.1, 0.7, STATES)
    data, n, updates = read_data(p, NonlinearAlgorithm(), 3, 10, 1, 0, by_state, None)
    assert (n, updates, data.now.shape) == (3, 10, (1, 12))
    one = jax.tree.map(lambda a: a[0] if a.ndim == 2 and a.shape[0] == 1 else a, data)
    batch = take(one, jnp.array([2, 9]), 3, 0.5 * one.lam, jnp.arange(12.0))
    states = np.array([[2, 3, 4, 5], [9, 10, 11, 12]]).T
    sequence = np.append(one.now, one.next[-1])
    np.testing.assert_allclose(batch.x, p.features.T[:, sequence[states]].astype(np.float32))
    np.testing.assert_allclose(batch.window.reward, np.asarray(one.reward)[states[:3]])
    np.testing.assert_array_equal(batch.window.weight, [2, 9])
    goes_on = (np.asarray(one.discount)[states[:3]] > 0) & (states[:3] < 11)
    assert 0 < goes_on.sum() < 6
    np.testing.assert_allclose(batch.window.lam, goes_on * 0.5 * by_state[sequence[states[1:]]], rtol=1e-6)


@pytest.mark.slow
def test_a_return_to_the_end_of_the_episode_is_one_of_more_transitions_than_any_has():
    """As long as episodes are finished: the last one is cut off where the data end."""
    walk = mdp.PredictionProblem(mdp.random_walk(5), target=[0.4, 0.6], behavior=[0.5, 0.5])
    v = jnp.linspace(-0.5, 2.0, 5)

    @partial(jax.jit, static_argnums=1)
    def errors(data, n):
        data = jax.tree.map(lambda a: a[0], data._replace(observations=None))
        lam = 0.8 * data.lam
        weight = state_weights("emphatic", n, data.discount, data.rho, lam, data.follows)
        at = jnp.arange(60)
        batch = take(data._replace(observations=v[None]), at, n, lam, weight)
        return batch.window.weight * jax.vmap(parts, (1, Window(1, 1, 1, 1, 0)))(batch.x[0], batch.window).error

    whole, long = (read_data(walk, NonlinearAlgorithm(), n, 60, 1, 0, None, None) for n in ("episode", 90))
    assert (whole.updates, long.updates, long.n, long.data.now.shape[1]) == (60, 60, 90, 149)
    ended = np.flatnonzero(np.asarray(whole.data.discount)[0] == 0)
    assert len(ended) > 2
    assert np.diff([-1, *ended, 59]).max() == whole.n < 90
    one, other = errors(whole.data, whole.n), errors(long.data, 90)
    np.testing.assert_allclose(one[: ended[-1] + 1], other[: ended[-1] + 1], rtol=1e-4, atol=1e-5)
    assert np.abs(one - other)[ended[-1] + 1 :].max() > 1e-3


@pytest.mark.slow
def test_longer_returns_agree_with_single_steps_where_lam_is_zero():
    p, given = problem(4), {"net": line, "steps": 50, "runs": 2, "every": 10, "seed": 3, "metrics": ("rmsve",)}
    short = gpbe.predict(p, "tdrc", **given)
    long = gpbe.predict(p, "tdrc", n=4, lam=0.0, **given)
    np.testing.assert_allclose(long.values, short.values, rtol=1e-4, atol=1e-6)
    by_state = gpbe.predict(p, "tdrc", n=4, state_lam=np.zeros(STATES), **given)
    np.testing.assert_allclose(by_state.values, short.values, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_settings_are_learned_in_parts_where_they_would_take_too_much_memory_together(monkeypatch):
    p, given = problem(), {"net": line, "steps": 20, "runs": 2, "every": 10, "step_size": [0.01, 0.02, 0.03], "seed": 1}
    together = gpbe.predict(p, "td", **given)
    monkeypatch.setattr(module, "AT_A_TIME", 2 * 2 * 3 * STATES)  # two settings of two runs, three points and 7 values
    told = []
    apart = gpbe.predict(p, "td", advance=told.append, **given)
    assert told == [2, 1]
    for name, curve in together.curves.items():
        np.testing.assert_allclose(apart.curves[name], curve, rtol=1e-5)
    np.testing.assert_allclose(apart.values, together.values, rtol=1e-5)
    monkeypatch.setattr(module, "RECORDED", 3 * 2 * 3 * STATES - 1)
    with pytest.raises(InputError, match=r"the values at all points of the curves are 1.3e\+02 numbers; give a larger"):
        gpbe.predict(p, "td", metrics="rmsve", **given)


def test_ridges_belong_to_the_basis_and_not_to_another_projection():
    """rmsgpbe of a projection of one's own has no ridge; that of the basis has the basis's."""
    p, phi = problem(1), np.random.default_rng(0).standard_normal((STATES, 2))
    given = {"net": line, "basis": np.eye(STATES), "ridge": 0.5, "steps": 10, "every": 10, "metrics": "rmsgpbe"}
    own, basis = gpbe.predict(p, "tdc", projection=phi, **given), gpbe.predict(p, "tdc", **given)
    v, d = own.values[0, -1].astype(float), p.behavior_distribution
    u = p.expected_reward + p.discounted_transition @ v - v
    y, C = phi.T @ (d * u), (phi * d[:, None]).T @ phi
    assert own.curves["rmsgpbe"][0, -1] == pytest.approx(np.sqrt(y @ np.linalg.solve(C, y)))
    assert basis.curves["rmsgpbe"][0, -1] == pytest.approx(np.sqrt((d**2 * u**2 / (d + 0.5)).sum()))


@pytest.mark.slow
@pytest.mark.learning
def test_kernel_losses_lower_the_bellman_error():
    p = problem(5)
    given = {"steps": 500, "runs": 32, "every": 250, "batch": 20, "step_size": 0.3, "metrics": ("rmsbe",)}
    result = gpbe.predict(p, "kbe", net=(4,), seed=seed(), **given)
    lowered = result.initial["rmsbe"] - result.curves["rmsbe"][:, -1]
    assert lowered.mean() > 3 * standard_error(lowered)  # it is about 7


# ---------------------------------------------------------------- refusals


def learn(source=None, algorithm="tdc", **given):
    chosen = problem() if source is None else source
    return gpbe.predict(chosen, algorithm, **({"net": (4,), "steps": 20, "every": 5} | given))


REFUSED = {
    "algorithm": (lambda: learn(None, "tdcc"), r"no algorithm for networks 'tdcc'; did you mean .*tdc"),
    "nothing like one": (lambda: learn(None, "zzzz"), r"no algorithm for networks 'zzzz'; it should be one of td, tdc"),
    "hyperparameter": (lambda: learn(alpha=1.0), r"no hyperparameter 'alpha'; it should be one of step_size, ratio"),
    "unused": (lambda: learn(None, "td", beta=1.0), r"td does not use 'beta'"),
    "step size": (lambda: learn(step_size=-1.0), r"step_size is -1; it should be above 0"),
    "lengths": (lambda: learn(step_size=[1, 2], ratio=[1, 2, 3]), r"step_size has 2 and ratio has 3"),
    "lam alone": (lambda: learn(lam=0.5), r"give n more than 1"),
    "net": (lambda: learn(net=(4, -1)), r"net is \(4, -1\); give the sizes of hidden layers"),
    "net word": (lambda: read_net("wide"), r"net is 'wide'"),
    "basis": (lambda: learn(basis="tail"), r"no basis of h 'tail'; it should be one of head, network, gradient"),
    "basis shape": (lambda: learn(basis=np.ones((3, 2))), r"basis has shape \(3, 2\); .* \(7, features\)"),
    "basis of td": (lambda: learn(None, "td", basis="head"), r"does not learn h; leave basis out"),
    "head of a module": (lambda: learn(net=line, basis="head"), r"no last layer to put a head on"),
    "maei's basis": (lambda: learn(None, "maei-tdc", basis="head"), r"h linear in the gradient of v"),
    "ridge alone": (lambda: learn(ridge=1.0), r"ridge penalizes given features of H"),
    "ridge shape": (lambda: learn(basis=np.eye(7), ridge=[1.0, 2.0]), r"ridge should be 7 numbers"),
    "n": (lambda: learn(n=0), r"n is 0; a return has 1 transition or more"),
    "n word": (
        lambda: learn(n="all"),
        r"n is 'all'; a return has 1 transition or more, or all to the end of its",
    ),
    "n broken": (lambda: read_length(NonlinearAlgorithm(), 2.5, None), r"n is 2.5; a return has 1 transition or more"),
    "n without end": (lambda: learn(problem(termination=0.0), n="episode"), r"no episode ended in these data"),
    "state_lam alone": (lambda: learn(state_lam=np.ones(STATES)), r"give n more than 1"),
    "kernel unused": (lambda: learn(kernel="laplace"), r"kernel is for kbe"),
    "buffer unused": (lambda: learn(buffer=10), r"buffer is for learning from replay; give batch"),
    "width unused": (lambda: learn(width=3), r'width is of a network for h .*; give basis "network"'),
    "width": (lambda: learn(basis="network", width=0), r"width is 0; it should be a whole number, 1 or more"),
    "projection unused": (lambda: learn(projection=np.eye(7)), r"projection is for the metric rmsgpbe"),
    "projection": (lambda: learn(projection=np.eye(6), metrics="rmsgpbe"), r"projection has shape \(6, 6\); .*\(7, "),
    "weighting": (lambda: learn(weighting=[1.0]), r"the weighting has shape \(1,\)"),
    "weightings": (lambda: learn(weighting=np.ones((2, 7))), r"the weighting has shape \(2, 7\); .* each state"),
    "batch of too few": (lambda: learn(batch=21), r"batch is 21, but there are 20 steps"),
    "broken batch": (lambda: check_at_least(1, batch=2.5), r"batch is 2.5; it should be a whole number"),
    "problem": (lambda: read_problem(problem().mdp), r"problem is of type FiniteMDP; give a PredictionProblem"),
    "not a module": (lambda: learn(net=lambda key: 3), r"net makes something of type int; it should make a module"),
    "a vector": (lambda: learn(net=lambda key: jnp.sin), r"takes an observation to \(5,\); not one number"),
    "n of residuals": (lambda: learn(None, "residual-gradient", n=2), r"defined for single transitions; n is 2"),
    "kbe online": (lambda: learn(None, "kbe"), r"needs pairs of samples: give batch"),
    "batch": (lambda: learn(batch=9, buffer=8), r"batch is 9; it should be between 1 and the 8 windows"),
    "kernel": (
        lambda: learn(None, "kbe", batch=4, kernel="sobolev"),
        r"no kernel 'sobolev'; it should be one of gaussian",
    ),
    "optimizer": (lambda: learn(optimizer="lion"), r"no optimizer 'lion'; it should be one of sgd, adam"),
    "metric": (lambda: learn(metrics=("rmse",)), r"no metric 'rmse'; did you mean 'rmsve'"),
    "no projection": (lambda: learn(metrics=("rmsgpbe",)), r"rmsgpbe needs the features of H: give projection"),
    "every": (lambda: learn(every=7), r"every is 7; it should divide the 20 steps"),
    "steps": (lambda: learn(steps=0), r"steps is 0; it should be a whole number, 1 or more"),
    "state_lam": (lambda: learn(n=2, state_lam=[1.0]), r"state_lam has shape \(1,\)"),
    "no episodes": (
        lambda: learn(problem(termination=0.0), "alternative-life-td"),
        r"alternative-life methods need episodes",
    ),
    "linear algorithm": (
        lambda: learn(None, Algorithm()),
        r"is of type Algorithm; give a name, or .*NonlinearAlgorithm",
    ),
    "epochs": (lambda: learn(epochs=2), r"epochs is for linear values; leave net out"),
    "start": (lambda: learn(initial_weights=np.zeros(K)), r"initial_weights is for linear values; leave net out"),
    "network": (lambda: learn(None, "td", net=line, metrics="rmsve").network(0, 0), r"network takes 1 numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_line(case, refuses):
    refuses(*REFUSED[case])
