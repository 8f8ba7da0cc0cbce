"""Projections and norms under a state weighting."""

import numpy as np
from jaxtyping import Float
from scipy.sparse import issparse

from gpbe import linalg
from gpbe.checks import as_floats, check_shape
from gpbe.errors import InputError
from gpbe.exact.weightings import Name, as_weighting
from gpbe.mdp import PredictionProblem
from gpbe.mdp.sparse import as_sparse_features
from gpbe.shapes import Array, Features, Numbers, Operator, PerState, Scalar, StateMatrix, Weights, as_scalar


def weighted_basis(features: Features, d: PerState, ridge: Numbers = 0.0) -> Float[Array, "... S R"]:
    """U with U U' = D^1/2 Phi (Phi'D Phi + R)^+ Phi'D^1/2: the projection on span(Phi), in D^1/2 coordinates.

    R = diag(`ridge`) penalizes directions of Phi: 0 leaves one free, infinity takes it out.
    """
    ridge = as_ridge(ridge)
    if not ridge.any():
        return linalg.weighted_span(linalg.scaled(np.sqrt(d), features))
    features, k = linalg.as_matrix(features), features.shape[-1]
    ridge = np.broadcast_to(ridge, (*ridge.shape[:-1], k))
    penalized = np.where(np.isinf(ridge), 0.0, 1.0)[..., None, :]
    rows = np.sqrt(d)[..., None] * features * penalized
    penalty = np.sqrt(np.where(np.isinf(ridge), 0.0, ridge))[..., None] * np.eye(k)
    batch = np.broadcast_shapes(rows.shape[:-2], penalty.shape[:-2])
    rows = np.concatenate([np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (rows, penalty)], axis=-2)
    return linalg.weighted_span(rows)[..., : features.shape[-2], :]


def as_ridge(ridge: Numbers) -> Array:
    """The penalty on directions of H, which is not negative."""
    array = np.asarray(ridge, dtype=float)
    if (array < 0).any() or np.isnan(array).any():
        raise InputError("ridge must not be negative; use 0 for no penalty")
    return array


def regression(features: Features, d: PerState, u: PerState) -> Weights:
    """The least-norm weights of the h in span(features) that is closest to u under d."""
    root = np.sqrt(d)
    rows, target = linalg.system(linalg.scaled(root, features), None, root * u)
    return linalg.least_squares(rows, target).solution


def projected(features: Features, d: PerState, u: PerState) -> PerState:
    """Pi_{H,d} u, without the matrix.

    >>> projected(np.ones((2, 1)), np.array([0.25, 0.75]), np.array([0.0, 4.0])).round(12)
    array([3., 3.])
    """
    return linalg.apply(features, regression(features, d, u))


def projection_matrix(features: Numbers, d: PerState, ridge: Numbers = 0.0) -> StateMatrix:
    """Pi_{H,d}: u -> the closest h in span(features), closeness weighted by d (paper, section 4.3).

    States of weight 0 are not seen by d; there the least-norm coefficients extrapolate.

    >>> projection_matrix(np.ones((2, 1)), d=np.array([0.25, 0.75]))
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """
    features = as_floats(features, "features")
    d = np.asarray(d, dtype=float)
    if (d > 0).all():
        u, root = weighted_basis(features, d, ridge), np.sqrt(d)
        return u @ np.swapaxes(u, -1, -2) * (root[..., None, :] / root[..., :, None])
    if np.any(ridge):
        raise InputError("a penalized projection needs a weighting that is positive in every state")
    root = np.sqrt(d)[..., None]
    return features @ np.linalg.pinv(root * features, rcond=1e-12) * np.swapaxes(root, -1, -2)


def as_projection(problem: PredictionProblem, projection: Numbers | None) -> Features:
    """Features of the set H (..., S, anything); H = F if left out."""
    if projection is None:
        return problem.features
    if issparse(projection):
        return as_sparse_features(projection, problem.mdp.n_states)
    array = as_floats(projection, "projection")
    columns = array.shape[-1] if array.ndim else 0
    check_shape(array, (problem.mdp.n_states, columns), "projection", "states, features of H")
    if not columns:
        raise InputError(f"projection has shape {array.shape}; there should be one feature of H at least")
    return array


def norm(u: PerState, d: PerState) -> Scalar:
    """||u||_d.

    >>> norm(np.array([3.0, 4.0]), np.array([1.0, 1.0]))
    5.0
    """
    return as_scalar(np.sqrt((d * u**2).sum(-1)))


def operator_norm(matrix: StateMatrix | Operator, d: PerState) -> Scalar:
    """||M||_d = max ||M u||_d / ||u||_d, the largest singular value of D^1/2 M D^-1/2.

    Infinite if M carries something from states that d gives no weight to states that it does. Of a matrix that is no
    array, which must have no negative entry, it is found by iteration.

    >>> operator_norm(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([0.5, 0.5]))
    2.0
    """
    if not linalg.is_dense(matrix):
        return _iterated_norm(matrix, d)
    matrix, d = np.broadcast_arrays(matrix, d[..., None])
    d = d[..., 0]
    seen, root = d > 0, np.sqrt(d)
    inverse = np.divide(1.0, root, out=np.zeros(d.shape), where=seen)
    scaled = root[..., :, None] * matrix * inverse[..., None, :]
    leak = np.abs(matrix) > 1e-13
    unseen = (leak & seen[..., :, None] & ~seen[..., None, :]).any((-1, -2))
    return as_scalar(np.where(unseen, np.inf, np.linalg.norm(scaled, ord=2, axis=(-2, -1))))


def _iterated_norm(matrix: StateMatrix | Operator, d: PerState) -> Scalar:
    seen, root = d > 0, np.sqrt(d)
    if not seen.all() and (matrix @ np.where(seen, 0.0, 1.0))[seen].max() > 1e-13:
        return np.inf
    inverse = np.divide(1.0, root, out=np.zeros(d.shape), where=seen)
    return linalg.largest_singular_value(
        lambda u: root * (matrix @ (inverse * u)), lambda u: inverse * (matrix.T @ (root * u)), root
    )


def oblique_projection(problem: PredictionProblem, d: Name | Numbers, projection: Numbers | None = None) -> StateMatrix:
    """Pi_{F,H}, the oblique projection of v_pi that is the generalized PBE's solution (paper, corollary 3).

    X (M'(I - P)X)^-1 M'(I - P) with M = Pi_{H,d}' D (I - P) X; a pseudo-inverse where that is singular.

    >>> from gpbe import mdp
    >>> problem = mdp.problem("random-walk-5")
    >>> pi = oblique_projection(problem, "behavior")
    >>> from gpbe.exact import solution
    >>> bool(np.allclose(pi @ problem.values, solution(problem, "pbe", "behavior").values))
    True
    """
    problem.mdp.dense("the oblique projection")
    d, x, l = as_weighting(problem, d), problem.features, problem.bellman_matrix
    u = weighted_basis(as_projection(problem, projection), d)
    seen = np.swapaxes(u, -1, -2) * np.sqrt(d)[..., None, :] @ l
    scale = linalg.frobenius(seen) * linalg.frobenius(x)
    return x @ linalg.pseudo_inverse(seen @ x, scale).inverse @ seen
