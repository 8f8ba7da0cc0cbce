"""The fast solver and the random-walk experiment, against the careful solver."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from gpbe import InputError, exact, features, mdp
from gpbe.experiments.random_walk import computation as random_walk


def walks(n: int, x: np.ndarray, seed: int = 0) -> mdp.PredictionProblem:
    target, behavior = np.random.default_rng(seed).dirichlet([1.0, 1.0], size=(2, n, 19))
    return mdp.PredictionProblem(mdp.random_walk(19, 0.99), target, behavior, x)


REPRESENTATIONS = {
    "network": lambda n: features.random_network(19, rng=1, batch=(n,)),
    "tile coding": lambda n: features.tile_coding(19, rng=1, batch=(n,)),
    "dependent": lambda n: features.dependent(19),
    "aggregation": lambda n: features.aggregation(features.equal_bins(19)),
}


@pytest.mark.parametrize("objective", ["ve", "pbe", "be"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_fast_values_are_those_of_the_careful_solver(representation, objective):
    """Normal equations lose digits where weights span many orders, so the error is judged by its value error."""
    problem = walks(300, REPRESENTATIONS[representation](300))
    for name in ("behavior", "target", "emphatic"):
        d = exact.weighting(problem, name)
        fast = exact.FixedPoints(problem).values(objective, d)
        careful = exact.solution(problem, objective, d)
        known = careful.condition < 1e7 if representation != "tile coding" else careful.unique_values
        gap = exact.norm(fast - careful.values, d)[known] / (1e-3 + exact.norm(careful.values, d)[known])
        assert np.quantile(gap, 0.99) < 1e-6
        assert known.mean() > 0.7


def test_tile_coding_is_dependent_and_still_solved():
    problem = walks(50, features.tile_coding(19, rng=3, batch=(50,)))
    assert (np.linalg.matrix_rank(problem.features) < 16).all()
    assert np.isfinite(exact.FixedPoints(problem).values("pbe", "behavior")).all()


def test_fast_solver_refuses_what_it_cannot_do():
    problem = mdp.baird()
    with pytest.raises(InputError, match=r"weight 0.*exact\.solution"):
        exact.FixedPoints(problem).values("pbe", "target")
    with pytest.raises(InputError, match="no fast solution for 'tde'"):
        exact.FixedPoints(problem).values("tde", "behavior")


def test_experiment_agrees_with_one_problem_at_a_time():
    """One draw, recomputed with nothing but `exact.solution` and the definition of the normalized error."""
    sums = random_walk.solve_chunk(seed=5, chunk=2, n=1)
    rng = np.random.default_rng([5, 2])
    target, behavior = rng.dirichlet([1.0, 1.0], size=(2, 1, 19))
    for i, make in enumerate(random_walk.REPRESENTATIONS.values()):
        x = np.broadcast_to(make(rng, 1), (1, 19, make(np.random.default_rng(0), 1).shape[-1]))[0]
        p = mdp.PredictionProblem(mdp.random_walk(19, 0.99), target[0], behavior[0], x)
        for j, evaluation in enumerate(("behavior", "target")):
            best = exact.solution(p, "ve", evaluation).error
            errors = [
                exact.value_error(p, exact.solution(p, objective, w).values, evaluation) - best
                for objective in ("pbe", "be")
                for w in ("behavior", "target", "emphatic")
            ]
            np.testing.assert_allclose(sums.error[i, j], np.array(errors) / max(errors), rtol=1e-5, atol=1e-8)


@pytest.mark.slow
def test_experiment_is_the_same_in_pieces():
    whole = random_walk.table(random_walk.rows(1, 0, 2500))
    pieces = random_walk.table(pl.concat([random_walk.rows(1, 0, 2000), random_walk.rows(1, 2000, 500)]))
    assert whole["draws"].unique().to_list() == [2500]
    assert_frame_equal(whole, pieces, rel_tol=1e-12)
    assert not whole.equals(random_walk.table(random_walk.rows(2, 0, 2500)))


def test_pieces_cover_all_draws_once():
    spans = [piece.arguments[1:] for piece in random_walk.pieces_of(23_500)]
    assert spans == [(0, 10_000), (10_000, 10_000), (20_000, 3500)]


def test_experiment_finds_what_the_paper_reports():
    """Emphatic PBE has the smallest error under d_b for every representation, and d_b the largest among PBEs."""
    table = random_walk.table(random_walk.rows(0, 0, 2000))
    for representation in random_walk.REPRESENTATIONS:
        rows = table.filter(representation=representation, evaluation="behavior")
        assert rows.sort("error").row(0, named=True)["weighting"] == "emphatic"
        assert rows.sort("error").row(0, named=True)["objective"] == "pbe"
        assert rows.filter(objective="pbe").sort("error").row(-1, named=True)["weighting"] == "behavior"
