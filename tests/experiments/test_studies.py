"""What the figures' tables say, checked against closed forms and published numbers, and that drawing them works."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import exact, experiments, figures, mdp
from gpbe.analysis.stored import Stored
from gpbe.errors import InputError
from gpbe.experiments.aliased import computation as aliased
from gpbe.experiments.cost import Speed, cost_of
from gpbe.experiments.geometry import computation as geometry
from gpbe.experiments.kolter import computation as kolter
from gpbe.experiments.study import DeclaredStudy, Study
from gpbe.experiments.tde_bias import computation as tde_bias
from gpbe.experiments.weightings import computation as weightings
from gpbe.experiments.widening import widened
from gpbe.figures import style
from gpbe.lazy import named
from helpers.drawn import check_texts
from helpers.samples import few

STUDIES = {name: each for name, each in experiments.DECLARED.items() if isinstance(each, DeclaredStudy)}
FIGURES = [figure.name for each in STUDIES.values() for figure in each.figures]


NETWORKS = ("spiral", "aliased-learned", "identifiability-learned", "robust")
"""Studies that take a minute to learn; unless a test is slow, it draws made-up results of them."""


def made_up(problem, algorithm, *, steps, runs, every, metrics, **_) -> SimpleNamespace:
    """What `gpbe.predict` might find: errors that grow or fall, values around 0."""
    rng, points = np.random.default_rng(len(algorithm)), steps // every
    curves = {name: rng.uniform(0.2, 5.0, (runs, 1)) ** np.linspace(0, 1, points) for name in metrics}
    return SimpleNamespace(
        steps=np.arange(every, steps + 1, every),
        curves=curves,
        initial={name: np.ones(runs) for name in metrics},
        values=rng.normal(0.0, 0.3, (runs, points, problem.mdp.n_states)),
    )


@cache
def smoke(study: str) -> Stored:
    with pytest.MonkeyPatch.context() as patch:
        if study in NETWORKS:
            patch.setattr(gpbe, "predict", made_up)
        return Stored({study: STUDIES[study].at("smoke").rows()})


def smoke_table(name: str) -> pl.DataFrame:
    spec = experiments.find_figure(name)
    return spec.table(smoke(*spec.needs))


def draw(name: str, table: pl.DataFrame):
    return named(experiments.find_figure(name).draw)(table)


# --- making figures


@pytest.mark.parametrize("name", few(FIGURES, ("kolter",)))
def test_make_writes_the_drawing_and_its_table_and_the_drawing_needs_nothing_but_the_table(name, tmp_path):
    spec = experiments.find_figure(name)
    paths = figures.make(spec, smoke(*spec.needs), tmp_path / "new" / "folder")
    assert [p.name for p in paths] == [f"{name}.{kind}" for kind in ("png", "pdf", "parquet", "csv")]
    assert all(p.stat().st_size > 500 for p in paths)
    png, _, parquet, csv = paths
    again = smoke_table(name)
    assert pl.read_parquet(parquet).equals(again)
    assert pl.read_csv(csv).shape == again.shape
    fig = draw(name, pl.read_parquet(parquet))
    with style.mpl.rc_context(style.RC):
        fig.savefig(tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == png.read_bytes()


COMPUTED = ("kolter", "weightings", "corrections", "aliased", "geometry-sets", "geometry-objectives")
"""Of figures that need nothing to be learned, some."""


@pytest.mark.parametrize("name", few(FIGURES, COMPUTED))
def test_no_text_lies_over_other_text(name):
    check_texts(draw(name, smoke_table(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_what_networks_learn_is_drawn_as_well(name):
    rows = STUDIES[name].at("smoke").rows()
    assert rows.schema == smoke_table(name).schema
    check_texts(draw(name, rows))


def test_unknown_figures_are_refused():
    with pytest.raises(InputError, match=r"there is no figure 'kolters'; did you mean 'kolter'\?"):
        experiments.find_figure("kolters")


def test_a_figure_without_its_results_says_what_to_run(tmp_path):
    with pytest.raises(InputError, match="there are no results of kolter; first: gpbe run kolter"):
        figures.make(experiments.find_figure("kolter"), Stored(), tmp_path)
    partly = Stored({"kolter": pl.DataFrame()}, lacking={"kolter": "has 1 of 2 chunks"})
    with pytest.raises(InputError, match="has 1 of 2 chunks"):
        figures.make(experiments.find_figure("kolter"), partly, tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_experiment_is_drawn_and_every_figure_has_its_experiments():
    assert all(each.figures for each in experiments.DECLARED.values())
    needed = {name for spec in experiments.FIGURES.values() for name in spec.needs}
    stages = {stage.name for staged in experiments.STAGED.values() for stage in staged.stages("paper")}
    assert set(experiments.NAMES) <= needed <= {*experiments.NAMES, *stages}


def test_folders_are_in_the_order_of_the_paper():
    places = [experiments.DECLARED[name].section for name in ("geometry-projection", "kolter", "prediction", "bakeoff")]
    assert places == sorted(places)
    order = [experiments.NAMES.index(name) for name in ("geometry-projection", "kolter", "bakeoff", "corrections")]
    assert order == sorted(order)


@pytest.mark.slow
def test_declaring_and_computing_need_neither_matplotlib_nor_jax():
    code = """
