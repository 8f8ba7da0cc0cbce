"""The algorithms of nonlinear prediction by name: choices on four axes. Listing them needs no JAX."""

from dataclasses import dataclass, field, replace
from typing import Literal

from gpbe.algorithms.linear.table import WEIGHTING
from gpbe.algorithms.linear.traces import Prior
from gpbe.algorithms.nonlinear.hyperparameters import Hypers
from gpbe.algorithms.records import Look, find_record, huber_family
from gpbe.checks import check_choices
from gpbe.errors import InputError

Form = Literal["correction", "saddlepoint"]
"""How w moves (see `updates`)."""
Source = Literal["zero", "same", "second", "kernel", "learned"]
"""Where h comes from: 0 (TD), the sample's own TD error (residual gradient), that of an independent sample from the
same state (double sampling), a kernel's smoothing of the errors of other samples (KBE), or an approximation that
learns."""
Kernel = Literal["gaussian", "laplace", "linear", "quadratic", "same"]
"""Kernels of the KBE (see `kernels`)."""


@dataclass(frozen=True)
class NonlinearAlgorithm:
    """How w moves, where h comes from, what is corrected.

    >>> find("tdc")
    NonlinearAlgorithm(form='correction', h='learned', curvature=False, regularized=False, bounded=False, ...)
    >>> NonlinearAlgorithm(h="zero", curvature=True)
    Traceback (most recent call last):
    gpbe.errors.InputError: the term of the curvature belongs to an h that learns, not to h = 'zero'
    """

    form: Form = "correction"
    h: Source = "learned"
    curvature: bool = False
    """Maei's Hessian term, for h linear in the gradient of v."""
    regularized: bool = False
    """Shrink h by beta (TDRC)."""
    bounded: bool = False
    """Clip h at `huber` where v learns from it (Huber PBE)."""
    prior: Prior = "none"
    """What the state's weight M is besides 1: the emphasis of the returns in use, or the product of ratios."""
    paper: str = field(default="", compare=False)
    look: Look = field(default=Look("custom"), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_choices(self)
        if self.curvature and not self.learns_h:
            raise InputError(f"the term of the curvature belongs to an h that learns, not to h = {self.h!r}")
        if self.regularized and not self.learns_h:
            raise InputError(f"regularized shrinks an h that learns, not h = {self.h!r}")
        if self.bounded and (self.curvature or not self.learns_h):
            raise InputError("bounded clips an h that learns, without the term of the curvature")

    @property
    def learns_h(self) -> bool:
        """Is h an approximation that learns?"""
        return self.h == "learned"

    @property
    def weighting(self) -> str:
        """The state weighting of the objective."""
        return WEIGHTING[self.prior]

    @property
    def long_returns(self) -> bool:
        """Are windows of more than one transition defined for it?"""
        return self.h not in ("same", "second")

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """The names of those that it has.

        >>> find("kbe").hyperparameters
        ('step_size', 'lam', 'bandwidth', 'power', 'delay')
        """
        has = {
            "ratio": self.learns_h,
            "beta": self.regularized,
            "huber": self.bounded,
            "lam": self.long_returns,
            "bandwidth": self.h == "kernel",
        }
        return tuple(name for name in Hypers._fields if has.get(name, True))

    def defaults(self) -> dict[str, float]:
        """A number for each hyperparameter, whether it has it or not."""
        return {name: declared.default for name, declared in Hypers._field_defaults.items()}


_MAEI = "Maei et al. 2009"
ALGORITHMS: dict[str, NonlinearAlgorithm] = {
    "td": NonlinearAlgorithm(h="zero", paper="Sutton 1988", look=Look("TD", "black")),
    "tdc": NonlinearAlgorithm(paper="Patterson et al. 2022", look=Look("TDC", "blue", marker="s")),
    "tdrc": NonlinearAlgorithm(
        regularized=True, paper="Ghiassian et al. 2020; Patterson et al. 2022", look=Look("TDRC", "red", marker="*")
    ),
    "gtd2": NonlinearAlgorithm(
        "saddlepoint", paper="Dai et al. 2017; Patterson et al. 2022", look=Look("GTD2", "orange", marker="P")
    ),
    "maei-gtd2": NonlinearAlgorithm(
        "saddlepoint", curvature=True, paper=_MAEI, look=Look("GTD2 with Hessian", "orange", (4.0, 1.5), "P")
    ),
    "maei-tdc": NonlinearAlgorithm(curvature=True, paper=_MAEI, look=Look("TDC with Hessian", "blue", (4.0, 1.5), "s")),
    "residual-gradient": NonlinearAlgorithm(h="same", paper="Baird 1995", look=Look("residual gradient", "purple")),
    "double-sampling": NonlinearAlgorithm(
        h="second", paper="Baird 1995", look=Look("double sampling", "green", marker="D")
    ),
    "kbe": NonlinearAlgorithm("saddlepoint", h="kernel", paper="Feng et al. 2019", look=Look("KBE", "sky", marker="^")),
}
"""The algorithms that have a name."""
_PRIORS: tuple[Prior, ...] = ("emphatic", "alternative-life")
ALGORITHMS |= {
    f"{prior}-{name}": replace(a, prior=prior, look=replace(a.look, label=f"{prior} {a.look.label}"))
    for prior in _PRIORS
    for name, a in ALGORITHMS.items()
}
ALGORITHMS |= huber_family(ALGORITHMS)


def find(algorithm: object) -> NonlinearAlgorithm:
    """An algorithm by name, or as a choice of axes.

    >>> find("gtd2").form, find("emphatic-tdc").prior
    ('saddlepoint', 'emphatic')
    """
    return find_record(algorithm, ALGORITHMS, NonlinearAlgorithm, "algorithm for networks")
