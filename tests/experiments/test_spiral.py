"""Learned examples: the spiral over 20 seeds, the identifiability pair, the aliased states; and that they are drawn."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpbe
from gpbe import exact, experiments, mdp
from gpbe.experiments.aliased_learned import computation as aliased_learned
from gpbe.experiments.aliased_learned import drawing as aliased_drawing
from gpbe.experiments.identifiability_learned import computation as identifiability_learned
from gpbe.experiments.identifiability_learned import drawing as identifiability_drawing
from gpbe.experiments.spiral import computation as spiral
from gpbe.experiments.spiral import drawing as spiral_drawing
from gpbe.experiments.spiral.network import Spiral, make
from gpbe.summary import standard_error
from helpers.samples import few
from helpers.seeds import moved

SEEDS, RUNS, STEPS = 20, 16, 4000


def by_label(panel: str, label: str) -> spiral.Method:
    return next(m for m in spiral.METHODS if m.panel.startswith(panel) and m.label == label)


def curve(w: float) -> tuple[np.ndarray, np.ndarray]:
    """v and dv/dw, from the closed form."""
    turn, a, b = spiral.TURN, spiral.FIRST, spiral.ACROSS
    size = np.exp(spiral.EPSILON * w)
    v = (a * np.cos(turn * w) - b * np.sin(turn * w)) * size
    return v, spiral.EPSILON * v - turn * (a * np.sin(turn * w) + b * np.cos(turn * w)) * size


# ---------------------------------------------------------------- in expectation


def test_it_is_the_curve_of_tsitsiklis_and_van_roy():
    """dv/dw = (Q + epsilon I) v with their circulant Q, up to which way round the states are counted."""
    q = np.array([[1, 1.5, 0.5], [0.5, 1, 1.5], [1.5, 0.5, 1]])
    for w in (-3.0, 0.0, 1.7):
        v, slope = curve(w)
        np.testing.assert_allclose(slope, (q + spiral.EPSILON * np.eye(3)) @ v, atol=1e-9)
        module = Spiral(jnp.asarray(w))
        np.testing.assert_allclose([module(x) for x in jnp.eye(3)], v, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(spiral.problem().values, 0)


def test_points_lie_close_at_first_and_a_run_that_escaped_between_two_of_them_is_known():
    """Of TD, whose every run escapes within a few hundred updates; all points count, kept or not."""
    table = spiral.learn("no h", "TD", runs=2, steps=400, every=4)
    one = table.filter(run=0)
    assert one["step"].to_list() == [*range(4, 201, 4), *range(220, 401, 20)]
    assert one["escaped"][-1]
    assert one["escaped"].is_sorted()
    grown = one.filter(pl.col("relative_error") > spiral.ESCAPED)["step"].min()
    assert one.filter("escaped")["step"].min() <= grown


@pytest.mark.parametrize("w", [-10.0, 0.0, 0.8, 5.0])
def test_what_each_update_does_in_expectation_everywhere_on_the_spiral(w):
    """TD, and gradient features without the Hessian term, climb; gradients of BE and nonlinear PBE descend."""
    p = spiral.problem()
    v, phi = curve(w)
    n, carry = (v**2).mean(), p.discounted_transition
    u = exact.expected_td_error(p, v)
    td, back = (u * phi).mean() / n, (u * (carry @ phi)).mean() / n
    A, C = (phi * (phi - carry @ phi)).mean() / n, (phi**2).mean() / n
    assert (td, back, A) == pytest.approx((0.29875, 0.336375, 0.5831875))
    assert A * td / C > 0  # TDC and the saddlepoint form with the best h = phi td / C
    assert td - back == pytest.approx(-spiral.EPSILON * (u**2).mean() / n)  # -1/2 d/dw BE
    assert -spiral.EPSILON * td**2 / C < 0  # -1/2 d/dw PBE, both errors being proportional to e^{2 epsilon w}

    def pbe(w):
        v, phi = curve(w)
        return exact.nonlinear_projected_bellman_error(p, v, "behavior", phi[:, None])

    assert pbe(w) == pytest.approx(td**2 / C * n)
    assert (pbe(w + 1e-5) - pbe(w - 1e-5)) / 4e-5 == pytest.approx(spiral.EPSILON * td**2 / C * n, rel=1e-5)


def test_tdrc_with_a_table_descends_only_below_a_limit_of_beta():
    """The penalty leaves the share d / (d + beta) of the correction: td < share * back if beta < 0.042."""
    limit = (0.336375 / 0.29875 - 1) / 3
    assert limit == pytest.approx(0.042, abs=1e-4)
    for beta in (0.01, 0.04, 0.045, 1.0):
        share = (1 / 3) / (1 / 3 + beta)
        assert (0.29875 - share * 0.336375 < 0) == (beta < limit)


# ---------------------------------------------------------------- learned, over 20 seeds


@cache
def table_of(panel: str, label: str, steps: int) -> pl.DataFrame:
    method = by_label(panel, label)
    with moved():
        return spiral.learn(method.panel, method.label, SEEDS, steps)


def learned(panel: str, label: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    table = table_of(panel, label, steps)
    return tuple(table[column].to_numpy().reshape(SEEDS, -1) for column in ("relative_error", "escaped"))


def hardly_any(bad: np.ndarray) -> bool:
    """Noise carries off one run of Maei's methods in some hundreds: four of twenty would be no accident."""
    return bool(bad.sum() <= 3)


