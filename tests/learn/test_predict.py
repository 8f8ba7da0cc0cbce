"""`gpbe.predict`: its shapes, data, metrics, sweeps, divergence, logs, optimizers, and what it refuses."""

import importlib
from dataclasses import replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gpbe
from gpbe import InputError, exact, mdp
from gpbe.learn.linear.side_by_side import learn_all
from gpbe.learn.prediction import Prediction
from gpbe.mdp.simulate import simulate
from helpers.samples import few

STATES, ACTIONS, FEATURES, RUNS, STEPS = 7, 3, 5, 3, 60


def problem_of(seed: int = 0, **changes) -> mdp.PredictionProblem:
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(STATES, ACTIONS, 3, gamma=0.9, rng=rng, termination=0.2)
    target = rng.dirichlet(np.ones(ACTIONS), STATES)
    problem = mdp.PredictionProblem(
        m,
        target,
        0.5 * target + 0.5 / ACTIONS,
        rng.standard_normal((STATES, FEATURES)),
        initial_weights=[1, 0, 2, 0, 1],
    )
    return problem.replace(**changes) if changes else problem


def predict(problem=None, algorithm="tdc", **given) -> Prediction:
    """Few shapes for all tests: compiling takes longer than learning."""
    source = problem_of() if problem is None else problem
    runs = {} if isinstance(source, mdp.Log) else {"steps": STEPS, "runs": RUNS}
    return gpbe.predict(source, algorithm, **(runs | {"every": 5, "step_size": 0.05} | given))


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("swept", "leading", "average"),
    [({}, (), False), ({}, (), True), ({"step_size": [0.1]}, (1,), False), ({"lam": [0, 0.5]}, (2,), True)],
)
def test_shapes(swept, leading, average):
    result = predict(average=average, **swept)
    points = STEPS // 5
    np.testing.assert_array_equal(result.steps, np.arange(5, STEPS + 1, 5))
    assert list(result.curves) == ["rmsve", "rmspbe"]
    for name in result.curves:
        assert result.curves[name].shape == ((*leading, points) if average else (*leading, RUNS, points))
        assert result.areas[name].shape == result.finals[name].shape == (*leading, RUNS)
        assert result.initial[name].shape == ()
        assert (name in result.errors) == average
    assert result.weights.shape == result.second_weights.shape == (*leading, RUNS, FEATURES)
    assert result.diverged_at.shape == (*leading, RUNS)
    assert {k: v.tolist() for k, v in result.settings.items()} == swept
    assert result.algorithm == "tdc"


def test_a_grid_is_every_combination_in_order():
    values = {"step_size": [0.1, 0.2], "lam": [0.0, 0.5, 0.9], "ratio": 3.0}
    grid = gpbe.grid(**values)
    rows = list(zip(*(grid[name] for name in values), strict=True))
    assert rows == list(product([0.1, 0.2], [0.0, 0.5, 0.9], [3.0]))


# ---------------------------------------------------------------- sweeps


def test_a_swept_setting_is_the_setting_alone():
    grid = gpbe.grid(step_size=[0.02, 0.05], lam=[0.3, 0.8])
    together = predict(**grid)
    for i in range(4):
        alone = predict(**{k: float(v[i]) for k, v in grid.items()})
        np.testing.assert_allclose(together.weights[i], alone.weights, rtol=1e-5, atol=1e-6)
        for name in ("rmsve", "rmspbe"):
            np.testing.assert_allclose(together.curves[name][i], alone.curves[name], rtol=1e-5)


def test_chunks_are_one_chunk_bit_for_bit(monkeypatch):
    """Seven settings, two at a time: three full chunks and one that is padded."""
    given = {"lam": np.linspace(0, 0.9, 7), "metrics": ("distance", "rmsve")}
    whole, told = predict(**given), []
    monkeypatch.setattr(importlib.import_module("gpbe.learn.linear.predict"), "LANES", 2 * RUNS)
    parts = predict(**given, advance=told.append)
    assert told == [2, 2, 2, 1]
    for field in ("weights", "second_weights", "diverged_at"):
        np.testing.assert_array_equal(getattr(parts, field), getattr(whole, field))
    for field, name in product(("curves", "areas", "finals"), given["metrics"]):
        np.testing.assert_array_equal(getattr(parts, field)[name], getattr(whole, field)[name])
    assert len(np.unique(whole.weights[..., 0])) == 7 * RUNS


