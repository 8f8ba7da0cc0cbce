"""The algorithms of nonlinear prediction by name: choices on four axes."""

import difflib
from dataclasses import dataclass, replace
from typing import Literal

from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.linear.hyperparameters import Range
from gpbe.algorithms.linear.traces import Prior
from gpbe.algorithms.nonlinear.updates import Form
from gpbe.errors import InputError

Source = Literal["zero", "same", "second", "kernel", "learned"]


@dataclass(frozen=True)
class ValueAlgorithm:
    """How w moves, where h comes from, what is corrected.

    >>> find_value_algorithm("tdc")
    ValueAlgorithm(form='correction', h='learned', curvature=False, regularized=False, prior='none', paper='...')
    """

    form: Form = "correction"
    h: Source = "learned"
    """0 (TD), the sample's own TD error (residual gradient), that of an independent sample from the same state (double
    sampling), a kernel's smoothing of the errors of other samples (KBE), or an approximation that learns."""
    curvature: bool = False
    """Maei's Hessian term, for h linear in the gradient of v."""
    regularized: bool = False
    """Shrink h by beta (TDRC)."""
    prior: Prior = "none"
    """What the state's weight M is besides 1: the emphasis of the returns in use, or the product of ratios."""
    paper: str = ""

    @property
    def learns_h(self) -> bool:
        return self.h == "learned"

    @property
    def weighting(self) -> str:
        """The state weighting of the objective."""
        return Algorithm(prior=self.prior).weighting

    @property
    def long_returns(self) -> bool:
        """Are windows of more than one transition defined for it?"""
        return self.h not in ("same", "second")


_MAEI = "Maei et al. 2009"
ALGORITHMS: dict[str, ValueAlgorithm] = {
    "td": ValueAlgorithm(h="zero", paper="Sutton 1988"),
    "tdc": ValueAlgorithm(paper="Patterson et al. 2022"),
    "tdrc": ValueAlgorithm(regularized=True, paper="Ghiassian et al. 2020; Patterson et al. 2022"),
    "gtd2": ValueAlgorithm("saddlepoint", paper="Dai et al. 2017; Patterson et al. 2022"),
    "maei-gtd2": ValueAlgorithm("saddlepoint", curvature=True, paper=_MAEI),
    "maei-tdc": ValueAlgorithm(curvature=True, paper=_MAEI),
    "residual-gradient": ValueAlgorithm(h="same", paper="Baird 1995"),
    "double-sampling": ValueAlgorithm(h="second", paper="Baird 1995"),
    "kbe": ValueAlgorithm("saddlepoint", h="kernel", paper="Feng et al. 2019"),
}
_PRIORS: tuple[Prior, ...] = ("emphatic", "alternative-life")
ALGORITHMS |= {f"{p}-{name}": replace(a, prior=p) for p in _PRIORS for name, a in ALGORITHMS.items()}


RANGES: dict[str, Range] = {
    "step_size": Range(0, float("inf"), True, 0.01, "step size of w"),
    "ratio": Range(0, float("inf"), True, 1.0, "step size of h over that of w"),
    "beta": Range(0, float("inf"), False, 1.0, "regularization of h (TDRC)"),
    "lam": Range(0, 1, False, 1.0, "trace parameter within a window of n transitions; 1 makes n-step returns"),
    "bandwidth": Range(0, float("inf"), True, 1.0, "width of the kernel (KBE)"),
    "power": Range(0, float("inf"), False, 0.0, "the step size falls as (1 + t / delay)^-power"),
    "delay": Range(0, float("inf"), True, 1000.0, "updates after which the step size begins to fall"),
}


def names_for(a: ValueAlgorithm) -> list[str]:
    """The hyperparameters that an algorithm has."""
    has = {"ratio": a.learns_h, "beta": a.regularized, "lam": a.long_returns, "bandwidth": a.h == "kernel"}
    return [name for name in RANGES if has.get(name, True)]


def find_value_algorithm(algorithm: str | ValueAlgorithm) -> ValueAlgorithm:
    """An algorithm by name, or as a choice of axes."""
    if isinstance(algorithm, ValueAlgorithm):
        if algorithm.curvature and not algorithm.learns_h:
            raise InputError(f"the term of the curvature belongs to an h that learns, not to h = {algorithm.h!r}")
        return algorithm
    if not isinstance(algorithm, str):
        raise InputError(
            f"algorithm is of type {type(algorithm).__name__}; give a name such as tdrc, or a ValueAlgorithm"
        )
    if algorithm not in ALGORITHMS:
        close = difflib.get_close_matches(algorithm, ALGORITHMS, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(ALGORITHMS)}"
        raise InputError(f"there is no algorithm {algorithm!r} for networks; {hint}")
    return ALGORITHMS[algorithm]
