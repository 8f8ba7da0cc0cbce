"""A sparse problem has the numbers of the same problem from arrays, and never makes an array of S x S."""

import numpy as np
import pytest

import gpbe
from gpbe import exact, linalg, mdp
from gpbe.exact.weightings import WEIGHTINGS
from helpers.samples import few
from helpers.sparse import as_dense, as_sparse
from helpers.strategies import random_problem

CLOSE = {"rtol": 1e-8, "atol": 1e-10}
OPTIONS = {"be": ("lam",), "pbe": ("lam",), "neu": ("lam",)}


@pytest.fixture(scope="module", params=["grid", "random", "dependent"])
def pair(request):
    """A problem from sparse matrices, and the same from arrays."""
    if request.param == "grid":
        sparse = mdp.gridworld(12, 9, slip=0.2, knots=4, seed=3)
        return sparse, as_dense(sparse)
    representation = "random" if request.param == "random" else "repeated"
    dense = random_problem(5, states=41, representation=representation, columns=6)
    return as_sparse(dense, features=request.param == "random"), dense


@pytest.fixture(params=["as it is", "as if it were tall"])
def tall(request, monkeypatch):
    """Matrices of a few rows take the way of those with many."""
    if request.param == "as if it were tall":
        monkeypatch.setattr(linalg.operators, "TALL", 3)
        monkeypatch.setattr(linalg.operators, "BLOCK", 300)


def same(one, other):
    for field in one._fields:
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), **CLOSE, err_msg=field)


@pytest.mark.parametrize("lam", [0.0, 0.6])
def test_weightings_and_systems(pair, lam):
    for name in WEIGHTINGS:
        np.testing.assert_allclose(*(exact.weighting(p, name, lam) for p in pair), **CLOSE)
    np.testing.assert_allclose(*(exact.weighting(p, "followon", beta=0.5) for p in pair), **CLOSE)
    np.testing.assert_allclose(*(p.values for p in pair), **CLOSE)
    np.testing.assert_allclose(*(exact.return_variance(p) for p in pair), **CLOSE)
    same(*(exact.linear_system(p, "behavior", lam) for p in pair))


@pytest.mark.parametrize("objective", ["ve", "re", "be", "pbe", "tde", "neu"])
@pytest.mark.parametrize("lam", [0.0, 0.6])
def test_solutions(pair, tall, objective, lam):
    options = {"lam": lam} if objective in OPTIONS else {}
    one, other = (exact.solution(p, objective, "emphatic", **options) for p in pair)
    assert one.rank == other.rank
    assert one.feature_rank == other.feature_rank
    np.testing.assert_allclose(one.values, other.values, **CLOSE)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-8, atol=1e-9)


def test_identities_and_stability(pair, tall):
    v = np.linspace(-1, 1, pair[0].mdp.n_states)
    same(*(exact.bellman_error_parts(p, v, "behavior") for p in pair))
    same(*(exact.td_error_parts(p, v, "behavior") for p in pair))
    one, other = (exact.td_stability(p, "behavior", 0.3) for p in pair)
    assert one.verdict == other.verdict
    np.testing.assert_allclose(one.eigenvalues.real, other.eigenvalues.real, rtol=1e-6, atol=1e-10)
    assert len({exact.gradient_stability(p, "behavior", beta=1.0) for p in pair}) == 1


@pytest.mark.parametrize("lam", [0.0, 0.6])
def test_bounds(pair, tall, lam):
    for d in ("behavior", "target"):
        one, other = (exact.value_error_bound(p, d, lam) for p in pair)
        np.testing.assert_allclose(one.right, other.right, rtol=1e-6)
        np.testing.assert_allclose(one.left, other.left, **CLOSE)
    sparse, dense = (exact.all_bounds(p, "behavior") for p in pair)
    assert set(dense) - set(sparse) <= {"antos", "oblique", "scherrer", "transition-1"}  # those that need S x S
    for name, bound in sparse.items():
        np.testing.assert_allclose(bound.right, dense[name].right, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("pair", few(["grid", "random", "dependent"], ["random"]), indirect=True)
def test_learning_is_from_the_same_data(pair):
    names = ("rmsve", "rmspbe", "rmsbe", "distance")
    options = {"steps": 60, "runs": 2, "metrics": names, "lam": 0.5, "step_size": 0.01, "every": 20}
    one, other = (gpbe.predict(p, "tree-backup", **options) for p in pair)
    for name in names:
        np.testing.assert_allclose(one.curves[name], other.curves[name], rtol=1e-3, err_msg=name)


def test_what_needs_square_arrays_is_refused_in_a_line(pair, refuses):
    sparse, _ = pair
    n = sparse.mdp.n_states
    refuses(lambda: exact.kernel_bellman_error(sparse, np.zeros(n), "behavior", np.eye(n)), "needs arrays of S x S")
    refuses(lambda: exact.oblique_bound(sparse, "behavior"), "the oblique projection needs arrays of S x S numbers")
    refuses(lambda: exact.FixedPoints(sparse), "FixedPoints needs arrays")


@pytest.mark.slow
def test_a_diagnosis_of_two_thousand_states_is_that_of_arrays():
    sparse = mdp.gridworld(47, seed=2)
    assert sparse.mdp.n_states > 1900
    one, other = exact.diagnose(sparse), exact.diagnose(as_dense(sparse))
    assert one.recommendation == other.recommendation
    for mine, theirs in zip(one.findings, other.findings, strict=True):
        np.testing.assert_allclose(mine.solution.values, theirs.solution.values, rtol=1e-8, atol=1e-8)
        if mine.bound is not None:
            np.testing.assert_allclose(mine.bound.right, theirs.bound.right, rtol=1e-6)
    for name, weights in one.weightings.items():
        np.testing.assert_allclose(weights, other.weightings[name], rtol=1e-8)
