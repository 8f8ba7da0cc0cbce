"""Prior and posterior corrections, trace by trace (paper, appendix A).

Two states x and y, each with a feature of its own; the target always takes a1, from x to y to the end T; the behavior
takes a1 and a2 equally often; nothing is discounted. The traces are those of the paper's equations,

    off-policy TD(lam):        z_t = rho_t (gamma_t lam z_{t-1} + x_t),
    alternative-life TD(lam):  z_t = rho_t (gamma_t lam z_{t-1} + (rho_1 ... rho_{t-1}) x_t),

by which a state enters its trace without lambda. The appendix prints one factor of lambda more in every entry, which
neither equation gives.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.polynomial import Polynomial

from gpbe import mdp
from gpbe.algorithms.linear import ALGORITHMS
from gpbe.algorithms.linear.traces import Trace, advance
from gpbe.shapes import Array

LAM = 0.9
"""The lambda of the columns of numbers; those of text keep lambda as a symbol."""
METHODS = {"td": "off-policy TD", "alternative-life-td": "alternative-life TD"}
TRAJECTORIES = {"x → y → T": ("x", "y", "T"), "x → y → y → T": ("x", "y", "y", "T")}


def run() -> pl.DataFrame:
    """The trace of both methods after each transition of both trajectories."""
    rows = [row for name, states in TRAJECTORIES.items() for method in METHODS for row in _follow(name, states, method)]
    return pl.DataFrame(rows)


class Step(NamedTuple):
    """A transition and the trace after it."""

    transition: str
    action: str
    rho: float
    weight: float
    """Its weight on the features of its state."""
    z: Array
    """An entry a state."""


def _follow(name: str, states: tuple[str, ...], method: str) -> list[dict[str, object]]:
    """A row for each transition."""
    problem = mdp.corrections_example()
    nodes = np.arange(len(states), dtype=float)  # a trace of so many transitions has a smaller degree in lambda
    sampled = [_steps(problem, states, method, lam) for lam in nodes]
    rows = []
    for t, step in enumerate(_steps(problem, states, method, LAM)):
        entries = np.array([steps[t].z for steps in sampled])
        coefficients = np.linalg.solve(np.vander(nodes, increasing=True), entries).round(9)
        texts = {s: _text(Polynomial(c)) for s, c in zip(problem.mdp.state_names, coefficients.T, strict=True)}
        rows.append(
            {
                "trajectory": name,
                "method": METHODS[method],
                "t": t + 1,
                "transition": step.transition,
                "action": step.action,
                "rho": step.rho,
                "weight": step.weight,
                **{f"z_{s}": float(z) for s, z in zip(problem.mdp.state_names, step.z, strict=True)},
                **{f"z_{s}_in_lambda": text for s, text in texts.items()},
                "lam": LAM,
            }
        )
    return rows


def _steps(problem: mdp.PredictionProblem, states: tuple[str, ...], method: str, lam: float) -> list[Step]:
    """The transitions of a trajectory, with the trace of a method for one lambda."""
    names, prior = problem.mdp.state_names, ALGORITHMS[method].prior
    trace = Trace(np.zeros(len(names)), 0.0, 0.0)
    gamma, rho, steps = 0.0, 1.0, []
    for state, following in pairwise(states):
        at = names.index(state)
        trace, weight = advance(trace, np.eye(len(names))[at], gamma, rho, lam, prior)
        action = int(state == following)  # a1 moves on, a2 stays
        rho = float(problem.ratios[at, action])
        step = Step(f"{state} → {following}", problem.mdp.action_names[action], rho, float(weight), rho * trace.e)
        steps.append(step)
        gamma = float(following != "T")
    return steps


def _text(p: Polynomial) -> str:
    """A polynomial in lambda, as one would write it.

    >>> _text(Polynomial([2.0, 0.0, 8.0])), _text(Polynomial([0.0]))
    ('2 + 8 λ²', '0')
    """
    powers = ("", " λ", " λ²", " λ³")
    terms = [f"{c:g}{power}" for c, power in zip(p.coef, powers, strict=False) if c]
    return " + ".join(terms) or "0"
