"""The h in H that attains a projected error, bounded or not, from the errors that it sees.

    PBE                max { <d, 2 e h - h^2> : h in H }
    Huber PBE          max { <d, 2 e h - h^2> : h in H, |h| <= huber }
    absolute PBE       max { <d, e h>         : h in H, |h| <= 1 }

H is spanned by features, d weights states (or pairs), and e are the errors there. `huber` is infinite for the first and
0 for the last. With a bound the errors fall into what h explains, outliers u, and the rest, which is orthogonal to H.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats
from gpbe.errors import InputError
from gpbe.exact.bounded import bounded_maximum
from gpbe.exact.projections import weighted_basis
from gpbe.shapes import Array, Features, PerState, Weights


class BoundedH(NamedTuple):
    """The h that attains a robust PBE."""

    h: PerState
    weights: Weights
    """The weights of the features of H."""
    error: float
    """What it attains, a lower bound on the robust PBE."""
    gap: float
    """How far above that the robust PBE may be."""


class Within(NamedTuple):
    """H in an orthonormal basis under d: a function g in H is `basis` times its coordinates z, and <g, g> = z.z."""

    features: Features
    d: PerState
    basis: Float[Array, "N M"]
    """A row for each of the N states that d gives weight."""
    onto: Float[Array, "M S"]
    """Takes errors in all states to the coordinates of their projection."""

    def per_state(self, multipliers: Float[Array, " N"]) -> PerState:
        """The outliers u; multipliers are d u."""
        u = np.zeros(len(self.d))
        u[self.d > 0] = multipliers / self.d[self.d > 0]
        return u

    def function(self, z: Float[Array, " M"], huber: float) -> tuple[PerState, Weights]:
        """The function h = huber g (g itself for the absolute error) in every state, and its least-norm weights."""
        root, h = np.sqrt(self.d), np.zeros(len(self.d))
        h[self.d > 0] = (huber or 1.0) * self.basis @ z
        weights = np.linalg.pinv(root[:, None] * self.features, rcond=1e-12) @ (root * h)
        return np.where(self.d > 0, h, self.features @ weights), weights

    def bounds(self, c: Array, z: Array, multipliers: Array, huber: float) -> tuple[float, float]:
        """The loss is at least what g attains, and at most what the outliers say; c are coordinates of the errors.

        The outliers are u and as much more as makes what is left of the error huber g exactly.
        """
        left = c - self.basis.T @ multipliers - huber * z
        mass = multipliers + self.d[self.d > 0] * (self.basis @ left)
        lower, upper = c @ z - huber / 2 * z @ z, huber / 2 * z @ z + np.abs(mass).sum()
        unit = 2 * huber if huber else 1.0
        return unit * float(lower), unit * float(max(lower, upper))


def within(features: Features, d: PerState) -> Within:
    """The set H that features span, under the weights d of one problem."""
    seen, root, basis = d > 0, np.sqrt(d), weighted_basis(features, d)
    basis = basis[:, basis.any(0)]
    return Within(features, d, basis[seen] / root[seen, None], basis.T * root)


def bounded_regression(
    errors: PerState, features: Features, d: PerState, huber: float
) -> tuple[BoundedH, Float[Array, " S"]]:
    """The maximizing h of the Huber error, of the absolute error if `huber` is 0; and the outliers.

    >>> best, outliers = bounded_regression(np.array([5.0, 0.5]), np.eye(2), np.array([0.5, 0.5]), huber=1.0)
    >>> best.h.round(6), outliers.round(6) + 0.0, round(best.error, 6)
    (array([1. , 0.5]), array([4., 0.]), 4.625)
    """
    space = within(features, d)
    c = space.onto @ errors
    z, multipliers = bounded_maximum(space.basis, c, huber)
    lower, upper = space.bounds(c, z, multipliers, huber)
    return BoundedH(*space.function(z, huber), lower, upper - lower), space.per_state(multipliers)


def as_threshold(huber: float, zero: bool = False) -> float:
    """The threshold of the Huber error as a float above 0, or 0 for the absolute error where that is meant."""
    tau = as_floats(huber, "huber")
    if tau.ndim or tau < 0 or (tau == 0 and not zero):
        raise InputError(
            f"huber is {huber}; it should be one number above 0{' (0: the absolute error)' if zero else ''}"
        )
    return float(tau)
