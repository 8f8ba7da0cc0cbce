"""What the figures of linear prediction show: facts that hold at the smallest scale, and examples worked by hand."""

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpbe
from gpbe import experiments, mdp
from gpbe.analysis.stored import Stored
from gpbe.experiments.baird import computation as baird
from gpbe.experiments.corrections import computation as corrections
from gpbe.experiments.prediction import computation as prediction
from gpbe.experiments.prediction import drawing as drawings
from gpbe.figures import learning
from gpbe.lazy import named
from gpbe.learn.tables import curves_table, settings_table
from helpers.samples import few
from helpers.seeds import moved


@pytest.fixture(scope="module")
def smoke() -> pl.DataFrame:
    with moved():
        return experiments.find("prediction", "smoke").rows()


# --- one sweep for three figures


def test_the_size_of_plans():
    # Two ratios for TDC, one for TDRC: (2 * 3 + 3) settings of 5 runs on 2 problems.
    plan = prediction.Plan(10, 5, (-3, -2, -1), (0, 1), ("tdc", "tdrc"), ("boyan", "baird"))
    assert plan.work == sum(piece.work for piece in prediction.pieces_of(plan)) == 2 * 9 * 5


@pytest.mark.slow
@pytest.mark.learning
def test_td_makes_things_worse_on_bairds_star_whatever_the_step_size(smoke):
    table = smoke.filter(problem="baird", metric="rmspbe")
    td, tdrc = (table.filter(algorithm=a) for a in ("td", "tdrc"))
    assert (td["area"] > td["initial"]).all()
    assert td["area"].to_list() == sorted(td["area"])
    assert tdrc["area"].min() < 0.5 * tdrc["initial"][0]


@pytest.mark.slow
@pytest.mark.learning
def test_every_algorithm_learns_boyans_chain_on_policy(smoke):
    """Its values are representable and reached by all; -24 to -2 are RMS 15.07 away from the start."""
    best = smoke.filter(problem="boyan", metric="rmsve", choice="best")
    assert len(best) == 3
    assert best["initial"].to_numpy() == pytest.approx(15.0742, abs=1e-4)
    assert (best["final"] < 0.75 * best["initial"]).all()


@pytest.mark.slow
def test_curves_are_those_of_the_best_settings(smoke):
    curves = prediction.curves(smoke)
    assert len(curves) == 4 * 3 * 2 * prediction.SMOKE.steps // prediction.EVERY
    by = ("problem", "algorithm", "metric")
    means = curves.group_by(*by, "step_size").agg(pl.col("mean").mean())
    joined = smoke.drop(prediction.CURVE).filter(choice="best").join(means, on=(*by, "step_size"), how="inner")
    assert len(joined) == 4 * 3 * 2
    np.testing.assert_allclose(joined["mean"], joined["area"], rtol=1e-5)


