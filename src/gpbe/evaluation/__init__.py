"""A policy's value from recorded data, with its uncertainty."""

from gpbe.evaluation.evaluate import ESTIMATORS, evaluate
from gpbe.evaluation.result import Diagnostics, Estimate, Evaluation

__all__ = ["ESTIMATORS", "Diagnostics", "Estimate", "Evaluation", "evaluate"]
