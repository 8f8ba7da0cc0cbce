"""Logs of transitions: they teach what the problem does, survive Parquet, and are checked when they are made."""

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import InputError, mdp
from gpbe.algorithms.linear.least_squares import accumulate, trace_sequence

FEATURES = 5


def a_problem() -> mdp.PredictionProblem:
    """Seven states, three actions, five features."""
    rng = np.random.default_rng(0)
    m = mdp.random_mdp(7, 3, 3, gamma=0.9, rng=rng, termination=0.2)
    target = rng.dirichlet(np.ones(3), 7)
    return mdp.PredictionProblem(m, target, 0.5 * target + 0.5 / 3, rng.standard_normal((7, FEATURES)))


# ---------------------------------------------------------------- learning from logs


def test_a_log_of_a_problem_teaches_what_the_problem_does():
    """Bit for bit. AB-Trace is scaled by the extreme probabilities, which a log of this length holds."""
    problem, given = a_problem(), {"lam": 0.7, "seed": 8, "metrics": (), "every": 5}
    log = mdp.Log.simulate(problem, 600, seed=8)
    simulated = gpbe.predict(problem, "ab-trace", steps=600, **given)
    np.testing.assert_array_equal(gpbe.predict(log, "ab-trace", **given).weights, simulated.weights)
    assert np.abs(simulated.weights).min() > 0


def test_metrics_of_a_log_come_from_its_own_sums():
    log = mdp.Log.simulate(a_problem(), 400, seed=8)
    result = gpbe.predict(log, "tdc", lam=0.5, step_size=0.05, every=5, metrics=("rmspbe", "distance"))
    x, y = log.features, log.features - log.discount[:, None] * log.next_features
    rho = log.target / log.behavior
    A, b, C = (x.T * rho) @ y / 400, x.T @ (rho * log.reward) / 400, x.T @ x / 400
    residual = b - A @ result.weights[0]
    pbe = residual @ np.linalg.solve(C, residual)
    assert result.curves["rmspbe"][0, -1] == pytest.approx(np.sqrt(pbe), rel=1e-4)
    A, b, _ = accumulate(log, "tdc", 0.5)
    expected = np.linalg.norm(result.weights[0] - np.linalg.solve(A, b))
    assert result.curves["distance"][0, -1] == pytest.approx(expected, rel=1e-4)


def cut_and_joined(problem: mdp.PredictionProblem) -> tuple[list[mdp.Log], mdp.Log]:
    """Two logs of which the first breaks off in the middle of an episode, and both as one."""
    parts = [mdp.Log.simulate(problem, 300, seed=seed).first(n) for seed, n in ((3, 120), (4, 80))]
    fields = ("features", "next_features", "reward", "discount", "target", "behavior")
    whole = mdp.Log(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields})
    assert np.flatnonzero(whole.breaks).tolist() == [119]
    return parts, whole


@pytest.mark.parametrize("algorithm", ["td", "etd", "alternative-life-td"])
def test_no_trace_goes_on_where_a_log_breaks_off(algorithm):
    parts, whole = cut_and_joined(a_problem())
    systems = [accumulate(part, algorithm, 0.9) for part in parts]
    for got, *each in zip(accumulate(whole, algorithm, 0.9), *systems, strict=True):
        np.testing.assert_allclose(got, (120 * each[0] + 80 * each[1]) / 200, rtol=1e-9)


