"""The door: the same answer from many files and processes, intervals that hold the truth, and what is refused."""

import json
import weakref
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import InputError, exact, mdp
from gpbe.evaluation import ESTIMATORS, Estimate, advice
from gpbe.evaluation.linear import LeastSquares, Where
from gpbe.evaluation.page import as_text
from gpbe.evaluation.reading import collected, groupings, surveyed
from helpers.seeds import seed


def a_problem(number: int = 0, termination: float = 0.15, features: int | None = None) -> mdp.PredictionProblem:
    rng = np.random.default_rng(number)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=termination)
    target = rng.dirichlet(np.ones(3), 7)
    x = None if features is None else rng.standard_normal((7, features))
    return mdp.PredictionProblem(m, target, 0.5 * target + 0.5 / 3, x)


def truth(problem: mdp.PredictionProblem) -> float:
    return float(problem.mdp.start @ problem.values)


# ---------------------------------------------------------------- the truth


@pytest.mark.learning
@pytest.mark.parametrize("number", [0, 1])
def test_every_estimate_is_within_five_of_its_errors_of_the_truth(number):
    """Tables can express the values, so everything is consistent; with a table each estimator is asked for."""
    p = a_problem(number)
    found = gpbe.evaluate(mdp.Log.simulate(p, 20_000, seed=seed(number + 1)))
    assert list(found.estimates) == list(ESTIMATORS)
    for estimate in found.estimates.values():
        assert abs(estimate.value - truth(p)) < 5 * estimate.error, estimate
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    assert not found.diagnostics.warnings


@pytest.mark.learning
def test_errors_are_those_of_the_exact_variance():
    """The mean squared error estimate over logs against the closed form, for estimators that have one."""
    p = a_problem(2, termination=0.5)
    logs = [mdp.Log.simulate(p, 4000, seed=seed(k)) for k in range(6)]
    found = [gpbe.evaluate(log, ("is", "pdis", "wis")) for log in logs]
    for name in ("is", "pdis", "wis"):
        said = np.array([f[name].error ** 2 * f.diagnostics.survey.episodes for f in found])
        exactly = exact.importance_sampling(p)[name].variance
        assert said.mean() == pytest.approx(exactly, abs=4 * said.std(ddof=1) / np.sqrt(6) + 0.02 * exactly)


def covered(p, logs: int, rows: int, names, **options) -> dict[str, float]:
    """How often intervals hold the truth."""
    inside = {name: [] for name in names}
    for k in range(logs):
        found = gpbe.evaluate(mdp.Log.simulate(p, rows, seed=seed(100 + k)), names, **options)
        for name in names:
            low, high = found[name].interval
            inside[name].append(low <= truth(p) <= high)
    return {name: float(np.mean(each)) for name, each in inside.items()}


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_of_whole_returns_hold_the_truth_with_few_effective_episodes(level):
    """400 logs of 150 episodes that are worth 35: Student's quantile with g - 1 degrees, and an error without the
    jackknife, hold it in 0.85 of them where 0.9 is said.
    """
    rng = np.random.default_rng(0)
    m = mdp.random_mdp(7, 3, 3, gamma=0.95, rng=rng, termination=0.15)
    p = mdp.PredictionProblem(m, rng.dirichlet(np.ones(3), 7), np.full((7, 3), 1 / 3))
    for name, frequency in covered(p, 400, 1000, ("is", "wis", "pdis", "wpdis"), level=level).items():
        assert frequency > level - 3 * np.sqrt(level * (1 - level) / 400), (name, frequency)
        assert frequency < level + 0.06, (name, frequency)


CONSISTENT = ("pdis", "wpdis", "dr", "wdr", "lstd", "lsetd", "mis", "fqe")


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("method", ["asymptotic", "bootstrap"])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(method, level):
    """300 logs: four standard errors of a frequency are 0.07 and 0.05. Whole returns have tails too heavy for this."""
    found = covered(a_problem(0), 300, 3000, CONSISTENT, interval=method, level=level, resamples=200)
    for name, frequency in found.items():
        assert abs(frequency - level) < 4 * np.sqrt(level * (1 - level) / 300) + 0.02, (name, frequency)


@pytest.mark.learning
def test_blocks_take_the_place_of_episodes():
    """A continuing problem: values over the log's states, from 30 logs; a lower bound that a wrong error would miss."""
    p = a_problem(3, termination=0.0)
    value = float(p.behavior_distribution @ p.values)
    inside = []
    for k in range(30):
        found = gpbe.evaluate(mdp.Log.simulate(p, 2000, seed=seed(k)), "lstd", at="log", level=0.9)
        inside.append(found.interval[0] <= value <= found.interval[1])
    assert found.diagnostics.block == 40
    assert np.mean(inside) > 0.9 - 4 * np.sqrt(0.09 / 30)


