"""The exact side: objectives, weightings, fixed points and bounds of a finite problem, computed, never sampled."""

from gpbe.exact.bound import Bound
from gpbe.exact.bound_table import BOUNDS, all_bounds
from gpbe.exact.bounds import (
    approximation_error_bound,
    convex_subset_bound,
    mismatch_bound,
    oblique_bound,
    proposition_1,
    value_error_bound,
)
from gpbe.exact.constants import (
    approximation_error,
    operator_constant,
    transition_constant,
    worst_approximation_error,
)
from gpbe.exact.diagnose import Diagnosis, diagnose
from gpbe.exact.fixed_points import Solution, fixed_point, solution
from gpbe.exact.identities import (
    bellman_error_parts,
    conjugate,
    expected_td_error,
    maximizing_h,
    td_error_parts,
)
from gpbe.exact.known_bounds import (
    antos_bound,
    hallak_bound,
    kolter_bound,
    maillard_bound,
    scherrer_bound,
    tsitsiklis_van_roy_bound,
    white_bound,
    williams_baird_bound,
)
from gpbe.exact.many import FixedPoints
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
from gpbe.exact.stability import Stability, gradient_stability, td_stability
from gpbe.exact.traces import LinearSystem, lambda_resolvent, linear_system, mean_trace, trace_system
from gpbe.exact.weightings import mismatch, weighting

__all__ = [
    "BOUNDS",
    "OBJECTIVES",
    "Bound",
    "Diagnosis",
    "FixedPoints",
    "LinearSystem",
    "Solution",
    "Stability",
    "all_bounds",
    "antos_bound",
    "approximation_error",
    "approximation_error_bound",
    "bellman_error",
    "bellman_error_parts",
    "conjugate",
    "convex_subset_bound",
    "diagnose",
    "expected_td_error",
    "expected_update_norm",
    "fixed_point",
    "gradient_stability",
    "hallak_bound",
    "identifiable_bellman_error",
    "kernel_bellman_error",
    "kolter_bound",
    "lambda_resolvent",
    "linear_system",
    "maillard_bound",
    "maximizing_h",
    "mean_trace",
    "mismatch",
    "mismatch_bound",
    "nonlinear_projected_bellman_error",
    "norm",
    "oblique_bound",
    "oblique_projection",
    "operator_constant",
    "operator_norm",
    "projected_bellman_error",
    "projection_matrix",
    "proposition_1",
    "quadratic",
    "return_error",
    "return_variance",
    "scherrer_bound",
    "solution",
    "td_error",
    "td_error_parts",
    "td_stability",
    "trace_system",
    "transition_constant",
    "tsitsiklis_van_roy_bound",
    "value_error",
    "value_error_bound",
    "weighting",
    "white_bound",
    "williams_baird_bound",
    "worst_approximation_error",
]
