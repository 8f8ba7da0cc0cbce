"""What a diagnosis says, for programs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gpbe.pages.diagnosis import METHOD

if TYPE_CHECKING:
    from gpbe.exact.diagnose import Diagnosis


def as_dict(diagnosis: "Diagnosis") -> dict[str, Any]:
    """Everything that a diagnosis says, as JSON has it."""
    problem, (what, why) = diagnosis.problem, diagnosis.recommendation
    few = diagnosis.converging_lambdas is not None

    def listed(values: Any) -> list[float] | None:
        """A number for each state, unless there are too many to read."""
        return values.tolist() if few else None

    return {
        "problem": problem.name,
        "states": problem.mdp.n_states,
        "actions": problem.mdp.n_actions,
        "features": problem.features.shape[-1],
        "feature_rank": int(diagnosis.findings[0].solution.feature_rank),
        "lambda": diagnosis.lam,
        "values": listed(problem.values),
        "weightings": {name: listed(d) for name, d in diagnosis.weightings.items()},
        "mismatch": _number(diagnosis.mismatch),
        "td": {
            name: {
                "method": METHOD[name],
                "verdict": s.verdict,
                "eigenvalues": [[float(e.real), float(e.imag)] for e in s.eigenvalues],
                "largest_step_size": s.largest_step_size,
                "finite_variance": diagnosis.finite_variance[name],
            }
            for name, s in diagnosis.stability.items()
        },
        "followon": {key: _number(value) for key, value in diagnosis.followon._asdict().items()},
        "converging_lambdas": None if diagnosis.converging_lambdas is None else diagnosis.converging_lambdas.tolist(),
        "solutions": [
            {
                "objective": f.objective,
                "weighting": f.weighting,
                "weights": f.solution.weights.tolist(),
                "values": listed(f.solution.values),
                "objective_value": float(f.solution.error),
                "rank": int(f.solution.rank),
                "condition": _number(float(f.solution.condition)),
                "unique_values": bool(f.solution.unique_values),
                "rms_value_error": {"behavior": f.error_behavior, "target": f.error_target},
                "bound": None if f.bound is None else _number(float(f.bound.right)),
            }
            for f in diagnosis.findings
        ],
        "projection_penalty": diagnosis.penalty,
        "recommendation": what,
        "reason": why,
        "warnings": list(diagnosis.warnings),
    }


def _number(x: float) -> float | None:
    """JSON has no infinity."""
    return x if np.isfinite(x) else None