@pytest.mark.learning
@pytest.mark.parametrize("name", ["tdrc", "etd"])
def test_what_predict_learns_is_an_estimate_too(name):
    """Emphatic methods among them."""
    p = a_problem(0)
    log = mdp.Log.simulate(p, 6000, seed=seed(5))
    found = gpbe.evaluate(log, name, step_size=0.05, resamples=20)
    learned = gpbe.predict(log, name, step_size=0.05, metrics=(), every=6000)
    begins = ~np.append(False, log.continues[:-1])
    expected = log.features[begins].mean(0) @ learned.weights[0]
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.interval[0] < found.value < found.interval[1] or found[name].error > 0
    assert found[name].method == "bootstrap"


# ---------------------------------------------------------------- the same from many files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for k in range(3):
        mdp.Log.simulate(a_problem(0, features=4), 1500, seed=k).write(folder / f"{k}.parquet")
    return folder


def test_several_files_are_one_log(files):
    """Sums over files are those over all rows; only the groups of the interval differ."""
    apart = gpbe.evaluate(str(files / "*.parquet"), lam=0.5)
    whole = gpbe.evaluate(mdp.scan_log(str(files / "*.parquet")).read(), lam=0.5)
    for name in ("is", "wis", "pdis", "wpdis", "lstd", "lsetd", "fqe", "mis"):
        assert apart[name].value == pytest.approx(whole[name].value, rel=1e-9), name
        assert apart[name].error == pytest.approx(whole[name].error, rel=0.3)
    assert apart.diagnostics.survey.rows == 4500


def test_files_that_disagree_are_refused(files, tmp_path, refuses):
    mdp.Log.simulate(a_problem(0, features=3), 50, seed=1).write(tmp_path / "narrow.parquet")
    both = [files / "0.parquet", tmp_path / "narrow.parquet"]
    refuses(lambda: gpbe.evaluate(both, "lstd"), r"narrow\.parquet has 3 features, but .*0\.parquet has 4")


@pytest.mark.slow
def test_workers_change_nothing(files):
    one, two = (gpbe.evaluate(str(files / "*.parquet"), workers=n) for n in (1, 2))
    for name in one.estimates:
        assert one[name].value == two[name].value
        assert one[name].interval == two[name].interval


def test_sums_of_parts_are_added_as_they_come(files):
    """With many files no more than two parts' sums are ever held: the whole so far, and the latest."""
    (first,) = mdp.scan_log(files / "0.parquet").tables
    source = mdp.LogFiles((first,) * 7, mdp.scan_log(files / "0.parquet").layout)
    made, held = [], []

    class Parts(LeastSquares):
        def add(self, walk, memory):
            if "known" in memory:
                return {}
            memory["known"] = True
            held.append(sum(each() is not None for each in made))
            part = np.ones(walk.groups)
            made.append(weakref.ref(part))
            return {"parts": part}

    (sums,) = collected(
        source, [Parts("parts", Where("start"))], groupings(surveyed(source, 1, lambda n: None), 1), 1, lambda n: None
    )
    np.testing.assert_array_equal(sums["parts"], 7)
    assert max(held) == 1


# ---------------------------------------------------------------- what a person must know


def test_networks_that_had_not_settled_are_named():
    """Where the last round of fitting still moved values by a tenth of their deviation, and not where it hardly did."""
    log = mdp.Log.simulate(a_problem(0), 400, seed=1)
    found = gpbe.evaluate(log, ["wis", "lstd"])

    def said(change: float) -> list[str]:
        fitted = Estimate("fqe", 1.0, 0.1, (0.8, 1.2), "bootstrap", network=True, change=change)
        every = advice.warnings(found.diagnostics.survey, found.diagnostics.calibration, {"fqe": fitted})
        return [line for line in every if "settled" in line]

    assert said(0.001) == []
    assert len(said(0.1)) == 1
    assert said(0.1)[0].startswith("fqe: ")
    assert "10% of their deviation" in said(0.1)[0]
    assert all(estimate.change == 0 for estimate in found.estimates.values())