LEAVES = [("no h", "TD"), ("h a table", "TDRC, beta 1")]
STAYS = [("h a table", "TDRC, beta 0.01", 0.75, 0.25), ("h linear", "GTD2 with Hessian", 0.158, 0.1)]


@pytest.mark.learning
@pytest.mark.parametrize(("panel", "label"), few(LEAVES, ()))
def test_td_grows_without_bound_in_every_seed_and_so_does_tdrc_with_a_large_beta(panel, label):
    error, escaped = learned(panel, label, 400)
    assert escaped[:, -1].all()
    before = np.where(escaped, np.nan, error)
    assert np.nanmin(before) > 0.9  # on the way out it never comes closer
    assert np.isinf(error).any(1).sum() > SEEDS / 2


@pytest.mark.learning
@pytest.mark.parametrize(("panel", "label", "rate", "within"), few(STAYS, ()))
def test_gradient_methods_go_where_gradient_flow_goes(panel, label, rate, within):
    """Error = 1 / sqrt(1 + 2 epsilon 0.01 rate t): the rate is 1 for the BE's gradient, 0.158 for that of the PBE.

    beta = 0.01 takes (0.336 share - 0.299) / (0.336 - 0.299) of the first with share = d / (d + beta): about 3/4.
    """
    error, escaped = learned(panel, label, STEPS)
    flow = 1 / np.sqrt(1 + 2 * spiral.EPSILON * 0.01 * rate * STEPS)
    assert np.median(error[:, -1]) == pytest.approx(flow, abs=within)
    assert hardly_any(escaped.any(1))
    assert hardly_any(~(error[:, -1] < 0.97))
    assert hardly_any(~(error[:, -1] < error[:, 20]))


@pytest.mark.slow
@pytest.mark.parametrize("method", spiral.METHODS, ids=lambda m: f"{m.panel}: {m.label}")
def test_every_method_over_20_seeds_to_the_end(method):
    error, escaped = learned(method.panel, method.label, 20_000)
    leaves = {"TD", "TDRC, beta 1"}
    if method.label in leaves or (method.panel.startswith("h linear") and "Hessian" not in method.label):
        assert escaped.any(1).all()
    else:
        assert hardly_any(escaped.any(1))
        assert hardly_any(~(error[:, -1] < 0.6))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "times", "h_step", "rate", "given"),
    [
        ("tdrc", 2, 1.0, 0.75, {"basis": np.eye(3), "beta": 0.01}),
        ("maei-gtd2", 3, 1 / spiral.SIZE, 0.158, {}),
        ("maei-tdc", 3, 1 / spiral.SIZE, 0.158, {}),
    ],
)
def test_with_longer_steps_they_come_near_the_solution(name, times, h_step, rate, given):
    """To a fifth of where they began and closer all the time, as gradient flow does: 1 / sqrt(1 + c t)."""
    alpha = times * spiral.STEP_SIZE
    result = gpbe.predict(
        spiral.problem(),
        name,
        net=make,
        steps=60_000,
        runs=SEEDS,
        every=3000,
        batch=spiral.BATCH,
        step_size=alpha,
        ratio=h_step / alpha,
        metrics=("rmsve",),
        **given,
    )
    relative = result.curves["rmsve"] / result.initial["rmsve"][:, None]
    assert hardly_any(result.diverged_at >= 0)
    assert hardly_any(~(relative[:, -1] < 0.2))
    assert hardly_any(~(relative[:, -1] < 0.7 * relative[:, 4]))
    flow = 1 / np.sqrt(1 + 2 * spiral.EPSILON * 0.01 * times * rate * 60_000)
    assert np.median(relative[:, -1]) == pytest.approx(flow, rel=0.2)


