"""The directions in which the linear algorithms move w and h. Each reads like its equation.

Symbols: x, x' features of S_t and S_{t+1}; gamma the discount between them; rho the ratio of A_t on the TD error,
lam the trace parameter on arrival in S_{t+1}; e the trace without rho, M its emphasis on x. In expectation
E[rho delta e] = b - A w, E[M x x'] = C, and A = C - E[gamma (1 - lam) rho e x''].
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from gpbe.shapes import Number, Vector


class Step(NamedTuple):
    """All that an update may use of one transition."""

    x: Vector
    x_next: Vector
    reward: Number
    gamma: Number
    rho: Number
    lam: Number
    e: Vector
    emphasis: Number
    e_behavior: Vector | None = None
    """The trace as it would be if the target were the behavior; for HTD."""


Direction = Callable[[Step, Vector, Vector], tuple[Vector, Vector]]
Update = Literal["td", "gradient-correction", "saddlepoint", "hybrid", "finite-sum", "least-squares"]


def dot(a: Vector, b: Vector) -> Number:
    """The product a.b as a sum of products: in a compiled loop over many runs these fuse, a matrix product does not."""
    return (a * b).sum(-1)


def td_error(t: Step, w: Vector) -> Number:
    """The TD error delta = R + gamma w.x' - w.x.

    >>> x, x_next = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> t = Step(x, x_next, reward=1.0, gamma=0.9, rho=1.0, lam=0.0, e=x, emphasis=1.0)
    >>> round(float(td_error(t, np.array([2.0, 3.0]))), 6)  # 1 + 0.9 * 3 - 2
    1.7
    """
    return t.reward + t.gamma * dot(w, t.x_next) - dot(w, t.x)


def td(t: Step, w: Vector, h: Vector) -> tuple[Vector, Vector]:
    """Semi-gradient TD: rho delta e. The second weights stay where they are."""
    return t.rho * td_error(t, w) * t.e, 0 * h


def gradient_correction(t: Step, w: Vector, h: Vector) -> tuple[Vector, Vector]:
    """GTD(lam) = TDC: rho delta e - gamma (1 - lam) rho (e.h) x', and h regresses rho delta e on x."""
    update = t.rho * td_error(t, w) * t.e
    correction = t.gamma * (1 - t.lam) * t.rho * dot(t.e, h) * t.x_next
    return update - correction, update - t.emphasis * dot(t.x, h) * t.x


def saddlepoint(t: Step, w: Vector, h: Vector) -> tuple[Vector, Vector]:
    """GTD2(lam): M (x.h) x - gamma (1 - lam) rho (e.h) x', which is A'h in expectation; h as in TDC.

    The other unbiased sample of A'h, rho (x - gamma x') (e.h), has the larger variance for lam > 0.
    """
    regression = t.emphasis * dot(t.x, h) * t.x
    correction = t.gamma * (1 - t.lam) * t.rho * dot(t.e, h) * t.x_next
    return regression - correction, t.rho * td_error(t, w) * t.e - regression


def finite_sum(t: Step, w: Vector, h: Vector) -> tuple[Vector, Vector]:
    """One term of the saddlepoint problem over a data set: A_t'h with A_t = rho e (x - gamma x')'; h as in TDC.

    GTD2's form relies on an identity of expectations, which a finite data set does not satisfy.
    """
    change = t.x - t.gamma * t.x_next
    return t.rho * dot(t.e, h) * change, t.rho * td_error(t, w) * t.e - t.emphasis * dot(t.x, h) * t.x


def hybrid(t: Step, w: Vector, h: Vector) -> tuple[Vector, Vector]:
    """HTD(lam): rho delta e + (x - gamma x') ((rho e - e_b).h), which is TD where the policies agree."""
    update = t.rho * td_error(t, w) * t.e
    change = t.x - t.gamma * t.x_next
    return update + dot(t.rho * t.e - t.e_behavior, h) * change, update - dot(t.e_behavior, h) * change


def bounded(t: Step, h: Vector, huber: Number, xp: Any = np) -> Vector:
    """The closest weights h with |h(S)| <= huber, where h(S) = x.h: it is clipped, by a step along x.

    Taken in every state that comes along, such steps keep h within the set of the Huber PBE (`gpbe.exact.robust`).

    >>> t = Step(np.array([2.0, 0.0]), *[None] * 7)
    >>> bounded(t, np.array([3.0, 5.0]), huber=1.0)  # from h(S) = 6 to 1
    array([0.5, 5. ])
    """
    value = dot(t.x, h)
    excess = value - xp.clip(value, -huber, huber)
    return h - excess / xp.maximum(dot(t.x, t.x), 1e-30) * t.x


DIRECTIONS: dict[Update, Direction] = {
    "td": td,
    "gradient-correction": gradient_correction,
    "saddlepoint": saddlepoint,
    "hybrid": hybrid,
    "finite-sum": finite_sum,
}
"""The functions that move w and h, by the name of the update."""