def test_other_numbers_do_not_compile_again():
    predict(lam=0.1)
    compiled = learn_all._cache_size()
    predict(problem_of(3), lam=0.2, step_size=0.01, ratio=2.0, seed=5, initial_weights=np.ones(FEATURES))
    assert learn_all._cache_size() == compiled


def test_averages_are_those_of_the_runs():
    runs, mean = predict(), predict(average=True)
    curves = runs.curves["rmsve"].astype(float)
    np.testing.assert_allclose(mean.curves["rmsve"], curves.mean(0), rtol=1e-6)
    np.testing.assert_allclose(mean.errors["rmsve"], curves.std(0, ddof=1) / np.sqrt(RUNS), rtol=1e-4)
    np.testing.assert_array_equal(mean.weights, runs.weights)
    np.testing.assert_allclose(mean.areas["rmsve"], curves.mean(1), rtol=1e-6)
    np.testing.assert_allclose(mean.finals["rmsve"], curves[:, -3:].mean(1), rtol=1e-6)  # a quarter of 12 points
    six = predict(every=10)
    last = six.curves["rmsve"][:, -2:].mean(1)  # of 6 points a quarter is between 1 and 2
    np.testing.assert_allclose(six.finals["rmsve"], last, rtol=1e-6)


# ---------------------------------------------------------------- data


def by_hand(problem: mdp.PredictionProblem, alphas, seed: int, corrected: bool = False) -> np.ndarray:
    """TD(0), or TDC(0) with equal steps, on the transitions of `simulate`, in float64."""
    data = mdp.simulate(problem.mdp, problem.behavior, STEPS, RUNS, seed)
    x, learned = problem.features, []
    for run in range(RUNS):
        w, h = np.array(problem.initial_weights), np.zeros(FEATURES)
        for t in range(STEPS):
            s, a, n = data.state[run, t], data.action[run, t], data.next_state[run, t]
            rho = problem.target[s, a] / problem.behavior[s, a]
            delta = data.reward[run, t] + data.discount[run, t] * w @ x[n] - w @ x[s]
            d_w, d_h = rho * delta * x[s], rho * delta * x[s] - h @ x[s] * x[s]
            if corrected:
                d_w = d_w - rho * data.discount[run, t] * (h @ x[s]) * x[n]
            w, h = w + alphas[t] * d_w, h + alphas[t] * d_h
        learned.append(w)
    return np.array(learned)


@pytest.mark.parametrize(("algorithm", "corrected"), [("td", False), ("tdc", True)])
def test_every_algorithm_learns_from_the_transitions_of_simulate(algorithm, corrected):
    for seed in (0, 11):
        expected = by_hand(problem_of(), np.full(STEPS, 0.05), seed, corrected)
        np.testing.assert_allclose(predict(None, algorithm, seed=seed).weights, expected, rtol=1e-4, atol=1e-5)


