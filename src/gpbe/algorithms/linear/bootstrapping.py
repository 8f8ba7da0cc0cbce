"""How long to trust the sample: the trace parameter of each rule, as a function of the action taken.

Every rule is TD(lambda) with a lambda that depends on the action: lam_t = lam(S_t) u(S_{t-1}, A_{t-1}). A rule gives
lam_t from lam and the probabilities of the action under both policies. The functions use only operations that NumPy
and JAX share; `xp` is whichever module the arrays belong to.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from gpbe.shapes import Array, Number

Rule = Literal["importance", "tree-backup", "v-trace", "ab-trace"]


class Probabilities(NamedTuple):
    """The probabilities of the action taken under both policies, and the extremes that AB-Trace is scaled by."""

    target: Number
    behavior: Number
    psi_0: Number
    """1 over the largest max(pi, b) of any state and action."""
    psi_max: Number
    """1 over the smallest."""


def action_lambda(rule: Rule, lam: Number, p: Probabilities, c_bar: Number = 1.0, xp: Any = np) -> Number:
    """The trace parameter lam_t of the importance ratio lambda rho, Tree Backup, V-trace and AB-Trace.

    The trace keeps lam_t rho: for Tree Backup (Precup et al. 2000) that is lam pi; for V-trace (Espeholt et al. 2018)
    lam min(c_bar, rho); for AB-Trace (Mahmood et al. 2017) nu pi with nu = min(psi, 1 / max(b, pi)), where lam plays
    the part of zeta.

    >>> p = Probabilities(target=0.8, behavior=0.2, psi_0=1.0, psi_max=5.0)
    >>> [float(action_lambda(rule, 0.5, p) * 4) for rule in ("importance", "tree-backup", "v-trace", "ab-trace")]
    [2.0, 0.4, 0.5, 0.8]
    """
    if rule == "importance":
        return lam + 0 * p.behavior
    if rule == "tree-backup":
        return lam * p.behavior
    if rule == "v-trace":
        return lam * xp.minimum(1.0, c_bar * p.behavior / xp.maximum(p.target, 1e-30))
    psi = 2 * lam * p.psi_0 + xp.maximum(0.0, 2 * lam - 1) * (p.psi_max - 2 * p.psi_0)
    return p.behavior * xp.minimum(psi, 1 / xp.maximum(xp.maximum(p.target, p.behavior), 1e-30))


def scales(target: Array, behavior: Array) -> tuple[float, float]:
    """The scales psi_0 and psi_max of AB-Trace over actions that the behavior can take."""
    larger = np.maximum(target, behavior)[np.asarray(behavior) > 0]
    return float(1 / larger.max()), float(1 / larger.min())