def test_wrong_probabilities_are_noticed():
    p = a_problem(0)
    log = mdp.Log.simulate(p, 5000, seed=2)
    columns = {name: getattr(log, name) for name in ("features", "reward", "discount", "target", "next_features")}
    wrong = mdp.Log(**columns, behavior=np.clip(0.8 * log.behavior, 0.01, 1))
    found = gpbe.evaluate(wrong, "lstd")
    assert found.diagnostics.calibration.suspicious
    assert any("do not average to 1" in warning for warning in found.diagnostics.warnings)
    assert not gpbe.evaluate(log, "lstd").diagnostics.calibration.suspicious


def test_with_wrong_probabilities_an_estimate_without_ratios_is_recommended():
    log = mdp.Log.simulate(a_problem(0), 5000, seed=2)
    columns = {name: value for name, value in log._arrays.items() if name != "continues"}
    wrong = mdp.Log(**columns | {"behavior": np.clip(1.2 * log.behavior, 0.01, 1)})
    found = gpbe.evaluate(wrong)
    assert found.recommended == "fqe"
    assert "look wrong, and it alone does not use them" in found.reason
    assert "look wrong, and then so is this" in gpbe.evaluate(wrong, ("dr", "wdr")).reason


def test_whole_returns_are_not_recommended_for_having_missed_what_is_rare():
    """One of 200 episodes has all the reward, and a product of ratios that is nearly 0 at its end."""
    n, rng = 400, np.random.default_rng(0)
    behavior, reward = np.full(n, 0.5), np.zeros(n)
    target = rng.choice([0.4, 0.6], n)
    reward[100], target[101] = 1000.0, 1e-3
    x = np.tile(np.eye(2), (n // 2, 1))
    log = mdp.Log(x, reward, np.tile([0.9, 0.0], n // 2), target, behavior, x[::-1])
    found = gpbe.evaluate(log, ("is", "wis", "pdis", "wpdis"))
    assert found["is"].error < 0.1 * found["pdis"].error
    assert found.recommended in ("pdis", "wpdis")
    assert any("one episode or two make up nearly all of the error of" in w for w in found.diagnostics.warnings)
    assert gpbe.evaluate(log, ("is", "wis")).recommended == "wis"


@pytest.mark.parametrize(("error", "best"), [(0.9, "wpdis"), (0.7, "dr")])
def test_the_simplest_estimate_is_recommended_unless_another_is_clearly_more_certain(error, best):
    found = gpbe.evaluate(mdp.Log.simulate(a_problem(0), 4000, seed=1), ("wpdis", "dr"))
    made = {n: replace(found[n], error=e) for n, e in (("wpdis", 1.0), ("dr", error))}
    diagnostics = found.diagnostics
    assert advice.recommend(diagnostics.survey, diagnostics.calibration, made)[0] == best


def test_a_log_whose_episodes_never_end_is_warned_of():
    n = 60
    x, ones = np.random.default_rng(0).standard_normal((n, 2)), np.ones(n)
    for discount, count in ((0.9, 1), (1.0, 2)):
        log = mdp.Log(x, ones, discount * ones, ones, ones, x[::-1], episode=np.arange(n) // 6)
        said = gpbe.evaluate(log, "lstd").diagnostics.warnings
        assert "so all 10 count as cut off" in said[0]
        assert sum("no row ends an episode" in warning for warning in said) == count


def test_values_that_disagree_are_named_with_few_effective_episodes_too():
    """Where features cannot express the values, each kind of values is another one."""
    p = a_problem(3, features=1)
    found = gpbe.evaluate(mdp.Log.simulate(p, 4000, seed=1), ("lstd", "mis", "fqe"))
    intervals = [found[name].interval for name in ("lstd", "mis", "fqe")]
    assert max(low for low, _ in intervals) > min(high for _, high in intervals)
    assert any("do not meet" in warning for warning in found.diagnostics.warnings)


def test_the_behaviors_own_return_has_its_error():
    log = mdp.Log.simulate(a_problem(0), 3000, seed=4)
    found, returns, start = gpbe.evaluate(log, "wis"), [], 0
    for end in np.flatnonzero(~log.continues):
        kept = np.cumprod(np.append(1.0, log.discount[start:end]))
        returns.append(kept @ log.reward[start : end + 1])
        start = end + 1
    mean, error = np.mean(returns), np.std(returns, ddof=1) / np.sqrt(len(returns))
    assert found.diagnostics.survey.behavior == pytest.approx((mean, error), rel=1e-9)
    told = found.as_dict()["diagnostics"]
    assert (told["behavior_return"], told["behavior_error"]) == pytest.approx((mean, error), rel=1e-9)


def test_effective_sizes_and_largest_ratios():
    """Three episodes of one step with ratios 2, 1 and 0 are worth (2 + 1)^2 / (4 + 1) episodes."""
    x = np.ones((3, 1))
    log = mdp.Log(x, [1.0, 2, 3], [0.0, 0, 0], [1.0, 0.5, 0.0], [0.5, 0.5, 0.5], x)
    found = gpbe.evaluate(log, "wis").diagnostics
    assert found.effective_episodes == pytest.approx(9 / 5)
    assert found.survey.effective_rows == pytest.approx(9 / 5)
    assert found.survey.largest[0][::2] == (2.0, 0)
    assert found.survey.never == 1


def test_ended_episodes_keep_their_weight_in_the_effective_size():
    """Two episodes of ratios 2, and 3 then 1 / 3: at the second step the weights are 2 and 1."""
    x = np.ones((3, 1))
    log = mdp.Log(x, np.ones(3), [0.0, 0.9, 0.0], [1.0, 0.9, 0.1], [0.5, 0.3, 0.3], x)
    effective = gpbe.evaluate(log, "wis").diagnostics.survey.effective
    np.testing.assert_allclose(effective, [25 / 13, 9 / 5])


def test_long_episodes_speak_for_values_and_overflow_is_named():
    n = 3000
    rng = np.random.default_rng(0)
    discount = np.where(np.arange(n) % 1000 == 999, 0.0, 0.99)
    behavior = np.where(rng.random(n) < 0.5, 0.2, 0.8)
    log = mdp.Log(
        rng.standard_normal((n, 2)),
        np.ones(n),
        discount,
        np.full(n, 0.9),
        behavior,
        rng.standard_normal((n, 2)),
        episode=np.arange(n) // 1000,
    )
    found = gpbe.evaluate(log, ("is", "lstd"))
    assert found.recommended == "lstd"
    assert any("is: products of ratios" in warning for warning in found.diagnostics.warnings)
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_the_page_and_the_table(files):
    found = gpbe.evaluate(str(files / "0.parquet"), ("wis", "lstd"))
    page = str(found)
    for word in ("Recommended: ", "effective sample size", "largest ratios", "look right", "wis"):
        assert word in page
    table = found.table()
    assert table.columns[:3] == ["estimator", "value", "error"]
    assert table.filter(pl.col("recommended")).height == 1


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_number_of_the_page_is_cut_off(width, files):
    """On a narrow terminal the drawing and the words give way, and numbers stay whole."""
    found = gpbe.evaluate(str(files / "0.parquet"))
    page = as_text(found, width)
    for e in found.estimates.values():
        line = next(line for line in page.splitlines() if line.split()[:1] == [e.name])
        assert line.split()[1:5] == [f"{x:.4g}" for x in (e.value, e.error, *e.interval)]
    assert max(map(len, page.splitlines())) <= width
    assert ("fitted Q evaluation" in page, "--o-" in page) == (width == 160, width >= 80)


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "wsi"}, r"no estimator 'wsi'; did you mean 'wis'"),
        ({"level": 95}, r"level is 95; it should be between 0 and 1"),
        ({"interval": "normal"}, r"no interval 'normal'; it should be one of asymptotic, bootstrap"),
        ({"at": "end"}, r"no place for at 'end'"),
        ({"at": np.ones((2, 2, 2))}, r"at has shape \(2, 2, 2\)"),
        ({"at": np.ones(5)}, r"at has 5 features; the log has 4"),
        ({"lam": 2}, r"lam is 2; it should lie in \[0, 1\]"),
        ({"workers": 0}, r"workers is 0"),
        ({"resamples": 1}, r"resamples is 1"),
        ({"estimator": "wis", "at": "log"}, r"wis estimates the value where episodes begin"),
        ({"estimator": "wis", "step_size": 0.1}, r"step_size is for algorithms of gpbe.predict"),
        ({"estimator": ()}, r"one estimator at least"),
        ({"estimator": 3}, r"estimator is 3; it should be a name such as 'wdr', or several"),
    ],
)
def test_what_is_refused(given, message, files, refuses):
    refuses(lambda: gpbe.evaluate(str(files / "0.parquet"), **given), message)


def test_arguments_are_checked_before_anything_is_read():
    with pytest.raises(InputError, match="level"):
        gpbe.evaluate("absent.parquet", level=3)
    with pytest.raises(InputError, match="estimator is 5; it should be a name such as 'wdr', or several"):
        gpbe.evaluate("absent.parquet", 5)  # pyright: ignore[reportArgumentType]