def test_a_broken_log_is_learned_from_by_its_traces():
    """TDC by hand. At the break the return ends, so its last value is corrected for in full; then e is x again."""
    _, log = cut_and_joined(a_problem())
    t = trace_sequence(log, "tdc", 0.9)
    assert (t.lam == np.where(np.arange(200) == 119, 0.0, 0.9)).all()
    np.testing.assert_array_equal(t.e[120], log.features[120])
    w = h = np.zeros(log.features.shape[1])
    for k, (x, y, e) in enumerate(zip(log.features, log.next_features, t.e, strict=True)):
        gamma = log.discount[k]
        update = t.rho[k] * (log.reward[k] + gamma * w @ y - w @ x) * e
        correction = gamma * (1 - t.lam[k]) * t.rho[k] * (e @ h) * y
        w, h = w + 0.01 * (update - correction), h + 0.01 * (update - (x @ h) * x)
    learned = gpbe.predict(log, "tdc", lam=0.9, step_size=0.01, metrics=(), every=5)
    np.testing.assert_allclose(learned.weights[0], w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(learned.second_weights[0], h, rtol=1e-4, atol=1e-6)


def test_rows_that_follow_one_another_need_no_next_features():
    log = mdp.Log.simulate(a_problem(), 201, seed=3)
    columns = {c: getattr(log, c) for c in ("features", "reward", "discount", "target", "behavior")}
    short = mdp.Log(**columns)
    assert len(short) == 200
    whole = mdp.Log(**columns, next_features=log.next_features)
    given = {"metrics": (), "every": 5}
    a, b = gpbe.predict(short, "tdc", **given), gpbe.predict(whole, "tdc", steps=200, **given)
    np.testing.assert_array_equal(a.weights, b.weights)


@pytest.mark.parametrize("form", ["written", "numbered", "following", "arrays"])
def test_logs_survive_parquet(form, tmp_path):
    log, path = mdp.Log.simulate(a_problem(), 31, seed=3), tmp_path / "log.parquet"
    columns = {c: getattr(log, c) for c in ("reward", "discount", "target", "behavior")}
    numbered = {f"x_{i}": log.features[:, i] for i in range(FEATURES)}
    if form == "written":
        log.write(path)
    elif form == "numbered":
        nexts = {f"next_x_{i}": log.next_features[:, i] for i in range(FEATURES)}
        pl.DataFrame(columns | numbered | nexts).write_parquet(path)
    elif form == "following":
        pl.DataFrame(columns | numbered).write_parquet(path)
    else:
        vectors = {"features": log.features, "next_features": log.next_features}
        pl.DataFrame({**columns, **vectors}).write_parquet(path)
    found = mdp.Log.read(path)
    rows = 30 if form == "following" else 31
    for name in ("features", "next_features", *columns):
        np.testing.assert_array_equal(getattr(found, name), getattr(log, name)[:rows])


# ---------------------------------------------------------------- refused


def a_log(**changes) -> mdp.Log:
    columns = {"reward": [0, 1, 0], "discount": [1, 0, 1], "target": [1, 0.5, 1], "behavior": [0.5, 0.5, 0.5]}
    return mdp.Log(**({"features": np.eye(3)} | columns | changes))


BAD_LOGS = {
    "one row": ({"features": np.eye(3)[:1]}, r"features have shape \(1, 3\).*2 rows at least"),
    "a vector": ({"features": [1, 2, 3]}, r"features have shape \(3,\); they should be \(transitions, features\)"),
    "nan": ({"reward": [0, np.nan, 1]}, r"reward\[1\] is nan"),
    "infinite feature": ({"features": [[1], [np.inf], [2]]}, r"features\[1, 0\] is inf"),
    "lengths": ({"target": [1, 1]}, r"target has shape \(2,\); .* each of 3 rows"),
    "next features": ({"next_features": np.eye(2)}, r"next_features have shape \(2, 2\).*\(3, 3\)"),
    "discount above 1": ({"discount": [1, 1.5, 0]}, r"discount\[row 1\] is 1\.5; it should lie in \[0, 1\]"),
    "probability below 0": ({"target": [1, -0.5, 0]}, r"target\[row 1\] is -0\.5; it should lie in \[0, 1\]"),
    "episodes that come back": (
        {"episode": ["a", "b", "a"]},
        r"episode\[row 2\] is a again, after rows of another",
    ),
    "impossible action": ({"behavior": [0.5, 0, 0.5]}, r"behavior\[row 1\] is 0, so its ratio is infinite"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_logs_that_are_refused(changes, message):
    with pytest.raises(InputError, match=message) as caught:
        a_log(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop("discount"), r"has no column 'discount'; it has reward, target, behavior, features"),
        (lambda f: f.drop("features"), r"has no features: neither a column 'features' nor columns x_0"),
        (
            lambda f: f.with_columns(features=pl.Series([[1.0], [1.0, 2.0], [1.0]])),
            r"features\[row 1\] has 2 numbers, but row 0 has 1",
        ),
        (lambda f: f.with_columns(reward=pl.Series([1.0, None, 2.0])), r"log\.parquet: reward\[row 1\] is missing"),
        (lambda f: f.with_columns(behavior=pl.Series([1.0, 0.0, 1.0])), r"log\.parquet: behavior\[row 1\] is 0"),
        (
            lambda f: f.with_columns(target=pl.Series(["a", "b", "c"])),
            r"log\.parquet: target\[row 0\] is 'a'; it should be a number",
        ),
        (lambda f: f.drop("features").with_columns(x_0=1.0, x_2=2.0), r"x_1"),
        (
            lambda f: f.with_columns(episode=pl.Series([7, 8, 7])),
            r"log\.parquet: episode\[row 2\] is 7 again, after rows of another; the rows of an episode should",
        ),
    ],
)
def test_parquet_files_that_are_refused(change, message, tmp_path):
    columns = {"reward": [0.0, 1, 0], "discount": [1.0, 0, 1], "target": [1.0, 1, 1], "behavior": [0.5, 0.5, 0.5]}
    change(pl.DataFrame(columns | {"features": [[1.0], [2.0], [3.0]]})).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match=message) as caught:
        mdp.Log.read(tmp_path / "log.parquet")
    assert "\n" not in str(caught.value)


def test_files_that_are_no_logs(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        mdp.Log.read(tmp_path / "absent.parquet")
    (tmp_path / "text.parquet").write_text("not a table")
    with pytest.raises(InputError, match=r"text\.parquet is not a Parquet file"):
        mdp.Log.read(tmp_path / "text.parquet")


def test_metrics_of_a_shortened_log_are_those_of_what_was_used():
    """The first hundred rows alone, and the first hundred of four hundred: the same errors."""
    log = mdp.Log.simulate(mdp.problem("random-walk-5"), steps=400, seed=3)
    short, alone = (
        gpbe.predict(source, "td", steps=100, every=20, step_size=0.1, metrics=("rmspbe", "distance"))
        for source in (log, log.first(100))
    )
    for metric in ("rmspbe", "distance"):
        np.testing.assert_array_equal(short.curves[metric], alone.curves[metric])
    whole = gpbe.predict(log, "td", every=20, step_size=0.1, metrics=("distance",))
    assert np.abs(whole.curves["distance"][:, :5] - short.curves["distance"]).max() > 1e-3
