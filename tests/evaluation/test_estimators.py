"""Every estimator against its published definition, written as loops over episodes and steps."""

import numpy as np
import pytest

from gpbe import InputError, evaluate, mdp
from gpbe.evaluation.importance import PerDecision
from gpbe.evaluation.intervals import freedom
from gpbe.evaluation.reading import collected, groupings, surveyed
from gpbe.evaluation.sums import total
from gpbe.evaluation.values import LinearValues

LENGTHS = (3, 1, 4, 2, 5)
NUMBERS = ("reward", "discount", "target", "behavior")
K, A = 3, 2


def a_log(lengths=LENGTHS, seed=0, cut=()) -> mdp.Log:
    """Episodes with random numbers in every column; those in `cut` do not end."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    last = np.cumsum(lengths) - 1
    discount = rng.uniform(0.5, 1.0, n)
    discount[[e for k, e in enumerate(last) if k not in cut]] = 0.0
    action, policy = rng.integers(A, size=n), rng.dirichlet(np.ones(A), n)
    return mdp.Log(
        rng.standard_normal((n, K)),
        rng.standard_normal(n),
        discount,
        policy[np.arange(n), action],
        rng.uniform(0.2, 0.9, n),
        rng.standard_normal((n, K)),
        episode=np.repeat(np.arange(len(lengths)), lengths),
        action=action,
        policy=policy,
        next_policy=rng.dirichlet(np.ones(A), n),
    )


def episodes(log, lengths=LENGTHS):
    """Rows of each episode, with the product of ratios up to each and of discounts before each."""
    found, start = [], 0
    for length in lengths:
        rows = np.arange(start, start + length)
        rho = log.target[rows] / log.behavior[rows]
        found.append((rows, np.cumprod(rho), np.cumprod(np.append(1.0, log.discount[rows][:-1]))))
        start += length
    return found


def doubly_robust(log, v, q, after, weighted, lengths=LENGTHS):
    """Jiang and Li (2016); normalized, Thomas and Brunskill (2016): what has ended keeps its weight."""
    each = episodes(log, lengths)
    horizon = max(lengths)

    def weight(i, t):
        return 1.0 if t < 0 else each[i][1][min(t, lengths[i] - 1)]

    def normalizer(t):
        return sum(weight(j, t) for j in range(len(lengths))) if weighted else len(lengths)

    value = 0.0
    for t in range(horizon):
        for i, (rows, _, g) in enumerate(each):
            if t < lengths[i]:
                row = rows[t]
                value += g[t] * weight(i, t) / normalizer(t) * (log.reward[row] - q[row])
                value += g[t] * weight(i, t - 1) / normalizer(t - 1) * v[row]
                if t == lengths[i] - 1:
                    value += g[t] * log.discount[row] * weight(i, t) / normalizer(t) * after[row]
    return value


def test_whole_returns_are_weighted_by_products_of_ratios():
    log = a_log()
    ratios = [w[-1] for _, w, _ in episodes(log)]
    returns = [(g * log.reward[rows]).sum() for rows, _, g in episodes(log)]
    plain, normal = np.dot(ratios, returns) / 5, np.dot(ratios, returns) / np.sum(ratios)
    found = evaluate(log, ("is", "wis"))
    assert found["is"].value == pytest.approx(plain, rel=1e-12)
    assert found["wis"].value == pytest.approx(normal, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_rewards_are_weighted_one_by_one(weighted):
    log, nothing = a_log(), np.zeros(sum(LENGTHS))
    name = "wpdis" if weighted else "pdis"
    expected = doubly_robust(log, nothing, nothing, nothing, weighted)
    assert evaluate(log, name).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("actions", [False, True])
@pytest.mark.parametrize("cut", [(), (2, 4)])
def test_doubly_robust_is_its_definition(weighted, actions, cut):
    log = a_log(cut=cut)
    rng = np.random.default_rng(1)
    w = rng.standard_normal(K * A if actions else K)
    if actions:
        q = log.features @ w.reshape(A, K).T
        v, taken = (log.policy * q).sum(1), q[np.arange(len(log)), log.action]
        after = (log.next_policy * (log.next_features @ w.reshape(A, K).T)).sum(1)
    else:
        v = taken = log.features @ w
        after = log.next_features @ w
    estimator = PerDecision("dr", weighted, max(LENGTHS), LinearValues(w[None], actions))
    surveys = surveyed(log, 1, lambda rows: None)
    (sums,) = collected(log, [estimator], groupings(surveys, 1), 1, lambda rows: None)
    assert estimator.value(total(sums)) == pytest.approx(doubly_robust(log, v, taken, after, weighted), rel=1e-12)


def test_least_squares_values_are_those_of_the_linear_system():
    log = a_log(cut=(1,))
    rho, start = log.target / log.behavior, np.cumsum((0, *LENGTHS[:-1]))
    e, expected = np.zeros(K), {"A": np.zeros((K, K)), "b": np.zeros(K)}
    for t in range(len(log)):
        keep = 0.0 if t in start else log.discount[t - 1] * 0.7 * rho[t - 1]
        e = keep * e + log.features[t]
        expected["A"] += rho[t] * np.outer(e, log.features[t] - log.discount[t] * log.next_features[t])
        expected["b"] += rho[t] * log.reward[t] * e
    w = np.linalg.solve(expected["A"], expected["b"])
    found = evaluate(log, "lstd", lam=0.7)
    np.testing.assert_allclose(found.weights, w, rtol=1e-9)
    assert found.value == pytest.approx(log.features[start].mean(0) @ w, rel=1e-9)
    assert evaluate(log, "lstd", lam=0.7, at="log").value == pytest.approx(log.features.mean(0) @ w, rel=1e-9)
    given = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    assert evaluate(log, "lstd", lam=0.7, at=given).value == pytest.approx((given @ w).mean(), rel=1e-9)


def test_fitted_q_evaluation_ends_where_its_iterations_do():
    """Regress r + gamma v(S') on features of the action taken, again and again."""
    log, start = a_log(seed=3, lengths=(9,) * 30), np.arange(0, 270, 9)
    phi = (np.eye(A)[log.action][:, :, None] * log.features[:, None]).reshape(len(log), -1)
    after = (log.next_policy[:, :, None] * log.next_features[:, None]).reshape(len(log), -1)
    theta = np.zeros(K * A)
    for _ in range(300):
        theta = np.linalg.lstsq(phi, log.reward + log.discount * (after @ theta), rcond=None)[0]
    value = (log.policy[start][:, :, None] * log.features[start][:, None]).reshape(30, -1) @ theta
    assert evaluate(log, "fqe").value == pytest.approx(value.mean(), rel=1e-8)


def test_the_sandwich_is_the_spread_of_the_residuals():
    """For one feature the error of b / A at a state x is |x / A| times the root of the sum of squared residuals."""
    rng = np.random.default_rng(2)
    n = 60
    log = mdp.Log(
        rng.uniform(1, 2, (n, 1)), rng.standard_normal(n), np.zeros(n), np.ones(n), np.ones(n), np.ones((n, 1))
    )
    x, r = log.features[:, 0], log.reward
    w = (x @ r) / (x @ x)
    residual = x * (r - x * w)
    error = 2 / (x @ x) * np.sqrt(n / (n - 1) * (residual**2).sum())
    found = evaluate(log, "lstd", at=[2.0])
    assert found.value == pytest.approx(2 * w, rel=1e-12)
    assert found["lstd"].error == pytest.approx(error, rel=1e-12)


def test_the_interval_of_a_mean_is_students():
    """Importance sampling of single steps is the mean of rho R."""
    rng = np.random.default_rng(4)
    n = 40
    target, behavior = rng.uniform(0.1, 1, n), rng.uniform(0.5, 1, n)
    log = mdp.Log(np.ones((n, 1)), rng.standard_normal(n), np.zeros(n), target, behavior, np.ones((n, 1)))
    from scipy import stats

    sample = target / behavior * log.reward
    freedom = min(n - 1, 2 * n / (stats.kurtosis(sample, fisher=False) - 1))
    low, high = stats.t.interval(0.9, freedom, sample.mean(), stats.sem(sample))
    np.testing.assert_allclose(evaluate(log, "is", level=0.9).interval, (low, high), rtol=1e-10)
    boot = evaluate(log, "is", level=0.9, interval="bootstrap", resamples=4000)
    reference = stats.bootstrap((sample,), np.mean, confidence_level=0.9, method="percentile", rng=1)
    width = high - low
    np.testing.assert_allclose(boot.interval, reference.confidence_interval, atol=0.06 * width)


@pytest.mark.parametrize("name", ["is", "wis", "pdis", "wpdis"])
def test_the_error_is_that_of_the_jackknife(name):
    """Estimates from all episodes but one: their variance times (n - 1)^2 / n, with weights normalized anew."""
    lengths = (3, 1, 4, 2, 5, 2, 3, 1)
    log = a_log(lengths, seed=7)
    starts = np.cumsum((0, *lengths))
    without = []
    for k in range(len(lengths)):
        kept = np.r_[0 : starts[k], starts[k + 1] : len(log)]
        columns = {c: getattr(log, c)[kept] for c in ("features", "reward", "discount", "target", "behavior")}
        rest = mdp.Log(
            **columns,
            next_features=log.next_features[kept],
            episode=np.repeat(np.arange(len(lengths)), lengths)[kept],
        )
        without.append(evaluate(rest, name).value)
    n, whole = len(lengths), evaluate(log, name)
    variance = (n - 1) / n * ((np.array(without) - whole.value) ** 2).sum()
    assert whole[name].error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_degrees_of_freedom_are_those_of_a_sum_of_squares():
    """About g - 1 for g normal numbers, and about twice as many as there are that matter."""
    rng = np.random.default_rng(0)
    assert np.mean([freedom(rng.standard_normal(40)) for _ in range(300)]) == pytest.approx(37, abs=1.5)
    few = np.concatenate([100 * rng.choice([-1.0, 1.0], 3), rng.standard_normal(2000)])
    assert freedom(few) == pytest.approx(6, rel=0.3)
    assert freedom(np.ones(5)) == 4
    assert freedom(np.array([1.0, 0.0, 0.0])) >= 1


def test_marginalized_ratios_of_a_table_are_exact():
    """State weights times how often the log visits a state are the target's discounted visits to it."""
    rng = np.random.default_rng(5)
    m = mdp.random_mdp(5, 2, 3, gamma=0.9, rng=rng, termination=0.2)
    p = mdp.PredictionProblem(m, rng.dirichlet(np.ones(2), 5), rng.dirichlet(np.ones(2), 5))
    log = mdp.Log.simulate(p, 300, seed=1)
    found = evaluate(log, ("mis", "lstd"))
    # In a table both are the value of the same empirical model.
    assert found["mis"].value == pytest.approx(found["lstd"].value, rel=1e-6)


def test_the_error_of_marginalized_ratios_is_about_that_of_the_jackknife():
    """Coarse features give negative weights, which are cut; and weights and rewards come from the same data."""
    rng = np.random.default_rng(2)
    m = mdp.random_mdp(7, 2, 3, gamma=0.9, rng=rng, termination=0.2)
    p = mdp.PredictionProblem(m, *rng.dirichlet(np.ones(2), (2, 7)), rng.standard_normal((7, 2)))
    log = mdp.Log.simulate(p, 1000, seed=1)
    episode, without = np.cumsum(~np.concatenate([[True], log.continues[:-1]])), []
    n, whole = int(episode[-1]) + 1, evaluate(log, ("mis", "lstd"))
    for k in range(n):
        columns = {c: getattr(log, c)[episode != k] for c in (*NUMBERS, "features", "next_features")}
        without.append(evaluate(mdp.Log(**columns, episode=episode[episode != k]), "mis").value)
    variance = (n - 1) / n * ((np.array(without) - whole["mis"].value) ** 2).sum()
    assert abs(whole["mis"].value - whole["lstd"].value) > 0.1 * whole["mis"].error
    assert whole["mis"].error == pytest.approx(np.sqrt(variance), rel=0.1)


def test_where_nothing_is_cut_marginalized_ratios_are_as_certain_as_least_squares():
    rng = np.random.default_rng(5)
    m = mdp.random_mdp(5, 2, 3, gamma=0.9, rng=rng, termination=0.2)
    p = mdp.PredictionProblem(m, rng.dirichlet(np.ones(2), 5), rng.dirichlet(np.ones(2), 5))
    found = evaluate(mdp.Log.simulate(p, 500, seed=1), ("mis", "lstd"))
    assert found["mis"].error == pytest.approx(found["lstd"].error, rel=1e-6)


def test_errors_of_least_squares_are_those_of_ordinary_regression():
    """Each row is an episode here. The error is the sandwich with (n - 1) / (n - k), by hand; k rows have none."""
    rng = np.random.default_rng(8)
    n, k = 12, 3
    x, r = rng.standard_normal((n, k)), rng.standard_normal(n)
    log = mdp.Log(x, r, np.zeros(n), np.ones(n), np.ones(n), x)
    bread = np.linalg.inv(x.T @ x)
    residual = r - x @ bread @ x.T @ r
    covariance = n / (n - 1) * (n - 1) / (n - k) * bread @ (x.T * residual**2 @ x) @ bread
    at = np.array([1.0, -2.0, 0.5])
    assert evaluate(log, "lstd", at=at)["lstd"].error == pytest.approx(np.sqrt(at @ covariance @ at), rel=1e-10)
    few = evaluate(log.rows(0, k), "lstd", at=at)
    assert np.isfinite(few.value)
    assert np.isnan(few.interval).all()
    assert "rest on too little" in few.diagnostics.warnings[-1]


def test_estimators_that_a_log_is_not_enough_for_are_named_with_the_reason():
    rng = np.random.default_rng(6)
    n = 200
    log = mdp.Log(rng.standard_normal((n, 2)), rng.standard_normal(n), np.full(n, 0.9), np.ones(n), np.ones(n))
    found = evaluate(log)
    assert set(found.estimates) == {"lstd", "lsetd", "mis"}
    assert "none ends" in found.left_out["wis"]
    assert "probabilities of all actions" in found.left_out["fqe"]
    assert found.diagnostics.block == 3
    with pytest.raises(InputError, match="wis weights whole episodes, and none ends"):
        evaluate(log, "wis")
