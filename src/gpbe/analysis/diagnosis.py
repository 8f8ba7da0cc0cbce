"""A diagnosis as tables: what its figures draw, and what others can read from a file."""

from typing import NamedTuple

import numpy as np
import polars as pl

from gpbe.exact.diagnose import WEIGHTINGS, Diagnosis
from gpbe.shapes import Array

MINIMA = (
    ("ve", "behavior"),
    ("pbe", "behavior"),
    ("pbe", "target"),
    ("pbe", "emphatic"),
    ("be", "behavior"),
    ("tde", "behavior"),
)
"""The minima whose values are shown, by objective and weighting."""
MOST = 400
"""States that are shown; of more, so many at equal distances."""


class Tables(NamedTuple):
    """All that the figures of a diagnosis show."""

    values: pl.DataFrame
    """A row for each state and curve: v_pi (objective "v_pi"), or the values at a minimum."""
    visits: pl.DataFrame
    """A row for each state and weighting; each weighting sums to 1."""
    eigenvalues: pl.DataFrame
    """A row for each weighting and eigenvalue of A; `size` is the largest of its weighting."""
    lambdas: pl.DataFrame
    """A row for each weighting and lambda: the error at the minimum of the PBE(lambda); of off-policy TD, whether it
    converges."""


def tables_of(diagnosis: Diagnosis) -> Tables:
    """The tables of a diagnosis.

    >>> from gpbe import exact, mdp
    >>> tables = tables_of(exact.diagnose(mdp.baird()))
    >>> tables.values.height, tables.visits.height, tables.eigenvalues.height, tables.lambdas.height
    (49, 21, 21, 63)
    """
    p, states = diagnosis.problem, _shown(diagnosis.problem.mdp.n_states)
    names = [p.mdp.state_names[s] for s in states]
    at = {"state": states, "name": names}
    curves = {("v_pi", ""): p.values} | {m: diagnosis.finding(*m).solution.values for m in MINIMA}
    values = [_rows(at, {"objective": o, "weighting": w}, "value", v[states]) for (o, w), v in curves.items()]
    visits = [_rows(at, {"weighting": w}, "share", d[states]) for w, d in diagnosis.weightings.items()]
    return Tables(pl.concat(values), pl.concat(visits), _eigenvalues(diagnosis), _lambdas(diagnosis))


def _shown(states: int) -> Array:
    return np.unique(np.linspace(0, states - 1, min(states, MOST)).round().astype(int))


def _rows(at: dict, constant: dict[str, str], name: str, numbers: Array) -> pl.DataFrame:
    return pl.DataFrame({**at, **{k: [v] * len(numbers) for k, v in constant.items()}, name: numbers})


def _eigenvalues(diagnosis: Diagnosis) -> pl.DataFrame:
    rows = [
        {"weighting": w, "verdict": s.verdict, "real": e.real, "imaginary": e.imag, "size": abs(s.eigenvalues).max()}
        for w, s in diagnosis.stability.items()
        for e in s.eigenvalues
    ]
    return pl.DataFrame(rows)


def _lambdas(diagnosis: Diagnosis) -> pl.DataFrame:
    """Errors below rounding are 0."""
    lams, errors = diagnosis.errors_over_lambda
    good = diagnosis.converging_lambdas
    if good is None:  # other lambdas were not tried
        good = lams[[diagnosis.stability["behavior"].verdict == "converges"]]
    best = diagnosis.finding("ve", "behavior").error_behavior
    small = 1e-10 * float(np.abs(diagnosis.problem.values).max(initial=1e-300))
    rows = [
        {
            "weighting": w,
            "lambda": float(lam),
            "error": _unless(error, small),
            "best": _unless(best, small),
            "converges": bool(np.isin(lam, good)) if w == "behavior" else None,
        }
        for w in WEIGHTINGS
        for lam, error in zip(lams, errors[w], strict=True)
    ]
    return pl.DataFrame(rows)


def _unless(error: float, small: float) -> float:
    return 0.0 if error <= small else float(error)
