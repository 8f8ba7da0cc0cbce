"""How much the state that a window begins in counts: the M of `updates`, for each transition of one run.

The return from S_j bootstraps from S_{j+k+1} with weight b_k (see `updates`): whoever learns at S_j leans on the value
of that later state. Emphatic weights count a state once for its own sake, and as much as others lean on it:

    M_t = 1 + sum_{j<t} M_j b_{t-j-1}(j),      so that  m = E[M_t; S_t = .]  solves  m = d_b + B'm,

with B(s, s') = E_pi[sum_k b_k 1(S_{k+1} = s') | S_0 = s]. The columns of diag(m) (I - B) then sum to d_b, which makes a
linear function's X' diag(m) (I - B) X positive definite, whatever the return is (Sutton, Mahmood and White 2016):

    n = 1                          M = F with F_t = rho gamma F_{t-1} + 1, the followon
    to the end of the episode      M = lam + (1 - lam) F, that of ETD(lam), with lam on arrival in S_t
    lam = 1, n transitions         M_t = (the n last rho gamma) M_{t-n} + 1 (Jiang et al. 2021)

The second follows because what leans on S_t before the factor 1 - lam is applied, Z_t = rho gamma (M_- + lam_- Z_-), is
F_t - 1. The alternative-life weight is the product of the episode's ratios before t, whatever the return: it makes the
states those of the target policy, and the return has its own ratios.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from gpbe.algorithms.linear.traces import Prior


def state_weights(
    prior: Prior,
    n: int,
    discount: Float[Array, " T"],
    rho: Float[Array, " T"],
    lam: Float[Array, " T"],
    follows: Bool[Array, " T"],
) -> Float[Array, " T"]:
    """The weight M of each transition.

    Args:
        prior: which correction.
        n: transitions in a return.
        discount: of each transition.
        rho: ratio of each transition.
        lam: trace parameter on arrival in each transition's next state.
        follows: does the next transition begin there? Not at the end of an episode.

    >>> half, yes = jnp.full(3, 0.5), jnp.array([True, True, False])
    >>> state_weights("emphatic", 1, half, jnp.ones(3), half, yes)  # F = F_- / 2 + 1
    Array([1.  , 1.5 , 1.75], dtype=float32)
    >>> state_weights("emphatic", 3, half, jnp.ones(3), half, yes)  # (1 + F) / 2
    Array([1.   , 1.25 , 1.375], dtype=float32)
    """
    if prior == "none":
        return jnp.ones_like(rho)
    if prior == "alternative-life":
        return _before(_product, jnp.ones((), rho.dtype), (rho, follows))
    last = jnp.arange(n) == n - 1
    return _before(lambda *t: _emphasis(last, *t), jnp.zeros(n, rho.dtype), (rho * discount, lam, follows))


def _product(
    product: Float[Array, ""], incoming: tuple[Float[Array, ""], Bool[Array, ""]]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The product of the episode's ratios after one more of them."""
    ratio, follows = incoming
    after = jnp.where(follows, ratio * product, 1.0)
    return after, after


def _emphasis(
    last: Bool[Array, " n"],
    leaning: Float[Array, " n"],
    incoming: tuple[Float[Array, ""], Float[Array, ""], Bool[Array, ""]],
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    """The emphasis after one more transition; `leaning` is M_j c_k of the windows that began k = 0 .. n - 1 ago."""
    carried, lam, follows = incoming
    arrived = jnp.where(follows, carried * leaning, 0.0)
    kept = jnp.where(last, 0.0, lam)
    weight = 1 + ((1 - kept) * arrived).sum()
    return jnp.concatenate([weight[None], (kept * arrived)[:-1]]), weight


def _before(
    step: Callable[..., tuple[Array, Array]], start: Array, transitions: tuple[Array, ...]
) -> Float[Array, " T"]:
    """The weights of a scan over the transitions *into* each state; before the first there is none."""
    incoming = tuple(jnp.concatenate([jnp.zeros_like(a[:1]), a[:-1]]) for a in transitions)
    return jax.lax.scan(step, start, incoming)[1]
