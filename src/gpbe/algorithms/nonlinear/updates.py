"""One update for prediction with any differentiable value function (paper, section 7 and appendix on longer returns).

From S_0, a window of n transitions with errors delta_k = R_k + gamma_k v(S_{k+1}) - v(S_k), ratios rho_k and trace
parameters lam_k on arrival in S_{k+1} (0 on the last: there the return bootstraps whatever it is):

    c_k   = prod_{i<k} rho_i gamma_i lam_i                   what is left of the sample after k transitions
    Delta = sum_k c_k rho_k delta_k                          E[Delta | S_0] = E_pi[G | S_0] - v(S_0)
    b_k   = c_k rho_k gamma_k (1 - lam_k)                    how much the return G bootstraps from S_{k+1}

    correction     w <- w + alpha M [Delta grad v(S_0) - h(S_0) sum_k b_k grad v(S_{k+1})]
    saddlepoint    w <- w + alpha M  h(S_0) [grad v(S_0) - sum_k b_k grad v(S_{k+1})]
    theta <- theta + alpha M (Delta - h(S_0)) grad h(S_0) - alpha beta theta

Where h is bounded (Patterson, Liao and White 2022), w learns from c = h(S_0) clipped at `huber`:

    saddlepoint    w <- w + alpha M  c [grad v(S_0) - sum_k b_k grad v(S_{k+1})]
    correction     w <- w + alpha M [(c + Delta - h(S_0)) grad v(S_0) - c sum_k b_k grad v(S_{k+1})]

and h regresses Delta as before. If H has every function, h becomes E[Delta | S_0], and c the maximizing h of the Huber
BE: w follows the gradient of that, for Delta - h is 0 on average, as in the correction without a bound. If H is
smaller, c is not the maximizing h (`gpbe.exact.robust`), and there is no such promise.

n = 1 is the paper's section 7; lam = 1 within the window makes n-step returns, lam in between lambda-returns. In the
paper's appendix the saddlepoint form has h once too often, and the update of h has the wrong sign. It is stated on the
network's outputs, how each should change; pulling that back through the network is the same for every algorithm.

As in the linear algorithms, ratios multiply the sampled error and not h, whose factor has mean 1: rho delta - h in
place of the paper's rho (delta - h), which has the same mean.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from gpbe.algorithms.nonlinear.table import Form


class Window(NamedTuple):
    """Consecutive transitions; without states, of which the update sees only values."""

    reward: Float[Array, " n"]
    discount: Float[Array, " n"]
    """The discount of each transition; 0 ends an episode, and what the window holds after it does not count."""
    rho: Float[Array, " n"]
    lam: Float[Array, " n"]
    """Trace parameter on arrival in the next state; the last is taken as 0. After a 0 the rest does not count."""
    weight: Float[Array, ""]
    """M, on the state that the window begins in (see `weights`)."""


class Outputs(NamedTuple):
    """The outputs of the networks for one window; or, in the same form, how each should change."""

    v: Float[Array, " m"]
    h: Float[Array, ""]
    """The value of h at the first state."""


class Parts(NamedTuple):
    """The error of a window's first value, and the parts that its gradient is made of."""

    error: Float[Array, ""]
    """Delta."""
    bootstrap: Float[Array, " n"]
    """b, the weight of each later state in the return."""


def parts(v: Float[Array, " m"], t: Window) -> Parts:
    """The error of the return, and how much of it each later value is."""
    lam = jnp.concatenate([t.lam[:-1], jnp.zeros(1, t.lam.dtype)])
    kept = jnp.cumprod(t.rho * t.discount * lam)
    c = jnp.concatenate([jnp.ones(1, kept.dtype), kept[:-1]])
    delta = t.reward + t.discount * v[1:] - v[:-1]
    return Parts((c * t.rho * delta).sum(), c * t.rho * t.discount * (1 - lam))


def directions(out: Outputs, t: Window, form: Form, huber: Float[Array, ""] | float | None = None) -> Outputs:
    """How the values of the window's states and h at its first state should change.

    TD is the correction with h = 0, the residual gradient that with h = delta, double sampling that with the error of
    an independent sample for h, and the kernel loss the saddlepoint form with a kernel's smoothing of errors for h.
    With `huber` h is bounded by that.
    """
    error, bootstrap = parts(out.v, t)
    h = out.h if huber is None else jnp.clip(out.h, -huber, huber)
    first = error - (out.h - h) if form == "correction" else h
    return Outputs(t.weight * jnp.concatenate([first[None], -h * bootstrap]), t.weight * (error - out.h))