import importlib, pkgutil, sys
from gpbe import experiments
for each in pkgutil.walk_packages(experiments.__path__, "gpbe.experiments."):
    if each.name.count(".") == 3 and not each.name.endswith((".drawing", ".network")):
        importlib.import_module(each.name)
sys.exit(" ".join({"matplotlib", "jax"} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_study_of_ones_own_has_no_estimate_of_one_of_the_same_name():
    speed = Speed(rates={}, relative=2.0)
    theirs = STUDIES["baird"].at("smoke")
    mine = Study("baird", "mine", "runs", "smoke", theirs.pieces)
    assert np.isnan(cost_of(mine, speed).core_seconds)
    assert cost_of(replace(mine, seconds=(4.0, 1.0)), speed).core_seconds == sum(4 + p.work for p in mine.pieces) / 2
    assert cost_of(theirs, speed).core_seconds > 0
    assert replace(mine, seconds=(4.0, 1.0)).spec() == mine.spec()  # no matter of results


# --- H between F and everything


@pytest.mark.parametrize("ridge", [np.inf, 30.0, 1.0, 0.0])
def test_a_ridge_counts_a_share_of_the_projection_penalty(ridge):
    problem = mdp.kolter(p=[0.3, 0.6])
    d = problem.behavior_distribution
    features = widened(problem, [1.0, 0.0], d)
    v = np.array([[3.0, -2.0], [0.5, 4.0]])
    error = exact.projected_bellman_error(problem, v, d, projection=features, ridge=[0.0, ridge])
    parts = exact.bellman_error_parts(problem, v, d)
    np.testing.assert_allclose(error, parts.projected + parts.penalty / (1 + ridge), rtol=1e-10)


# --- Kolter's example


def test_kolters_pole_is_where_the_matrix_vanishes():
    x, gamma = np.array([1.0, 1.06]), 0.99
    one, two = x * (x - gamma * x.mean())  # A(p) = p one + (1 - p) two
    assert kolter.pole() == pytest.approx(two / (two - one), abs=1e-12)
    assert kolter.pole() == pytest.approx(0.684386, abs=5e-7)


def test_kolters_pbe_explodes_and_the_others_stay_bounded():
    table = kolter.run(99)
    worst = {
        key: rows.sort("value_error").row(-1, named=True)
        for key, rows in table.group_by("objective", "weighting", "ridge")
    }
    grown = [worst["pbe", "behavior", r] for r in sorted(kolter.RIDGES, reverse=True)]
    assert grown[0]["value_error"] > 1e6
    assert grown[0]["p"] == pytest.approx(0.684386, abs=1e-5)
    errors = [row["value_error"] for row in grown]
    assert errors == sorted(errors, reverse=True)
    assert errors[1] < 2
    assert worst["be", "behavior", None]["value_error"] < 0.07
    assert worst["pbe", "emphatic", None]["value_error"] < 0.0002


def test_kolters_solutions_in_closed_form():
    table = kolter.run(50)
    p = table.filter(objective="be")["p"].to_numpy()
    x, v, gamma = np.array([1.0, 1.06]), np.array([1.0, 1.05]), 0.99
    d = np.stack([p, 1 - p], axis=-1)
    reward, slope = v - gamma * v.mean(), x - gamma * x.mean()

    def errors(w):
        return (d * (w[:, None] * x - v) ** 2).sum(-1)

    def column(**which):
        return table.filter(**which)["value_error"].to_numpy()

    td, residual, best = (
        d @ (x * reward) / (d @ (x * slope)),
        d @ (slope * reward) / (d @ slope**2),
        d @ (x * v) / (d @ x**2),
    )
    np.testing.assert_allclose(column(objective="pbe", ridge=np.inf), errors(td), rtol=1e-6)
    np.testing.assert_allclose(column(objective="be"), errors(residual), rtol=1e-9)
    np.testing.assert_allclose(column(objective="pbe", ridge=0.0), errors(residual), rtol=1e-9)
    np.testing.assert_allclose(column(objective="ve"), errors(best), rtol=1e-7)


# --- aliased states, the TD error, weightings


def test_aliased_values_go_from_the_pbes_to_the_bes():
    table = aliased.run(21)
    np.testing.assert_allclose(table.filter(share=0.0)["value"], [0.5, 0.5, 1, 0], atol=1e-12)
    np.testing.assert_allclose(table.filter(share=1.0)["value"], [0.5, 0.5, 0.75, 0.25], atol=1e-12)
    assert table["true_value"][:4].to_list() == [1, 0, 1, 0]
    b = table.filter(state="B")
    np.testing.assert_allclose(b["value"], 1 - b["share"] / (2 + 2 * b["share"]), atol=1e-12)
    assert b["ridge"][0] == np.inf
    assert b["ridge"][-1] == 0


def test_the_td_errors_minimum_is_a_divider_of_voltages():
    """Inner edges are walked both ways, the two outer ones once: resistances 1, 1/2, 1/2, 1/2, 1/2, 1 from -1 to 1."""
    table = tde_bias.run(5)
    tde = table.filter(objective="tde")
    np.testing.assert_allclose(tde["value"], [-0.5, -0.25, 0, 0.25, 0.5], atol=1e-12)
    assert tde["distance"][0] == pytest.approx(0.2635, abs=5e-5)
    np.testing.assert_allclose(table["td_error"], table["bellman_error"] + table["variance"], rtol=1e-12)
    others = table.filter(pl.col("objective") != "tde")
    np.testing.assert_allclose(others["value"], others["true_value"], atol=1e-12)
    assert tde["td_error"][0] < others["td_error"][0]
    assert tde["bellman_error"][0] > 1e-3


def test_weightings_of_the_walk_and_of_bairds_star():
    table = weightings.run()

    def weights(problem, weighting):
        return table.filter(problem=problem, weighting=weighting)["weight"].to_numpy()

    np.testing.assert_allclose(weights("random walk", "behavior"), np.array([1, 2, 3, 2, 1]) / 9)
    np.testing.assert_allclose(weights("Baird's star", "behavior"), np.full(7, 1 / 7))
    np.testing.assert_allclose(weights("Baird's star", "target"), np.eye(7)[6])
    # Excursions last 1 / (1 - gamma) = 100 steps, all but the first in the lower state.
    np.testing.assert_allclose(weights("Baird's star", "emphatic"), [*[1 / 700] * 6, 1 - 6 / 700])


# --- geometry


def coordinates(table: pl.DataFrame, name: str, step: int = 0, panel: str | None = None) -> np.ndarray:
    rows = table.filter(name=name, step=step)
    return (rows if panel is None else rows.filter(panel=panel)).select("x", "y", "z").to_numpy()[0]


def test_the_three_state_problem_is_off_policy():
    problem = geometry.three_states()
    assert np.abs(problem.target_distribution - problem.behavior_distribution).max() > 0.1


@pytest.mark.parametrize("name", ["geometry-projection", "geometry-objectives", "geometry-sets"])
def test_coordinates_keep_lengths_and_put_the_features_into_the_plane(name):
    table = smoke_table(name)
    d = geometry.three_states().behavior_distribution
    points, values = table.select("x", "y", "z").to_numpy(), table.select("v1", "v2", "v3").to_numpy()
    gram = values * d @ values.T
    np.testing.assert_allclose(points @ points.T, gram, atol=1e-12)
    frame = geometry.Frame.of(geometry.three_states())
    for feature in geometry.three_states().features.T:
        assert abs(frame(feature)[2]) < 1e-14
    assert frame(geometry.three_states().values)[2] > 1


def test_iterates_go_to_the_fixed_point_by_dropping_onto_the_plane():
    table = geometry.projection(60)
    problem = geometry.three_states()
    weighted = (problem.features * problem.behavior_distribution[:, None]).T
    for step in range(60):
        up, down = (table.filter(name=n, step=s) for n, s in (("T v", step), ("v", step + 1)))
        np.testing.assert_allclose(
            coordinates(table, "v", step + 1), coordinates(table, "T v", step) * [1, 1, 0], atol=1e-12
        )
        residual = up.select("v1", "v2", "v3").to_numpy()[0] - down.select("v1", "v2", "v3").to_numpy()[0]
        np.testing.assert_allclose(weighted @ residual, 0, atol=1e-12)
    np.testing.assert_allclose(coordinates(table, "v", 60), coordinates(table, "pbe"), atol=1e-6)
    np.testing.assert_allclose(coordinates(table, "T pbe") * [1, 1, 0], coordinates(table, "pbe"), atol=1e-12)


def test_the_picture_shows_the_errors_as_squared_distances():
    table = geometry.objectives()
    rows = {row["name"]: row for row in table.iter_rows(named=True)}
    for name in ("pbe", "be", "ve"):
        v, after, back = (coordinates(table, n) for n in (name, f"T {name}", f"Pi T {name}"))
        row = rows[name]
        assert ((after - v) ** 2).sum() == pytest.approx(row["bellman_error"])
        assert ((back - v) ** 2).sum() == pytest.approx(row["projected_bellman_error"], abs=1e-12)
        assert ((after - back) ** 2).sum() == pytest.approx(row["penalty"])
        assert ((v - coordinates(table, "v_pi")) ** 2).sum() == pytest.approx(row["value_error"])
    assert rows["pbe"]["projected_bellman_error"] < 1e-20
    assert rows["be"]["penalty"] < rows["be"]["bellman_error"] < rows["pbe"]["penalty"]
    assert rows["ve"]["value_error"] < rows["be"]["value_error"] < rows["pbe"]["value_error"]


def test_the_pbe_is_the_distance_between_projections_on_h():
    table = geometry.sets()
    for row in table.filter(name="v").iter_rows(named=True):
        feet = [coordinates(table, n, row["step"], row["panel"]) for n in ("Pi v", "Pi T v")]
        assert ((feet[0] - feet[1]) ** 2).sum() == pytest.approx(row["projected_bellman_error"], abs=1e-12)
    for step in (0, 1):
        v, direction = coordinates(table, "v", step, "a"), coordinates(table, "F", 0, "a")
        np.testing.assert_allclose(np.cross(v, direction), 0, atol=1e-12)
        np.testing.assert_allclose(coordinates(table, "Pi v", step, "a"), v, atol=1e-12)
    assert coordinates(table, "T v", 0, "a")[2] > 1
    assert coordinates(table, "T v", 1, "a")[2] == pytest.approx(0, abs=1e-12)
    spanning = np.stack([coordinates(table, "F", k, "b") for k in (0, 1)])
    solved, after = coordinates(table, "v", 1, "b"), coordinates(table, "T v", 1, "b")
    assert abs(np.linalg.det(np.stack([*spanning, solved]))) < 1e-12
    np.testing.assert_allclose((after - solved)[:2], 0, atol=1e-12)
    assert after[2] - solved[2] > 0.5
