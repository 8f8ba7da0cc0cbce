"""Bounds on the value error: the paper's own (`paper`), those that it compares with (`published`), their constants."""

from gpbe.exact.bounds.bound import Bound
from gpbe.exact.bounds.constants import (
    approximation_error,
    operator_constant,
    transition_constant,
    worst_approximation_error,
)
from gpbe.exact.bounds.paper import (
    approximation_error_bound,
    convex_subset_bound,
    mismatch_bound,
    oblique_bound,
    proposition_1,
    value_error_bound,
)
from gpbe.exact.bounds.published import (
    antos_bound,
    hallak_bound,
    kolter_bound,
    maillard_bound,
    scherrer_bound,
    tsitsiklis_van_roy_bound,
    white_bound,
    williams_baird_bound,
)
from gpbe.exact.bounds.table import BOUNDS, all_bounds

__all__ = [
    "BOUNDS",
    "Bound",
    "all_bounds",
    "antos_bound",
    "approximation_error",
    "approximation_error_bound",
    "convex_subset_bound",
    "hallak_bound",
    "kolter_bound",
    "maillard_bound",
    "mismatch_bound",
    "oblique_bound",
    "operator_constant",
    "proposition_1",
    "scherrer_bound",
    "transition_constant",
    "tsitsiklis_van_roy_bound",
    "value_error_bound",
    "white_bound",
    "williams_baird_bound",
    "worst_approximation_error",
]
