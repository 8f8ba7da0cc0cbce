"""Large sparse chains: systems with I - P, stationary distributions and norms, without an array of S x S numbers.

A system is factored where the graph is thin, which is to say that a breadth-first search never has more than a few
times sqrt(S) states at one distance: grids, chains and trees of any size, whose factors stay sparse. Other graphs mix
fast, so that BiCGSTAB, preconditioned by the diagonal, needs few steps.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import csc_array, eye_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import bicgstab, splu

from gpbe.errors import InputError
from gpbe.shapes import Array, Operator, Sparse

SMALL = 5000
"""Systems of this size are factored whatever their graph is."""
THIN = 8.0
"""How many times sqrt(S) states a level of a thin graph may have."""
HUBS = 16
"""States with very many neighbors (where episodes start, say) that are left out before the graph is measured."""
TOLERANCE = 1e-12
"""Norm of the residual of a Krylov solution over that of the right side."""
STEPS = 5000


class SparseInverse(Operator):
    """The inverse of a sparse M-matrix such as I - P, as an operator; it is factored once, when it is first used.

    >>> inverse = SparseInverse(Sparse([[1.0, -0.5], [0.0, 1.0]]))
    >>> inverse @ np.array([1.0, 1.0]), inverse.T @ np.array([1.0, 1.0])
    (array([1.5, 1. ]), array([1. , 1.5]))
    """

    def __init__(self, matrix: Sparse):
        super().__init__(np.dtype(float), matrix.shape)
        self.matrix = matrix

    @cached_property
    def factors(self) -> Any:
        """The LU factors, or None where the graph would fill them. An M-matrix needs no pivoting."""
        if not is_thin(self.matrix):
            return None
        options = {"SymmetricMode": True}
        return splu(csc_array(self.matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    def _matmat(self, X: Array) -> Array:
        return self._solve(X, "N")

    def _rmatmat(self, X: Array) -> Array:
        return self._solve(X, "T")

    def _matvec(self, x: Array) -> Array:
        return self._solve(x.reshape(-1), "N")

    def _rmatvec(self, x: Array) -> Array:
        return self._solve(x.reshape(-1), "T")

    def _solve(self, right: Array, trans: str) -> Array:
        right = np.asarray(right, dtype=float)
        if self.factors is not None:
            return self.factors.solve(right, trans)
        matrix = self.matrix if trans == "N" else Sparse(self.matrix.T)
        if right.ndim == 1:
            return krylov(matrix, right)
        return np.stack([krylov(matrix, column) for column in right.T], axis=1)


def krylov(matrix: Sparse, right: Array) -> Array:
    """Solve by BiCGSTAB with the diagonal as preconditioner, to a residual of `TOLERANCE` times the right side."""
    if not right.any():
        return np.zeros_like(right)
    diagonal = matrix.diagonal()
    jacobi = Operator(matrix.shape, lambda x: x / diagonal, dtype=float)
    x, _ = bicgstab(matrix, right, rtol=TOLERANCE, atol=0.0, maxiter=STEPS, M=jacobi)
    missed = float(np.linalg.norm(matrix @ x - right) / np.linalg.norm(right))
    if not missed < 100 * TOLERANCE:
        raise InputError(
            f"a system of {len(right)} states was solved only to a relative residual of {missed:.2g} in {STEPS} steps, "
            f"and {100 * TOLERANCE:g} is needed; use smaller discounts, or fewer states"
        )
    return x


def is_thin(matrix: Sparse) -> bool:
    """Do the factors of this matrix stay sparse? They do if all levels of a breadth-first search are narrow.

    >>> is_thin(eye_array(6000, k=1, format="csr"))
    True
    """
    n = matrix.shape[0]
    if n <= SMALL:
        return True
    graph = Sparse(matrix != 0)
    degree = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=n)
    hubs = degree > THIN * np.sqrt(n)
    if hubs.sum() > HUBS:
        return False
    rest = np.flatnonzero(~hubs)
    graph = Sparse(graph[rest][:, rest]) if hubs.any() else graph
    _, label = connected_components(graph, directed=False)
    first = int((label == np.bincount(label).argmax()).argmax())
    order, predecessor = breadth_first_order(graph, first, directed=False)
    position = np.empty(graph.shape[0], dtype=np.int64)
    position[order] = np.arange(len(order))
    found_from = position[predecessor[order[1:]]]  # it never falls, so a level is a stretch of `order`
    begin, end = 0, 1
    while begin < end:
        begin, end = end, 1 + int(np.searchsorted(found_from, end))
        if end - begin > THIN * np.sqrt(n):
            return False
    return True


def sparse_stationary(transition: Sparse) -> Array:
    """The stationary distribution of an irreducible sparse chain.

    One state is left out, the one that is visited most in the short run: how often the others are visited between two
    visits there solves (I - P') x = P(k, .) over the other states, in which nothing is subtracted that matters.

    >>> sparse_stationary(Sparse([[0.9, 0.1], [0.3, 0.7]]))
    array([0.75, 0.25])
    """
    n = transition.shape[0]
    if n == 1:
        return np.ones(1)
    backward = Sparse(transition.T)
    d = np.full(n, 1 / n)
    for _ in range(50):
        d = (d + backward @ d) / 2
    k = int(d.argmax())
    others = np.delete(np.arange(n), k)
    inner = Sparse(eye_array(n - 1, format="csr") - backward[others][:, others])
    visits = SparseInverse(inner) @ Sparse(transition[[k]]).toarray()[0, others]
    d = np.insert(np.maximum(visits, 0.0), k, 1.0)
    d /= d.sum()
    missed = float(np.abs(backward @ d - d).sum())
    if not missed < 1e-9:
        raise InputError(
            f"the stationary distribution of {n} states was found only to within {missed:.2g}; the chain mixes too "
            "slowly, so give the weighting as an array"
        )
    return d


def largest_singular_value(
    forward: Callable[[Array], Array], backward: Callable[[Array], Array], start: Array, tolerance: float = 1e-11
) -> float:
    """The norm of a matrix that is known by what it and its transpose do, by Lanczos steps on M'M from `start`.

    The estimate grows towards the norm; it is returned when 25 steps have changed it by less than `tolerance`.

    >>> M = np.array([[3.0, 0.0], [4.0, 0.0]])
    >>> round(largest_singular_value(lambda x: M @ x, lambda x: M.T @ x, np.ones(2)), 12)
    5.0
    """
    q, before = start / np.linalg.norm(start), np.zeros_like(start)
    diagonal, off, found = [], [], [0.0]
    for _ in range(STEPS):
        z = backward(forward(q)) - (off[-1] * before if off else 0.0)
        diagonal.append(float(q @ z))
        z -= diagonal[-1] * q
        length = float(np.linalg.norm(z))
        if len(diagonal) % 25 == 0 or length <= 1e-14 * max(diagonal):
            found.append(float(eigvalsh_tridiagonal(diagonal, off, select="i", select_range=(len(off), len(off)))[0]))
            if length <= 1e-14 * max(diagonal) or found[-1] - found[-2] <= tolerance * found[-1]:
                break
        off.append(length)
        before, q = q, z / length
    return float(np.sqrt(max(found[-1], 0.0)))
