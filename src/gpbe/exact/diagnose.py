"""Everything the exact side can say about one problem, gathered, with a recommendation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.errors import InputError
from gpbe.exact.bounds.paper import Bound, value_error_bound
from gpbe.exact.fixed_points import Solution, solution
from gpbe.exact.identities import bellman_error_parts
from gpbe.exact.objectives import value_error
from gpbe.exact.stability import Stability, gradient_stability, td_stability
from gpbe.exact.variance import Followon, followon_spread, samples_vary_finitely
from gpbe.exact.weightings import Name, as_lambda, mismatch, weighting
from gpbe.lazy import named
from gpbe.mdp import PredictionProblem
from gpbe.mdp.prediction import check_problem
from gpbe.shapes import Array, PerState

WEIGHTINGS: tuple[Name, ...] = ("behavior", "target", "emphatic")
OBJECTIVES = ("ve", "pbe", "be", "tde")
LAMBDAS = np.round(np.arange(0, 1.01, 0.05), 2)
MANY = 10_000
"""States beyond which other lambdas are not tried, and arrays of a number a state are left out of `as_dict`."""
WIDE = 128
"""Features beyond which errors are computed for every fifth lambda only: each takes the cube of their number."""
WORTH = 0.01
"""Two errors that differ by less than this share of the larger are as good as each other."""
WARNING = {
    "behavior": "off-policy TD(lambda) converges in expectation, but the variance of its trace is infinite here, so "
    "sampled runs are known to explode; use a smaller lambda",
    "target": "alternative-life TD converges in expectation, but the variance of its products of ratios is infinite "
    "here, so sampled runs are known to explode; use another method",
    "emphatic": "emphatic TD converges in expectation, but the variance of its followon is infinite here, so sampled "
    "runs are known to explode; use small step sizes, or a followon that decays faster (followon_decay)",
}


@dataclass(frozen=True)
class Finding:
    """The minimum of one objective under one weighting."""

    objective: str
    weighting: str
    solution: Solution
    error_behavior: float
    """Root mean squared value error under d_b."""
    error_target: float
    """Root mean squared value error under d_pi."""
    bound: Bound | None
    """Theorem 1, for the linear PBE."""

    def __repr__(self) -> str:
        errors = f"RMSVE {self.error_behavior:.4g} under d_b, {self.error_target:.4g} under d_pi"
        return f"<Finding: minimum of {self.objective.upper()} weighted by {self.weighting}, {errors}>"


class ErrorsOverLambda(NamedTuple):
    """What TD(lam) converges to, judged under d_b."""

    lams: Float[Array, " L"]
    errors: dict[str, Float[Array, " L"]]
    """RMS value error of the PBE(lam)'s minimum under each weighting."""