@pytest.mark.slow
def test_on_policy_htd_and_v_trace_are_td():
    """All ratios are 1: no correction, nothing to clip. And every algorithm sees the same data."""
    plan = prediction.Plan(200, 2, (-4, -2), (-2, 3), ("td", "htd", "v-trace"), ("boyan",))
    rows = [prediction.learn(*piece.arguments) for piece in prediction.pieces_of(plan)]
    table = pl.concat(rows).filter(metric="rmsve")
    td, htd, v_trace = (table.filter(algorithm=a)["area"].to_numpy() for a in plan.algorithms)
    np.testing.assert_array_equal(td, v_trace)
    np.testing.assert_allclose(htd, td.repeat(2), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.learning
def test_bars_are_relative_to_tdrc(smoke):
    table = prediction.bars(smoke)
    assert len(table) == 4 * 3 * 2
    assert (table.filter(algorithm="tdrc")["relative"] == 1).all()
    for row in table.filter(algorithm="td", metric="rmspbe").iter_rows(named=True):
        tdrc = smoke.filter(problem=row["problem"], algorithm="tdrc", metric="rmspbe")["area"].min()
        assert row["relative"] == pytest.approx(row["area"] / tdrc)
        assert row["relative_error"] == pytest.approx(row["area_error"] / tdrc)
    assert table.filter(problem="baird", algorithm="td", metric="rmspbe")["relative"].item() > 2


def made_up() -> pl.DataFrame:
    """Two step sizes with two ratios each; the larger step size diverges with both."""
    return pl.DataFrame(
        {
            "problem": ["boyan"] * 4,
            "algorithm": ["tdc"] * 4,
            "step_size": [0.1, 0.1, 0.2, 0.2],
            "ratio": [1.0, 2.0, 1.0, 2.0],
            "metric": ["rmspbe"] * 4,
            "initial": [9.0] * 4,
            "area": [4.0, 3.0, np.inf, np.inf],
            "area_error": [0.1, 0.2, None, None],
            "diverged": [0, 0, 1, 3],
            **dict.fromkeys(prediction.CURVE),
        }
    )


def test_sensitivity_takes_the_best_ratio_for_each_step_size():
    table = prediction.sensitivity(made_up())
    assert table["step_size"].to_list() == [0.1, 0.2]
    assert table["area"].to_list() == [3.0, np.inf]
    assert table["ratio"][0] == 2.0
    assert table["diverged"][1] >= 1


def test_divergence_is_drawn_as_a_cross_inside_the_frame():
    names = ("boyan", "baird")
    table = pl.concat(made_up()[::2].with_columns(problem=pl.lit(name)) for name in names)
    fig = drawings.draw_sensitivity(table)
    FigureCanvasAgg(fig).draw()
    for axis in fig.axes:
        (cross,) = (line for line in axis.lines if line.get_marker() == "x")
        assert cross.get_xdata() == [0.2]
        assert 0.8 < cross.get_ydata()[0] < 1
        assert axis.get_ylim()[1] < 50


@pytest.mark.slow
def test_a_bar_that_leaves_the_frame_says_how_long_it_is(smoke):
    table = prediction.bars(smoke).filter(metric="rmspbe")
    long = table.filter(pl.col("relative") > drawings.BAR_TOP)
    assert len(long) >= 1
    texts = {text.get_text() for text in drawings.draw_bars(table).axes[0].texts}
    for relative in long["relative"]:
        assert f"{relative:.0f}" in texts


# --- Baird's star


@pytest.mark.slow
@pytest.mark.learning
def test_on_bairds_star_td_diverges_and_gradient_methods_do_not():
    with moved():
        table = experiments.find("baird", "smoke").rows()
    assert table.columns == ["algorithm", "step_size", "ratio", "run", "step", "rmsve", "rmspbe"]
    last = table.filter(step=baird.STEPS)
    assert len(last) == 10
    # Values start at (3, 3, 3, 3, 3, 3, 12), the true ones are 0.
    start = ((6 * 3**2 + 12**2) / 7) ** 0.5
    assert (last.filter(algorithm="td")["rmsve"] > 500 * start).all()
    for algorithm in ("tdc", "gtd2", "tdrc"):
        end = last.filter(algorithm=algorithm)
        assert (end["rmsve"] < 20 * start).all()
        assert (end["rmspbe"] < 0.5).all()


@pytest.mark.learning
def test_tds_growth_on_bairds_star_is_exponential():
    """Its logarithm is a line whose slope the expected update gives: log |1 + 0.2393 alpha| a step, in the long run."""
    with moved():
        table = baird.learn("td", 16)
    half, end = (np.log(table.filter(step=s)["rmsve"].to_numpy()).mean() for s in (baird.STEPS // 2, baird.STEPS))
    smallest = gpbe.exact.td_stability(mdp.baird(), "behavior").eigenvalues.real.min()
    assert smallest == pytest.approx(-0.2393, abs=1e-4)
    slope = (end - half) / (baird.STEPS / 2)
    assert slope == pytest.approx(np.log1p(-smallest * baird.STEP_SIZE), rel=0.15)


# --- prior and posterior corrections


def test_the_worked_example_by_hand():
    """The ratio is 2 for a1 and 0 for a2; z_t = rho_t (gamma_t lam z_{t-1} + weight x_t)."""
    table = corrections.run()
    expected = {
        ("x → y → T", "off-policy TD"): [("2", "0"), ("4 λ", "2")],
        ("x → y → T", "alternative-life TD"): [("2", "0"), ("4 λ", "4")],
        ("x → y → y → T", "off-policy TD"): [("2", "0"), ("0", "0"), ("0", "2")],
        ("x → y → y → T", "alternative-life TD"): [("2", "0"), ("0", "0"), ("0", "0")],
    }
    for (trajectory, method), traces in expected.items():
        rows = table.filter(trajectory=trajectory, method=method)
        assert rows.select("z_x_in_lambda", "z_y_in_lambda").rows() == traces
        assert rows["t"].to_list() == list(range(1, len(traces) + 1))
    assert len(table) == sum(map(len, expected.values()))


def test_the_worked_examples_numbers_are_its_polynomials_and_its_weights_the_products():
    table = corrections.run()
    assert table.filter(z_x_in_lambda="4 λ")["z_x"].to_list() == pytest.approx([3.6, 3.6])
    prior = table.filter(method="alternative-life TD")
    assert prior["weight"].to_list() == [1, 2, 1, 2, 0]
    assert prior["rho"].to_list() == [2, 2, 2, 0, 2]
    assert prior["action"].to_list() == ["a1", "a1", "a1", "a2", "a1"]
    assert (table.filter(method="off-policy TD")["weight"] == 1).all()


def test_the_worked_examples_traces_are_those_that_learn():
    """With a step size s and all values 0 the first reward moves w by s z: the last transition pays 1."""
    log = mdp.Log(
        features=[[1, 0], [0, 1]],
        reward=[0, 1],
        discount=[1, 0],
        target=[1, 1],
        behavior=[0.5, 0.5],
        next_features=[[0, 1], [1, 0]],
    )
    table = corrections.run().filter(trajectory="x → y → T", t=2)
    for algorithm, method in corrections.METHODS.items():
        w = gpbe.predict(log, algorithm, step_size=0.5, lam=corrections.LAM).weights[0]
        row = table.filter(method=method)
        np.testing.assert_allclose(w, [0.5 * row["z_x"].item(), 0.5 * row["z_y"].item()], rtol=1e-6)


# --- tables and drawings of any prediction


def test_tables_of_a_single_setting_and_of_one_run():
    one = gpbe.predict(mdp.boyan(), "td", steps=40, runs=1, every=10, average=True, step_size=0.1, metrics=("rmsve",))
    settings, curves = settings_table(one), curves_table(one)
    assert settings.columns[:3] == ["setting", "metric", "initial"]
    assert settings["area_error"].to_list() == [None]
    assert settings["area"][0] == pytest.approx(curves["mean"].mean(), rel=1e-6)
    assert curves["step"].to_list() == [10, 20, 30, 40]
    assert curves["standard_error"].null_count() == 4
    assert len(learning.draw(curves, "td on boyan").axes) == 1


def test_where_every_setting_diverged_the_table_says_so(run):
    sizes = ("--step-size", "8", "16", "--steps", "300", "--runs", "2", "--metrics", "rmsve", "--every", "100")
    rows = run("predict", "baird", "td", *sizes, "--json")["settings"]
    assert [(row["diverged"], row["area"], row["choice"]) for row in rows] == [(2, None, None)] * 2
    assert "every setting has runs that diverged, so none is best" in run("predict", "baird", "td", *sizes)


@pytest.mark.slow
def test_of_many_settings_only_the_best_has_a_color():
    sizes = 2.0 ** np.arange(-8, 1)
    result = gpbe.predict(mdp.boyan(), "td", steps=200, runs=3, every=10, average=True, step_size=sizes)
    fig = learning.draw(curves_table(result), "td on boyan")
    FigureCanvasAgg(fig).draw()
    for axis, metric in zip(fig.axes, ("rmsve", "rmspbe"), strict=True):
        best = result.best(metric).setting["step_size"]
        assert [text.get_text() for text in axis.get_legend().get_texts()] == [f"step_size 2^{np.log2(best):.0f}"]
        assert len({line.get_color() for line in axis.lines}) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", few(["prediction-curves", "prediction-sensitivity", "prediction-bars"], ["prediction-bars"])
)
def test_the_figures_draw_what_the_sweep_holds(name, smoke):
    spec = experiments.find_figure(name)
    fig = named(spec.draw)(spec.table(Stored({"prediction": smoke})))
    FigureCanvasAgg(fig).draw()
    words = {text.get_text() for text in fig.legends[0].get_texts()}
    assert {"TD", "TDC", "TDRC"} <= words
    assert "ETD" not in words