def test_a_seed_decides_and_seeds_differ():
    first, again, other = (predict(seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.weights, again.weights)
    np.testing.assert_array_equal(first.curves["rmsve"], again.curves["rmsve"])
    everything = np.concatenate([first.weights, other.weights])
    assert len(np.unique(everything[:, 0])) == 2 * RUNS  # runs differ, too
    # the picks of SVRG as well
    log = mdp.Log.simulate(problem_of(), STEPS, seed=1)
    svrg = [predict(log, "svrg", seed=seed, every=STEPS, metrics=()).weights for seed in (0, 0, 1)]
    np.testing.assert_array_equal(svrg[0], svrg[1])
    assert not np.array_equal(svrg[0], svrg[2])


def test_learning_starts_at_the_initial_weights():
    problem, tiny = problem_of(), {"step_size": 1e-12, "metrics": ("distance",)}
    np.testing.assert_allclose(predict(problem, **tiny).weights, np.tile([1, 0, 2, 0, 1], (RUNS, 1)), atol=1e-7)
    there = [3, 1, 4, 1, 5]
    result = predict(problem, **tiny, initial_weights=there)
    np.testing.assert_allclose(result.weights, np.tile(there, (RUNS, 1)), rtol=1e-6)
    w = exact.fixed_point(problem, "pbe", "behavior")
    assert result.initial["distance"] == pytest.approx(np.linalg.norm(there - w), rel=1e-5)


def test_features_may_differ_between_runs():
    x = np.random.default_rng(5).standard_normal((RUNS, STATES, FEATURES))
    together = predict(problem_of(features=x))
    for run in range(RUNS):
        alone = predict(problem_of(features=x[run]))
        np.testing.assert_allclose(together.weights[run], alone.weights[run], rtol=1e-5, atol=1e-6)
        for name in ("rmsve", "rmspbe"):
            np.testing.assert_allclose(together.curves[name][run], alone.curves[name][run], rtol=1e-4)
            np.testing.assert_allclose(together.initial[name][run], alone.initial[name], rtol=1e-4)


@pytest.mark.parametrize("suffix", ["toml", "npz", "parquet"])
def test_a_problem_is_found_by_name_or_in_a_file(tmp_path, suffix):
    given = {"steps": 20, "step_size": 0.01}
    itself, named = gpbe.predict(mdp.baird(), "td", **given), gpbe.predict("baird", "td", **given)
    np.testing.assert_array_equal(named.weights, itself.weights)
    file = tmp_path / f"mine.{suffix}"
    if suffix == "parquet":
        log = mdp.Log.simulate(mdp.baird(), 20, seed=1)
        log.write(file)
        itself = gpbe.predict(log, "td", **given)
    else:
        mdp.save(mdp.baird(), file)
    for path in (file, str(file)):
        np.testing.assert_array_equal(gpbe.predict(path, "td", **given).weights, itself.weights)


def test_what_was_not_swept_is_told():
    assert predict(None, "td", lam=[0.1, 0.2]).held == {"step_size": 0.05, "power": 0.0, "delay": 1000.0}
    assert gpbe.predict("boyan", "lstd", steps=5, ridge=0.5).held == {"lam": 0.0, "ridge": 0.5}


# ---------------------------------------------------------------- metrics


@pytest.mark.parametrize("weighting", ["behavior", "target", "uniform", [1, 2, 0, 4, 5, 6, 7]])
def test_metrics_are_the_exact_errors_at_the_weights(weighting):
    problem = problem_of()
    result = predict(problem, weighting=weighting, metrics=("rmsve", "rmspbe", "rmsbe"))
    d = exact.weighting(problem, weighting) if isinstance(weighting, str) else np.array(weighting) / sum(weighting)
    errors = {
        "rmsve": exact.value_error,
        "rmspbe": exact.projected_bellman_error,
        "rmsbe": exact.bellman_error,
    }
    points = [(problem.initial_weights, lambda name: result.initial[name])]
    points += [(w, lambda name, run=run: result.curves[name][run, -1]) for run, w in enumerate(result.weights)]
    for w, measured in points:
        v = problem.features @ np.asarray(w, dtype=float)
        for name, error in errors.items():
            assert measured(name) == pytest.approx(np.sqrt(error(problem, v, d)), rel=2e-5)


def test_distance_is_to_the_fixed_point_of_each_setting():
    problem, lams = problem_of(), [0.0, 0.4, 1.0]
    result = predict(problem, "tree-backup", lam=lams, metrics=("distance",))
    for i, lam in enumerate(lams):
        table = np.broadcast_to(lam * problem.behavior[..., None], problem.mdp.transition.shape)
        A, b, _ = exact.linear_system(problem, "behavior", table)
        expected = np.linalg.norm(result.weights[i] - np.linalg.solve(A, b), axis=-1)
        np.testing.assert_allclose(result.curves["distance"][i, :, -1], expected, rtol=1e-4)


def test_a_coarse_curve_is_a_fine_one_seen_less_often():
    coarse, fine = predict(), predict(every=1)
    np.testing.assert_array_equal(fine.steps, np.arange(1, STEPS + 1))
    np.testing.assert_allclose(coarse.curves["rmsve"], fine.curves["rmsve"][:, 4::5], rtol=1e-5)
    np.testing.assert_allclose(coarse.weights, fine.weights, rtol=1e-5, atol=1e-7)


# ---------------------------------------------------------------- divergence


def test_divergence_is_noted_where_the_weight_leaves_float32():
    """One state with feature 1: w is multiplied by about -step_size / 2, and passes 3.4e38 at a known step."""
    rows, largest = STEPS + 1, float(np.finfo(np.float32).max)
    log = mdp.Log(np.ones((rows, 1)), np.ones(rows), np.full(rows, 0.5), np.full(rows, 0.5), np.full(rows, 0.5))
    sizes = [1.0, 1e2, 1e5, 1e10, 1e30]
    result = predict(log, "td", step_size=sizes, every=1, metrics=("distance",))
    for i, size in enumerate(sizes):
        w = [0.0]
        for _ in range(STEPS):
            w.append(w[-1] + size * (1 - 0.5 * w[-1]) if abs(w[-1]) <= largest else np.inf)
        left = np.flatnonzero(np.abs(w) > largest)
        assert result.diverged_at[i, 0] == (left[0] if len(left) else -1)
        curve = result.curves["distance"][i, 0]
        assert np.isinf(curve[np.abs(w[1:]) > largest]).all()
        assert np.isfinite(curve[np.abs(w[1:]) < 1e19]).all()  # beyond that the square overflows first
    assert len(np.unique(result.diverged_at)) == 5


def test_a_run_that_diverges_leaves_the_others_alone():
    x = np.random.default_rng(5).standard_normal((RUNS, STATES, FEATURES))
    wild = x * np.array([1, 1e3, 1])[:, None, None]
    calm, mixed = predict(problem_of(features=x)), predict(problem_of(features=wild))
    assert (calm.diverged_at == -1).all()
    assert mixed.diverged_at[1] > 0
    assert np.isinf(mixed.curves["rmsve"][1, -1])
    for run in (0, 2):
        assert mixed.diverged_at[run] == -1
        np.testing.assert_array_equal(mixed.weights[run], calm.weights[run])
        np.testing.assert_array_equal(mixed.curves["rmsve"][run], calm.curves["rmsve"][run])
    settings = predict(step_size=[0.05, 1e4, 0.02])
    assert (settings.diverged_at > 0).all(1).tolist() == [False, True, False]
    np.testing.assert_array_equal(settings.weights[[0, 2]], predict(step_size=[0.05, 0.01, 0.02]).weights[[0, 2]])


# ---------------------------------------------------------------- steps


def test_the_step_size_falls_as_the_schedule_says():
    t = np.arange(STEPS)
    alphas = 0.05 * (1 + t / 7.0) ** -0.6
    expected = by_hand(problem_of(), alphas, seed=0)
    result = predict(None, "td", power=0.6, delay=7.0)
    np.testing.assert_allclose(result.weights, expected, rtol=1e-4, atol=1e-5)


def test_adam_is_optax_adam_on_both_weights():
    """TDC(0) on a log, with h four times as fast as w."""
    log = mdp.Log.simulate(problem_of(), STEPS, seed=2)
    w = h = jnp.zeros(FEATURES)
    optimizers = optax.adam(0.01), optax.adam(0.04)
    states = optimizers[0].init(w), optimizers[1].init(h)
    x, nexts = log.features.astype(np.float32), log.next_features.astype(np.float32)

    @jax.jit
    def step(w, h, states, x, after, reward, rho, gamma):
        delta = reward + gamma * w @ after - w @ x
        gradients = -rho * (delta * x - gamma * (h @ x) * after), -(rho * delta - h @ x) * x
        moves = [o.update(g, s) for o, g, s in zip(optimizers, gradients, states, strict=True)]
        return w + moves[0][0], h + moves[1][0], (moves[0][1], moves[1][1])

    for t in range(STEPS):
        w, h, states = step(
            w, h, states, x[t], nexts[t], log.reward[t], log.target[t] / log.behavior[t], log.discount[t]
        )
    result = predict(log, optimizer="adam", step_size=0.01, ratio=4.0, metrics=())
    np.testing.assert_allclose(result.weights[0], w, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(result.second_weights[0], h, rtol=1e-3, atol=1e-5)


def test_mirror_prox_steps_with_the_direction_found_half_way():
    log = mdp.Log.simulate(problem_of(), STEPS, seed=2)
    w = h = np.zeros(FEATURES)

    def direction(t: int, w, h):
        x, n, rho, gamma = log.features[t], log.next_features[t], log.target[t] / log.behavior[t], log.discount[t]
        delta = log.reward[t] + gamma * w @ n - w @ x
        return (h @ x) * (x - rho * gamma * n), (rho * delta - h @ x) * x

    for t in range(STEPS):
        d_w, d_h = direction(t, w, h)
        d_w, d_h = direction(t, w + 0.05 * d_w, h + 0.1 * d_h)
        w, h = w + 0.05 * d_w, h + 0.1 * d_h
    result = predict(log, "gtd2-mp", ratio=2.0, metrics=())
    np.testing.assert_allclose(result.weights[0], w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(result.second_weights[0], h, rtol=1e-4, atol=1e-6)


# ---------------------------------------------------------------- choosing


def made_up(scores: np.ndarray) -> Prediction:
    """Four settings, five runs."""
    empty = np.zeros((4, 5))
    return Prediction(
        algorithm="td",
        steps=np.arange(3),
        curves={},
        errors={},
        areas={"rmsve": scores},
        finals={"rmsve": scores[::-1]},
        initial={},
        weights=empty,
        second_weights=empty,
        diverged_at=empty,
        settings={"step_size": np.array([0.1, 0.2, 0.3, 0.4])},
    )


def test_the_best_setting_comes_with_its_rivals():
    """Runs are paired: setting 1 loses to 2 in every run by a little, 3 wins some and loses some, 0 diverged once."""
    noise = np.array([-2.0, -1, 0, 1, 2])
    best = 5 + noise
    mixed = np.array([0.9, -1, 1, -1, 0.4])
    scores = np.stack([[4, 4, 4, 4, np.inf], best + 0.1 + 0.001 * noise, best, best + mixed])
    chosen = made_up(scores).best("rmsve")
    assert (chosen.index, chosen.setting) == (2, {"step_size": 0.3})
    assert chosen.mean == pytest.approx(5)
    assert chosen.standard_error == pytest.approx(np.sqrt(2.5 / 5))
    np.testing.assert_array_equal(chosen.rivals, [2, 3])
    assert made_up(scores).best("rmsve", by="final").index == 1


def test_choosing_is_refused_where_there_is_no_choice():
    with pytest.raises(InputError, match="nothing was swept"):
        replace(made_up(np.ones((4, 5))), settings={}).best("rmsve")
    with pytest.raises(InputError, match="rmsvee"):
        made_up(np.ones((4, 5))).best("rmsvee")
    with pytest.raises(InputError, match="diverged"):
        made_up(np.full((4, 5), np.inf)).best("rmsve")


@pytest.mark.parametrize("algorithm", few(["tdrc", "double-sampling"], ["tdrc"]))
@pytest.mark.parametrize("net", [None, pytest.param((3,), marks=pytest.mark.slow)])
def test_run_k_depends_on_problem_seed_and_k_alone(algorithm, net):
    """Up to rounding, since a compiler may choose other instructions for more runs; the data are equal to the bit."""
    algorithm = "svrg" if net is None and algorithm != "tdrc" else algorithm
    problem = mdp.find("boyan")
    short, wide = (simulate(problem.mdp, problem.behavior, *size, seed=3) for size in ((30, 2), (60, 5)))
    np.testing.assert_array_equal(short.state, wide.state[:2, :30])
    np.testing.assert_array_equal(short.reward, wide.reward[:2, :30])
    few, many = (
        gpbe.predict("boyan", algorithm, steps=30, runs=runs, step_size=0.05, seed=3, net=net) for runs in (2, 5)
    )
    np.testing.assert_allclose(few.weights, many.weights[:2], rtol=1e-4, atol=1e-5)
    assert np.abs(many.weights[0] - many.weights[1]).max() > 1e-3
