"""Prior and posterior corrections, trace by trace (paper, appendix A).

Two states x and y, each with a feature of its own; the target always takes a1, from x to y to the end T; the behavior
takes a1 and a2 equally often; nothing is discounted. The traces are those of the paper's equations,

    off-policy TD(lam):        z_t = rho_t (gamma_t lam z_{t-1} + x_t),
    alternative-life TD(lam):  z_t = rho_t (gamma_t lam z_{t-1} + (rho_1 ... rho_{t-1}) x_t),

by which a state enters its trace without lambda. The appendix prints one factor of lambda more in every entry, which
neither equation gives.
"""

from itertools import pairwise
from types import SimpleNamespace

import polars as pl
from numpy.polynomial import Polynomial

from gpbe import mdp
from gpbe.algorithms.linear import ALGORITHMS, Trace, advance

LAM = 0.9
"""For the columns of numbers; those of text keep lambda as a symbol."""
METHODS = {"td": "off-policy TD", "alternative-life-td": "alternative-life TD"}
SYMBOLIC = SimpleNamespace(where=lambda condition, a, b: a if condition else b + 0 * a)
"""What traces need of an array module, for polynomials."""
TRAJECTORIES = {"x → y → T": ("x", "y", "T"), "x → y → y → T": ("x", "y", "y", "T")}


def run() -> pl.DataFrame:
    """The trace of both methods after each transition of both trajectories."""
    rows = [row for name, states in TRAJECTORIES.items() for method in METHODS for row in _follow(name, states, method)]
    return pl.DataFrame(rows)


def _follow(name: str, states: tuple[str, ...], method: str) -> list[dict[str, object]]:
    problem = mdp.corrections_example()
    prior = ALGORITHMS[method].prior
    lam = Polynomial([0.0, 1.0])  # lambda itself: the trace is then a polynomial
    z = {s: Trace(Polynomial([0.0]), 0.0, 0.0) for s in problem.mdp.state_names}
    gamma, rho, rows = 0.0, 1.0, []
    for t, (state, following) in enumerate(pairwise(states), start=1):
        emphasis = 1.0
        for s, trace in z.items():
            z[s], emphasis = advance(trace, float(s == state), gamma, rho, lam, prior, xp=SYMBOLIC)
        action = int(state == following)  # a1 moves on, a2 stays
        rho = float(problem.ratios[problem.mdp.state_names.index(state), action])
        entries = {s: rho * trace.e for s, trace in z.items()}
        rows.append(
            {
                "trajectory": name,
                "method": METHODS[method],
                "t": t,
                "transition": f"{state} → {following}",
                "action": problem.mdp.action_names[action],
                "rho": rho,
                "weight": float(emphasis),
                **{f"z_{s}": float(p(LAM)) for s, p in entries.items()},
                **{f"z_{s}_in_lambda": _text(p) for s, p in entries.items()},
                "lam": LAM,
            }
        )
        gamma = float(following != "T")
    return rows


def _text(p: Polynomial) -> str:
    """A polynomial in lambda, as one would write it.

    >>> _text(Polynomial([2.0, 0.0, 8.0])), _text(Polynomial([0.0]))
    ('2 + 8 λ²', '0')
    """
    powers = ("", " λ", " λ²", " λ³")
    terms = [f"{c:g}{power}" for c, power in zip(p.coef, powers, strict=False) if c]
    return " + ".join(terms) or "0"