# ---------------------------------------------------------------- the other examples


@cache
def pair() -> pl.DataFrame:
    """Two of the methods: one that sees observations, and one that sees more."""
    cases = [(label, which) for label in ("residual gradient", "TDC, h of states") for which in (0, 1)]
    with moved():
        return pl.concat([identifiability_learned.learn(*case, RUNS, 1000) for case in cases])


def test_optima_of_the_pair():
    """Least IBE and TDE agree between the problems, the least BE does not."""
    one, two = mdp.identifiability_pair(identifiability_learned.GAMMA)
    for objective, agree in (("ibe", True), ("tde", True), ("be", False)):
        both = [identifiability_learned.optimum(p, objective) for p in (one, two)]
        assert np.allclose(*both, atol=1e-9) == agree
    np.testing.assert_allclose(identifiability_learned.optimum(one, "be"), 0, atol=1e-9)
    aliases = identifiability_learned.ALIASES
    for p in (one, two):
        assert exact.identifiable_bellman_error(p, np.zeros(p.mdp.n_states), "behavior", aliases[p.name]) < 1e-15


def check_pair(table: pl.DataFrame) -> None:
    for (sees,), rows in table.group_by("sees"):
        one, two = (rows.filter(problem=f"identifiability-{k}").select("value_a", "value_b").to_numpy() for k in (1, 2))
        apart = np.linalg.norm(one.mean(0) - two.mean(0))
        assert (apart < 0.1) == (sees == "observations")
    for _, rows in table.group_by("method", "problem"):
        off = rows.select("value_a", "value_b").to_numpy() - rows.select("exact_a", "exact_b").to_numpy()
        np.testing.assert_array_less(np.abs(off.mean(0)), 4 * standard_error(off) + 0.05)


@pytest.mark.learning
@pytest.mark.slow
def test_only_who_sees_more_than_the_data_tells_the_pair_apart():
    check_pair(pair())


@pytest.mark.slow
def test_so_do_all_methods_at_the_quick_scale():
    for _, table in experiments.find("identifiability-learned", "quick").rows().group_by("method"):
        check_pair(table)


@pytest.mark.slow
def test_the_wider_h_the_farther_b_and_c_are_from_their_values():
    with moved():
        parts = [aliased_learned.learn(name, RUNS, 1000) for name in aliased_learned.SETS]
    late = pl.concat(parts).filter(pl.col("step") > 700)
    runs = late.group_by("set", "observation", "run", maintain_order=True).agg(pl.col("value", "exact").mean())
    means = runs.group_by("set", "observation", maintain_order=True).agg(
        pl.col("value", "exact").mean(), error=pl.col("value").std() / RUNS**0.5
    )
    off = np.abs(means["value"].to_numpy() - means["exact"].to_numpy())
    np.testing.assert_array_less(off, 4 * means["error"].to_numpy() + 0.03)
    assert means.filter(observation="B")["exact"].to_numpy() == pytest.approx([1, 5 / 6, 3 / 4])
    drawn(aliased_drawing.draw(pl.concat(parts)))


def drawn(fig) -> None:
    FigureCanvasAgg(fig).draw()
    assert all(axis.get_xlabel() for axis in fig.axes)


@pytest.mark.slow
def test_they_are_drawn_from_their_tables_alone():
    drawn(identifiability_drawing.draw(pair()))
    cases = [(*case, 400) for case in LEAVES] + [(*case[:2], STEPS) for case in STAYS]
    drawn(spiral_drawing.draw(pl.concat([table_of(*case) for case in cases])))


def test_starts_differ_between_seeds():
    keys = jax.random.split(jax.random.key(0), 5)
    assert len({float(make(key).w) for key in keys}) == 5
