"""What a sweep of runs says: curves, intervals, distributions, sensitivity, votes, and verdicts on claims.

It begins with a table of runs, one row each (`tables`), which `performance` reduces to a number a run. Everything else
but `curves` works on those numbers. `performance` says how points without a return and diverged runs count.
"""

from gpbe.analysis.comparison import Comparison, compare, comparison_table, verdict
from gpbe.analysis.curves import curves
from gpbe.analysis.distributions import Density, density, run_densities, run_histograms
from gpbe.analysis.intervals import Interval, bootstrap_interval, resample, standard_error, t_interval
from gpbe.analysis.performance import performance, worst_returns
from gpbe.analysis.runoff import Round, Runoff, instant_runoff
from gpbe.analysis.selection import election, leave_one_out, select_by_vote, select_per_domain
from gpbe.analysis.sensitivity import sensitivity
from gpbe.analysis.settings import hyperparameter_densities, hyperparameter_summary, setting_means
from gpbe.analysis.tables import hyperparameters
from gpbe.analysis.uncertainty import choice_frequencies
from gpbe.analysis.voting import Election, condorcet

__all__ = [
    "Comparison",
    "Density",
    "Election",
    "Interval",
    "Round",
    "Runoff",
    "bootstrap_interval",
    "choice_frequencies",
    "compare",
    "comparison_table",
    "condorcet",
    "curves",
    "density",
    "election",
    "hyperparameter_densities",
    "hyperparameter_summary",
    "hyperparameters",
    "instant_runoff",
    "leave_one_out",
    "performance",
    "resample",
    "run_densities",
    "run_histograms",
    "select_by_vote",
    "select_per_domain",
    "sensitivity",
    "setting_means",
    "standard_error",
    "t_interval",
    "verdict",
    "worst_returns",
]
