"""The exact side: objectives, weightings, fixed points and bounds of a finite problem, computed, never sampled."""

from gpbe.exact.fixed_points import Solution, fixed_point, solution
from gpbe.exact.identities import (
    bellman_error_parts,
    conjugate,
    expected_td_error,
    maximizing_h,
    td_error_parts,
)
from gpbe.exact.objectives import (
    OBJECTIVES,
    bellman_error,
    expected_update_norm,
    identifiable_bellman_error,
    kernel_bellman_error,
    nonlinear_projected_bellman_error,
    projected_bellman_error,
    quadratic,
    return_error,
    return_variance,
    td_error,
    value_error,
)
from gpbe.exact.projections import (
    norm,
    oblique_projection,
    operator_norm,
    projection_matrix,
)
from gpbe.exact.stability import Stability, td_stability
from gpbe.exact.traces import LinearSystem, lambda_resolvent, linear_system, mean_trace, trace_system
from gpbe.exact.weightings import mismatch, weighting

__all__ = [
    "OBJECTIVES",
    "LinearSystem",
    "Solution",
    "Stability",
    "bellman_error",
    "bellman_error_parts",
    "conjugate",
    "expected_td_error",
    "expected_update_norm",
    "fixed_point",
    "identifiable_bellman_error",
    "kernel_bellman_error",
    "lambda_resolvent",
    "linear_system",
    "maximizing_h",
    "mean_trace",
    "mismatch",
    "nonlinear_projected_bellman_error",
    "norm",
    "oblique_projection",
    "operator_norm",
    "projected_bellman_error",
    "projection_matrix",
    "quadratic",
    "return_error",
    "return_variance",
    "solution",
    "td_error",
    "td_error_parts",
    "td_stability",
    "trace_system",
    "value_error",
    "weighting",
]
