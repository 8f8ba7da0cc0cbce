"""The control algorithms by name: choices on a few axes, with their hyperparameters. Does not need JAX to be listed."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe.algorithms.control.agent import Agent


class Range(NamedTuple):
    low: float
    high: float
    open: bool
    """Is `low` itself excluded?"""
    default: float
    paper: tuple[float, ...]
    """What the paper's sweeps go over; empty for what it does not sweep."""
    meaning: str


_TAUS = (0.0, *(10.0**k for k in range(-4, 1)))
RANGES: dict[str, Range] = {
    "step_size": Range(0, math.inf, True, 2.0**-10, tuple(2.0**k for k in range(-12, -6)), "of the optimizer"),
    "beta": Range(0, math.inf, False, 1.0, (0.0, 0.5, 1.0, 1.5), "penalty on the weights of h"),
    "tau": Range(0, math.inf, False, 0.0, _TAUS, "of mellowmax (0: hard max), or of the entropy of SBEED's policy"),
    "eta": Range(0, 1, False, 1.0, tuple(10.0**k for k in range(-3, 1)), "0: residual gradient, 1: correction"),
    "nu": Range(0, math.inf, False, 1.0, tuple(2.0**k for k in range(-4, 2)), "policy's step size over the critic's"),
    "epsilon": Range(0, 1, False, 0.1, (), "probability of a random action, at the start"),
    "epsilon_final": Range(0, 1, False, math.nan, (), "and after epsilon_steps (NaN: it does not change)"),
    "epsilon_steps": Range(0, math.inf, False, 0.0, (), "steps over which it changes along a line"),
    "gamma": Range(0, 1, False, 0.99, (), "discount"),
}
_GREEDY = ("step_size", "tau", "epsilon", "epsilon_final", "epsilon_steps", "gamma")
_POLICY = ("step_size", "nu", "gamma")
WIDTHS = (0.25, 0.5, 1.0, 2.0)
"""Of QRC-Sep's network for h, as multiples of q's; in the paper 8 to 64 units, or 16 to 128 where q has 64."""


Kind = Literal["ActionValues", "SBEED", "SBEEDQ", "PolicyGradient"]


@dataclass(frozen=True)
class ControlAlgorithm:
    kind: Kind
    """Which class of agents."""
    choices: Mapping[str, Any]
    """All of its axes."""
    hyperparameters: tuple[str, ...]
    fixed: tuple[tuple[str, float], ...] = ()
    """Hyperparameters that are 0 or 1 in this algorithm by definition."""
    swept: tuple[str, ...] = ("step_size", "tau")
    """What the paper sweeps for it."""
    describe: str = ""
    paper: str = ""

    @property
    def axes(self) -> dict[str, Any]:
        """The choices that make it."""
        return {"kind": self.kind} | dict(self.choices)

    @property
    def agent(self) -> "Agent":
        from gpbe.algorithms import control

        return getattr(control, self.kind)(**self.choices)

    def defaults(self) -> dict[str, float]:
        return {name: r.default for name, r in RANGES.items()} | dict(self.fixed)

    def grid(self) -> dict[str, tuple[float, ...]]:
        """The paper's: what it sweeps for this algorithm, and over what."""
        swept: dict[str, tuple[float, ...]] = {name: RANGES[name].paper for name in self.swept}
        return swept | ({"width": WIDTHS} if self.axes.get("basis") == "network" else {})


_PAPER = "Patterson et al. 2022"


def _values(form: str, basis: str = "head", curvature: bool = False) -> tuple[Kind, dict[str, Any]]:
    return "ActionValues", {"form": form, "basis": basis, "width": 1.0, "curvature": curvature}


ALGORITHMS: dict[str, ControlAlgorithm] = {
    "q-learning": ControlAlgorithm(
        *_values("none"), _GREEDY, describe="no correction", paper="Watkins 1989; Mnih et al. 2015"
    ),
    "qc": ControlAlgorithm(
        *_values("correction"), _GREEDY, (("beta", 0.0),), describe="gradient correction, h unpenalized", paper=_PAPER
    ),
    "qrc": ControlAlgorithm(
        *_values("correction"),
        (*_GREEDY, "beta"),
        describe="gradient correction, regularized by beta = 1",
        paper=_PAPER,
    ),
    "qrc-sep": ControlAlgorithm(
        *_values("correction", "network"), (*_GREEDY, "beta"), describe="QRC, h a network of its own", paper=_PAPER
    ),
    "qrc-grad": ControlAlgorithm(
        *_values("correction", "gradient"),
        (*_GREEDY, "beta"),
        describe="QRC, h linear in the gradient of q",
        paper=_PAPER,
    ),
    "qc-ll": ControlAlgorithm(
        *_values("correction", "gradient", curvature=True),
        _GREEDY,
        (("beta", 0.0),),
        describe="nonlinear TDC for control: locally linear projection, with the term of the curvature",
        paper="Maei et al. 2009",
    ),
    "gq": ControlAlgorithm(
        *_values("saddlepoint"),
        (*_GREEDY, "beta"),
        swept=("step_size", "tau", "beta"),
        describe="saddlepoint form",
        paper=f"Maei et al. 2010; {_PAPER}",
    ),
    "gq-grad": ControlAlgorithm(
        *_values("saddlepoint", "gradient"),
        (*_GREEDY, "beta"),
        swept=("step_size", "tau", "beta"),
        describe="saddlepoint form, h linear in the gradient of q",
        paper=_PAPER,
    ),
    "sbeed": ControlAlgorithm(
        "SBEED",
        {},
        (*_POLICY, "tau", "eta"),
        (("beta", 0.0),),
        swept=("step_size", "tau", "eta", "nu"),
        describe="state values and a policy; tau = 0 leaves the policy as it began",
        paper="Dai et al. 2018",
    ),
    "sbeed-q": ControlAlgorithm(
        "SBEEDQ",
        {},
        (*_GREEDY, "eta"),
        (("beta", 0.0),),
        swept=("step_size", "tau", "eta"),
        describe="SBEED's objective on action values",
        paper=_PAPER,
    ),
    "tdrc-pg": ControlAlgorithm(
        "PolicyGradient",
        {"ratios": False},
        (*_POLICY, "beta"),
        swept=("step_size", "nu"),
        describe="actor-critic with TDRC as the critic",
        paper=_PAPER,
    ),
}


def find_algorithm(name: str) -> ControlAlgorithm:
    """A control algorithm by name.

    >>> find_algorithm("qrc").agent
    ActionValues(form='correction', basis='head', width=1.0, curvature=False)
    """
    if name not in ALGORITHMS:
        close = difflib.get_close_matches(name.casefold(), ALGORITHMS, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(ALGORITHMS)}"
        raise InputError(f"there is no control algorithm {name!r}; {hint}")
    return ALGORITHMS[name]


def vary(algorithm: ControlAlgorithm, name: str, **choices: Any) -> ControlAlgorithm:
    """The same with other choices on its axes, such as `width` for QRC-Sep or `ratios` for TDRC-PG."""
    axes = algorithm.choices
    for choice, value in choices.items():
        if choice not in axes:
            raise InputError(f"{name} has no {choice!r}; it has {', '.join((*algorithm.hyperparameters, *axes))}")
        if choice == "width" and not (isinstance(value, float | int) and 0 < value < math.inf):
            raise InputError(f"width is {value}; it should be above 0, a multiple of the width of q's layers")
    return replace(algorithm, choices=dict(axes) | choices)
