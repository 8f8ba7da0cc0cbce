"""Control on finite MDPs, computed: q*, the control BE and PBE, their stationary points, and what QRC, QC and GQ do."""

from gpbe.exact.control.objectives import (
    ControlProblem,
    bellman_error,
    bellman_gradient,
    expected_td_error,
    projected_bellman_error,
    projected_bellman_gradient,
    tangent,
    visits,
)
from gpbe.exact.control.operators import Greedy, greedy, optimal_action_values
from gpbe.exact.control.returns import (
    LambdaErrors,
    expected_traced_update,
    lambda_errors,
    lambda_fixed_points,
    lambda_projected_error,
    lambda_projected_gradient,
    lambda_stationary_points,
)
from gpbe.exact.control.robust import (
    bounded_h,
    huber_projected_error,
    huber_projected_gradient,
    huber_stationary_points,
)
from gpbe.exact.control.stationary import fixed_points, stationary_points
from gpbe.exact.control.updates import UPDATES, best_theta, expected_update, reduced_update, update_jacobian
from gpbe.exact.resting import Point
from gpbe.exact.tangent import Rule, Tangent, Update

__all__ = [
    "UPDATES",
    "ControlProblem",
    "Greedy",
    "LambdaErrors",
    "Point",
    "Rule",
    "Tangent",
    "Update",
    "bellman_error",
    "bellman_gradient",
    "best_theta",
    "bounded_h",
    "expected_td_error",
    "expected_traced_update",
    "expected_update",
    "fixed_points",
    "greedy",
    "huber_projected_error",
    "huber_projected_gradient",
    "huber_stationary_points",
    "lambda_errors",
    "lambda_fixed_points",
    "lambda_projected_error",
    "lambda_projected_gradient",
    "lambda_stationary_points",
    "optimal_action_values",
    "projected_bellman_error",
    "projected_bellman_gradient",
    "reduced_update",
    "stationary_points",
    "tangent",
    "update_jacobian",
    "visits",
]
