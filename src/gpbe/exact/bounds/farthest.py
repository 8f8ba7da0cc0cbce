"""The largest value of a convex quadratic on a ball: a trust-region problem, solved exactly."""

import numpy as np
from jaxtyping import Float

from gpbe.shapes import Array, Numbers, Scalar, as_scalar


def farthest(center: Float[Array, "... M"], operator: Float[Array, "... M K"], radius: Numbers | None = None) -> Scalar:
    """Maximize || center + operator a || over || a || <= radius, or over every a without a radius. Batched.

    In the singular coordinates of the operator the maximizer has (mu - s_i^2) a_i = s_i g_i for the one mu >= s_1^2
    with || a || = radius (More and Sorensen, 1983). If g has no part along the largest s, mu may stop at s_1^2 with
    || a || still too short (the hard case); the rest of the length then goes into that direction.

    >>> farthest(np.array([1.0, 0.0]), np.diag([1.0, 2.0]), radius=0.0)
    1.0
    >>> round(farthest(np.array([1.0, 0.0]), np.diag([1.0, 2.0]), radius=1.0) ** 2, 6)  # hard: 4 + 4/3
    5.333333
    """
    center = np.asarray(center, dtype=float)
    size = np.linalg.norm(center, axis=-1)
    u, s, _ = np.linalg.svd(operator, full_matrices=False)
    flat = s[..., 0] <= 1e-12 * np.maximum(1.0, size) if s.shape[-1] else np.ones(np.shape(size), dtype=bool)
    if radius is None or not s.shape[-1]:
        return as_scalar(np.where(flat, size, np.inf))
    g = (np.swapaxes(u, -1, -2) @ center[..., None])[..., 0]
    gap = (s[..., :1] - s) * (s[..., :1] + s)
    top = gap <= 1e-14 * s[..., :1] ** 2
    reach = np.asarray(radius, dtype=float)[..., None]
    pull, gap = np.broadcast_arrays(s * g, gap + 0 * reach)
    a = _on_sphere(pull, gap, reach)
    first = top & (np.cumsum(top, axis=-1) == 1)
    rest = np.sqrt(np.maximum(reach**2 - (np.where(first, 0.0, a) ** 2).sum(-1, keepdims=True), 0.0))
    a = np.where(first, np.where(a < 0, -rest, rest), a)
    a *= reach / np.maximum(np.linalg.norm(a, axis=-1, keepdims=True), np.finfo(float).tiny)
    inside = (2 * pull * a + (s * a) ** 2).sum(-1)
    return as_scalar(np.sqrt(np.maximum(size**2 + inside, 0.0)))


def _on_sphere(pull: Array, gap: Array, reach: Array) -> Array:
    """Find a = pull / (t + gap) with || a || = reach, where t = mu - s_1^2 > 0; shorter in the hard case."""

    def a(t: Array) -> Array:
        return np.divide(pull, t + gap, out=np.zeros(pull.shape), where=t + gap > 0)

    def too_long(t: Array) -> Array:
        return np.linalg.norm(a(t), axis=-1, keepdims=True) > reach

    pulls = np.linalg.norm(pull, axis=-1, keepdims=True)
    high = np.divide(pulls, reach, out=np.zeros(pulls.shape), where=reach > 0)
    least = low = high * 1e-16
    hard = ~too_long(least)
    for _ in range(100):  # bisection on a logarithmic scale: sixteen decades to the last bit
        middle = np.sqrt(low * high)
        longer = too_long(middle)
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
    return a(np.where(hard, least, high))
