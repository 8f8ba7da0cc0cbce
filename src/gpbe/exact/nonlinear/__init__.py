"""Networks on finite problems, computed: their PBE(lam), its stationary points, and what algorithms do on average."""

from gpbe.exact.nonlinear.objective import (
    NonlinearProblem,
    best_theta,
    projected_bellman_error,
    projected_bellman_gradient,
)
from gpbe.exact.nonlinear.updates import UPDATES, expected_update, fixed_points, stationary_points

__all__ = [
    "UPDATES",
    "NonlinearProblem",
    "best_theta",
    "expected_update",
    "fixed_points",
    "projected_bellman_error",
    "projected_bellman_gradient",
    "stationary_points",
]