@dataclass(frozen=True)
class Diagnosis:
    """What each method converges to on a problem, how good that is, and whether TD gets there.

    It prints as a page; `as_dict` gives the same facts to a program.
    """

    problem: PredictionProblem
    lam: float
    weightings: dict[str, PerState]
    """Each sums to 1 here, for reading."""
    findings: tuple[Finding, ...]
    stability: dict[str, Stability]
    finite_variance: dict[str, bool]
    """Whether the sampled update of each method has a finite variance, not only an expectation."""
    followon: Followon
    """Mean and standard deviation of ETD's followon."""
    penalty: dict[str, float]
    """Projection penalty at the linear PBE's minimum: what the PBE does not see of the Bellman error."""

    def finding(self, objective: str, weighting: str) -> Finding:
        return next(f for f in self.findings if (f.objective, f.weighting) == (objective, weighting))

    @cached_property
    def mismatch(self) -> float:
        """kappa(d_pi, d_b): how much more often the target visits some state than the behavior does."""
        return float(mismatch(self.weightings["target"], self.weightings["behavior"]))

    @cached_property
    def most_missed_state(self) -> int:
        """The state that attains kappa(d_pi, d_b)."""
        d_b = np.maximum(self.weightings["behavior"], 1e-300)
        return int((self.weightings["target"] / d_b).argmax())

    @cached_property
    def converging_lambdas(self) -> Array | None:
        """Trace parameters of a grid for which off-policy TD(lam) converges; not computed beyond `MANY` states."""
        if self.problem.mdp.n_states > MANY:
            return None
        kept = [lam for lam in LAMBDAS if td_stability(self.problem, "behavior", lam).verdict == "converges"]
        return np.array(kept)

    @cached_property
    def errors_over_lambda(self) -> ErrorsOverLambda:
        """How good the minimum of the PBE(lam) is for a grid of lam; beyond `MANY` states for the given one only."""
        p = self.problem
        lams = LAMBDAS if p.features.shape[-1] <= WIDE else LAMBDAS[::5]
        lams = lams if p.mdp.n_states <= MANY else np.array([self.lam])
        return ErrorsOverLambda(lams, {name: np.array([_error_at(p, name, x) for x in lams]) for name in WEIGHTINGS})

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Methods that converge in expectation and whose samples have infinite variance, with what to do."""
        return tuple(
            WARNING[name]
            for name, stability in self.stability.items()
            if stability.verdict == "converges" and not self.finite_variance[name]
        )

    @cached_property
    def recommendation(self) -> tuple[str, str]:
        """What to use here, and why."""
        return _recommend(self)

    def as_dict(self) -> dict[str, Any]:
        """The same facts for a program; arrays of a number a state are None beyond `MANY` states."""
        from gpbe.pages.diagnosis_json import as_dict

        return as_dict(self)

    @property
    def summary(self) -> str:
        """One line: whether off-policy TD converges here, and what to use."""
        verdict = self.stability["behavior"].verdict
        said = "may or may not converge" if verdict == "undecided" else verdict
        return f"{self.problem.name}: off-policy TD {said}; recommended: {self.recommendation[0]}"

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.summary}>"

    def __str__(self) -> str:
        from gpbe.pages.diagnosis import as_text

        return as_text(self)

    def __rich__(self) -> Any:
        from gpbe.pages.diagnosis import as_page

        return as_page(self)

    def _repr_html_(self) -> str:
        return named("gpbe.look.notebook:diagnosis")(self)


SMALLEST = 1e-50
"""How small the largest feature may be: products of smaller ones are 0 in 64 bits."""


def diagnose(problem: PredictionProblem, lam: float = 0.0) -> Diagnosis:
    """Compute solutions, errors, bounds and stability of one problem, and what they recommend.

    >>> from gpbe import mdp
    >>> diagnose(mdp.baird()).stability["behavior"].verdict
    'diverges'
    """
    check_problem(problem)
    if problem.batch_shape:
        raise InputError(f"diagnose takes one problem; this is a batch with axes {problem.batch_shape}: use problem[i]")
    if np.ndim(lam):
        raise InputError(f"lam has shape {np.shape(lam)}; diagnose takes one number for all states")
    largest = abs(problem.features).max()
    if largest < SMALLEST:
        raise InputError(f"no feature is larger than {largest:g}, so that every value is 0; scale the features")
    lam = float(as_lambda(problem, lam))
    d = {name: weighting(problem, name, lam) for name in WEIGHTINGS}
    findings = tuple(_find(problem, o, w, d, lam) for o in OBJECTIVES for w in WEIGHTINGS)
    minima = {f.weighting: f.solution.values for f in findings if f.objective == "pbe"}
    return Diagnosis(
        problem,
        lam,
        {name: weights / weights.sum() for name, weights in d.items()},
        findings,
        {name: td_stability(problem, d[name], lam) for name in WEIGHTINGS},
        {name: samples_vary_finitely(problem, name, lam) for name in WEIGHTINGS},
        followon_spread(problem),
        {
            name: float(bellman_error_parts(problem, minima[name], d[name] / d[name].sum()).penalty)
            for name in WEIGHTINGS
        },
    )


def _find(problem: PredictionProblem, objective: str, name: str, d: dict[str, PerState], lam: float) -> Finding:
    takes_lambda = objective in ("pbe", "be")
    found = solution(problem, objective, d[name], **({"lam": lam} if takes_lambda else {}))
    rms = {e: float(value_error(problem, found.values, e) ** 0.5) for e in ("behavior", "target")}
    bound = value_error_bound(problem, d[name] / d[name].sum(), lam) if objective == "pbe" else None
    return Finding(objective, name, found, rms["behavior"], rms["target"], bound)


def _error_at(problem: PredictionProblem, name: Name, lam: float) -> float:
    found = solution(problem, "pbe", weighting(problem, name, lam), lam=lam)
    return float(value_error(problem, found.values, "behavior") ** 0.5)


def _recommend(diagnosis: Diagnosis) -> tuple[str, str]:
    best = diagnosis.finding("ve", "behavior").error_behavior
    td = diagnosis.finding("pbe", "behavior")
    emphatic = diagnosis.finding("pbe", "emphatic")
    verdict = diagnosis.stability["behavior"].verdict
    scale = float(np.sqrt((diagnosis.weightings["behavior"] * diagnosis.problem.values**2).sum()))
    small = 1e-8 * max(scale, 1.0)
    representable = best <= small
    # Solutions are as good as each other when they differ by less than a tenth of what is left to gain, or by little.
    worth = max(0.1 * (td.error_behavior - best), WORTH * td.error_behavior) + small
    better = emphatic.error_behavior < td.error_behavior - worth
    quality = (
        "the features represent v_pi, so every minimum is v_pi itself"
        if representable
        else f"RMS value error under d_b: {td.error_behavior:.4g} at TD's fixed point, "
        f"{emphatic.error_behavior:.4g} with emphatic weights, {best:.4g} at best"
    )
    if verdict == "converges":
        if better:
            return "emphatic weights (ETD or emphatic TDRC)", f"TD converges, but to a worse solution; {quality}"
        return (
            "TD, or TDRC if in doubt",
            f"off-policy TD converges here, and no weighting does clearly better; {quality}",
        )
    why = (
        "off-policy TD diverges here: A has an eigenvalue with a negative real part"
        if verdict == "diverges"
        else "whether off-policy TD converges is undecided: A has an eigenvalue with real part 0"
    )
    if better:
        return "emphatic weights (ETD or emphatic TDRC)", f"{why}, and its fixed point is worse; {quality}"
    method, note = _gradient_method(diagnosis)
    return method, f"{why}, while gradient methods reach the same fixed point{note}; {quality}"


def _gradient_method(diagnosis: Diagnosis) -> tuple[str, str]:
    """TDRC with the largest beta of 1, 1/2, 1/4, ... that keeps it stable here; GTD2, always stable, if none does."""
    for beta in (1.0, *2.0 ** -np.arange(1, 9), 0.0):
        if gradient_stability(diagnosis.problem, "behavior", diagnosis.lam, beta=float(beta)) == "converges":
            if beta == 1:
                return "TDRC (a gradient method)", ""
            return f"TDRC with beta = {beta:g}", f" (with beta = 1 TDRC diverges too; it converges for {beta:g})"
    return "GTD2 (a gradient method)", " (TDC and TDRC need a faster h here: a ratio above 1)"
