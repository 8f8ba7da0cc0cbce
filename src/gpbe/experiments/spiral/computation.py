"""Tsitsiklis and Van Roy's spiral (1997, section X): on-policy TD diverges with a nonlinear value function.

Three states in a circle, each followed by itself or the next with probability 1/2; rewards are 0, and so are the true
values. The value function has one weight w, with dv/dw = (Q + 0.05 I) v: it turns and grows with w, so v = 0 is reached
as w falls without end. On v(w) of mean square n, with u the expected TD error and phi = dv/dw,

    E[u phi] = 0.299 n,   E[u gamma phi(S')] = 0.336 n,   E[phi (phi - gamma phi(S'))] = 0.583 n,

so that in expectation TD climbs; the gradient of the BE, 0.299 - 0.336 < 0, descends; and so does that of the nonlinear
PBE. But with h linear in the gradient of v and *without* Maei's Hessian term both TDC and GTD2 move w by a positive
multiple of E[u phi], and climb as TD does. With a table for h a penalty beta leaves the share d / (d + beta) of the
correction: TDRC descends only if that is above 0.299 / 0.336, which is beta < 0.042 here.

Gradient flow on an error k e^{2 epsilon w} makes that fall as 1 / (1 + c t): slowly, and it never turns.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import gpbe
from gpbe.experiments.experiment import Scale
from gpbe.experiments.study import Piece
from gpbe.mdp import FiniteMDP, PredictionProblem

GAMMA, EPSILON, TURN = 0.9, 0.05, 3**0.5 / 2
FIRST = np.array([100.0, -70.0, -30.0])
ACROSS = (np.roll(FIRST, 1) - np.roll(FIRST, -1)) / 3**0.5
"""A direction as long as FIRST and orthogonal to it."""
SIZE = float((FIRST**2).mean())
STEP_SIZE, BATCH, ESCAPED = 0.01 / (0.0376 * SIZE), 64, 3.0
"""The BE's gradient first moves w by 0.01; a run has escaped when its error is three times that at the start. (Far
beyond, single steps are longer than a turn, and one may by accident land where v is almost 0.)"""


class Method(NamedTuple):
    panel: str
    label: str
    algorithm: str
    given: Mapping[str, Any] = MappingProxyType({})
    step: float = 1.0
    """Step size of w relative to STEP_SIZE."""
    h_step: float | None = None
    """Step size of h."""


TABLE = {"basis": np.eye(3)}
METHODS = (
    Method("no h", "TD", "td"),
    Method("no h", "residual gradient", "residual-gradient"),
    Method("no h", "double sampling", "double-sampling"),
    Method("no h", "KBE", "kbe", {"kernel": "same"}, 3.0),
    Method("h linear in the gradient of v", "TDC", "tdc", {}, 0.03, 0.01 / SIZE),
    Method("h linear in the gradient of v", "saddlepoint", "gtd2", {}, 0.03, 0.01 / SIZE),
    Method("h linear in the gradient of v", "TDC with Hessian", "maei-tdc", {}, 1.0, 1 / SIZE),
    Method("h linear in the gradient of v", "GTD2 with Hessian", "maei-gtd2", {}, 1.0, 1 / SIZE),
    Method("h a table", "TDRC, beta 1", "tdrc", {**TABLE, "beta": 1.0}, 1.0, 1.0),
    Method("h a table", "TDRC, beta 0.01", "tdrc", {**TABLE, "beta": 0.01}, 1.0, 1.0),
    Method("h a table", "TDC", "tdc", TABLE, 1.0, 1.0),
    Method("h a table", "saddlepoint", "gtd2", TABLE, 1.0, 1.0),
)


def problem() -> PredictionProblem:
    """Three states; the observation names the state."""
    chance = (np.eye(3) + np.roll(np.eye(3), 1, axis=1)) / 2
    mdp = FiniteMDP(chance[:, None], 0.0, GAMMA, state_names=["1", "2", "3"], action_names=["go"])
    return PredictionProblem(mdp, [1], [1], name="spiral")


def pieces(scale: Scale) -> list[Piece]:
    """A method each; the smallest scale has every other one."""
    runs, steps = {"smoke": (4, 400), "quick": (20, 20_000), "paper": (50, 20_000)}[scale]
    methods = METHODS[:: 2 if scale == "smoke" else 1]
    return [Piece(f"{__name__}:learn", (m.panel, m.label, runs, steps), runs) for m in methods]


def learn(panel: str, label: str, runs: int, steps: int, every: int = 20) -> pl.DataFrame:
    """One method: its error relative to the start, and whether a run escaped; a row a run and point.

    Points lie `every` steps apart at first, five times as far later: axes are logarithmic, and the table is small.
    """
    from gpbe.experiments.spiral.network import make  # which takes JAX, and that a second

    method = next(m for m in METHODS if (m.panel, m.label) == (panel, label))
    alpha = STEP_SIZE * method.step
    ratio = {} if method.h_step is None else {"ratio": method.h_step / alpha}
    result = gpbe.predict(
        problem(),
        method.algorithm,
        net=make,
        steps=steps,
        runs=runs,
        every=every,
        batch=BATCH,
        step_size=alpha,
        metrics=("rmsve",),
        **ratio,
        **method.given,
    )
    relative = result.curves["rmsve"] / result.initial["rmsve"][:, None]
    escaped = np.maximum.accumulate(relative > ESCAPED, axis=1)
    kept = (result.steps <= 50 * every) | (result.steps % (5 * every) == 0)
    points = kept.sum()
    return pl.DataFrame(
        {
            "panel": [method.panel] * (runs * points),
            "method": [method.label] * (runs * points),
            "algorithm": [method.algorithm] * (runs * points),
            "step_size": np.full(runs * points, alpha),
            "run": np.repeat(np.arange(runs), points),
            "step": np.tile(result.steps[kept], runs),
            "relative_error": relative[:, kept].ravel(),
            "escaped": escaped[:, kept].ravel(),
        }
    )
