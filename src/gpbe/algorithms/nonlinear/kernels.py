"""Kernels between observations, for the kernel loss (Feng et al. 2019)."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.algorithms.nonlinear.table import Kernel

Width = Float[Array, ""] | float


def _apart(x: Float[Array, "I B"], y: Float[Array, "I C"]) -> Float[Array, "I B C"]:
    return x[:, :, None] - y[:, None, :]


KERNELS: dict[Kernel, Callable[[Array, Array, Width], Array]] = {
    "gaussian": lambda x, y, width: jnp.exp(-(_apart(x, y) ** 2).sum(0) / (2 * width**2)),
    "laplace": lambda x, y, width: jnp.exp(-jnp.abs(_apart(x, y)).sum(0) / width),
    "linear": lambda x, y, width: x.T @ y,
    "quadratic": lambda x, y, width: (x.T @ y + 1) ** 2,
    "same": lambda x, y, width: (_apart(x, y) == 0).all(0).astype(x.dtype),
}
"""The kernels k(x, y) between the columns of two matrices. The linear one makes the KBE the NEU of a linear value
function, the one that only knows whether two observations are the same an identifiable BE weighted by d twice."""


def smoothed(kernel: Kernel, x: Float[Array, "I B"], errors: Float[Array, " B"], width: Width) -> Float[Array, " B"]:
    """The estimate h_i = mean over the *other* samples j of k(x_i, x_j) errors_j: pairs of samples (a U-statistic)."""
    count = x.shape[1]
    k = KERNELS[kernel](x, x, width) * (1 - jnp.eye(count, dtype=x.dtype))
    return k @ errors / (count - 1)
