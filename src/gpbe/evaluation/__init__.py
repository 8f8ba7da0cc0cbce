"""A policy's value from recorded data, with its uncertainty."""

from gpbe.evaluation.asked import ESTIMATORS
from gpbe.evaluation.evaluate import evaluate
from gpbe.evaluation.result import Diagnostics, Estimate, Evaluation

__all__ = ["ESTIMATORS", "Diagnostics", "Estimate", "Evaluation", "evaluate"]
