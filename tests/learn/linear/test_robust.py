"""Linear learning on the Huber PBE: updates by hand, stability far away, and the correction that would not have it."""

import numpy as np
import pytest

import gpbe
from gpbe import InputError, exact, mdp
from gpbe.algorithms.linear import Algorithm
from helpers.seeds import seed

ALPHA, RATIO, LAM, BETA, TAU = 0.1, 3.0, 0.6, 0.5, 0.02


def log_of(n: int = 9, k: int = 3) -> mdp.Log:
    """Nine transitions, two episodes, ratios between 1/2 and 2."""
    rng = np.random.default_rng(7)
    discount = np.where(np.arange(n) == 4, 0.0, 0.9)
    x, after = rng.standard_normal((2, n, k))
    after[:-1] = x[1:]
    return mdp.Log(x, rng.standard_normal(n), discount, rng.uniform(0.4, 0.8, n), np.full(n, 0.5), after)


def by_hand(log: mdp.Log, name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """TDC, TDRC and GTD2 from the equations, with h(S) clipped at the present state by a step along its features."""
    w, theta, e, gamma, rho_before, clipped = np.zeros(3), np.zeros(3), np.zeros(3), 0.0, 1.0, 0
    for t in range(len(log)):
        x, x_next, g = log.features[t], log.next_features[t], log.discount[t]
        rho = log.target[t] / log.behavior[t]
        e = gamma * LAM * rho_before * e + x
        excess = x @ theta - np.clip(x @ theta, -TAU, TAU)
        clipped += excess != 0
        moved = -excess * x / (x @ x)
        theta = theta + moved
        if name != "huber-gtd2":
            w = w + moved / RATIO
        delta = log.reward[t] + g * w @ x_next - w @ x
        correction = g * (1 - LAM) * rho * (e @ theta) * x_next
        first = (x @ theta) * x if name == "huber-gtd2" else rho * delta * e
        shrink = BETA * theta if name == "huber-tdrc" else 0.0
        step = rho * delta * e - (x @ theta) * x - shrink
        w, theta = w + ALPHA * (first - correction), theta + ALPHA * RATIO * step
        gamma, rho_before = g, rho
    return w, theta, clipped


@pytest.mark.parametrize("name", ["huber-tdc", "huber-tdrc", "huber-gtd2"])
def test_updates_are_those_by_hand(name):
    log, more = log_of(), {"beta": BETA} if name == "huber-tdrc" else {}
    w, theta, clipped = by_hand(log, name)
    assert 3 < clipped < len(log)
    found = gpbe.predict(log, name, step_size=ALPHA, ratio=RATIO, lam=LAM, huber=TAU, metrics=(), **more)
    np.testing.assert_allclose(found.weights[0], w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.second_weights[0], theta, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.learning
def test_far_away_bounded_methods_go_at_a_bounded_pace_and_arrive():
    """On the star: w moves by alpha tau (|x| + rho |x'|) at most, however large the error, which falls."""
    alpha, tau, steps = 0.01, 1.0, 12_000
    given = {"steps": steps, "runs": 8, "every": 500, "ratio": 10.0, "metrics": ("rmspbe",), "seed": seed(1)}
    result = gpbe.predict("baird", "huber-gtd2", step_size=alpha, huber=tau, **given)
    curve = result.curves["rmspbe"]
    star = mdp.baird()
    longest = np.linalg.norm(star.features, axis=1).max() * (1 + 0.99 * star.ratios.max())
    near = gpbe.predict("baird", "huber-gtd2", step_size=alpha, huber=tau, **given | {"steps": 500})
    moved = np.linalg.norm(near.weights - star.initial_weights, axis=1)
    assert (moved <= 500 * alpha * tau * longest).all()
    assert (curve[:, -1] < 0.01 * result.initial["rmspbe"]).all()
    assert (curve[:, 0] > 0.05 * result.initial["rmspbe"]).all()  # not at once


def test_a_correction_that_leaves_delta_as_it_is_would_diverge_where_td_does():
    """Two states with features 1 and 2: b - A w - (C - A) h with A < 0 is TD once w is large, for h is bounded.

    With its share of h's way back to the bound, w is told so: what is left is the saddlepoint form, A h.
    """
    A, b, C = (x.item() for x in exact.linear_system(mdp.tsitsiklis_van_roy(), "behavior"))
    tau = 1.0
    assert A < 0

    def end(shared: bool) -> float:
        w, h, alpha, ratio = 10.0, 0.0, 0.01, 10.0
        for _ in range(20_000):
            move = h - np.clip(h, -tau / 2, tau / 2)  # the larger feature is 2
            w, h = w - shared * move / ratio, h - move
            w, h = w + alpha * (b - A * w - (C - A) * h), h + alpha * ratio * (b - A * w - C * h)
        return abs(w)

    with np.errstate(over="ignore", invalid="ignore"):
        assert not end(shared=False) < 1e6
    assert end(shared=True) < 1e-3


@pytest.mark.parametrize("update", ["td", "hybrid", "least-squares"])
def test_only_an_h_that_maximizes_can_be_bounded(update):
    with pytest.raises(InputError, match='bounded is for update "gradient-correction" and "saddlepoint"'):
        Algorithm(update=update, bounded=True)


def test_huber_is_for_bounded_methods_and_may_be_infinite():
    with pytest.raises(InputError, match="tdc does not use 'huber'"):
        gpbe.predict("boyan", "tdc", steps=10, huber=1.0)
    with pytest.raises(InputError, match="huber is 0; it should be above 0"):
        gpbe.predict("boyan", "huber-tdc", steps=10, huber=0.0)
