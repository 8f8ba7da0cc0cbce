"""Prediction with networks: one update, of which every algorithm is a choice (paper, section 7).

Here is what can be listed without JAX. The maths is in the modules: `updates` and `step` (the update), `weights` (prior
corrections), `kernels`, and `model` (v and h).
"""

from gpbe.algorithms.nonlinear.hyperparameters import Hypers
from gpbe.algorithms.nonlinear.table import ALGORITHMS, Form, Kernel, NonlinearAlgorithm, Source, find

__all__ = ["ALGORITHMS", "Form", "Hypers", "Kernel", "NonlinearAlgorithm", "Source", "find"]
