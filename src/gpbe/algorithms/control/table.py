"""The control algorithms, one record each. Does not need JAX to be listed.

What `gpbe.train`, sweeps, the command line, figures and estimates of cost know of an algorithm, they read here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from gpbe.algorithms.control.hyperparameters import WIDTH, Hypers
from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.algorithms.records import HUBER, Look, find_record, referred
from gpbe.checks import check_known
from gpbe.errors import InputError

if TYPE_CHECKING:
    from gpbe.algorithms.control.agent import Agent


@dataclass(frozen=True)
class ControlAlgorithm:
    """A class of agents and choices on its axes, with hyperparameters.

    One of one's own needs a name and a class (see `gpbe.algorithms.control.agent`), or a function that makes an agent:

    >>> from gpbe.algorithms.control.action_values import ActionValues
    >>> mine = ControlAlgorithm("mine", ActionValues, {"form": "saddlepoint"})
    >>> mine.varied(basis="network").make()
    ActionValues(form='saddlepoint', basis='network', width=1.0, curvature=False)
    """

    name: str
    agent: "str | Callable[..., Agent]"
    """What makes the agent: a class or a function, or "package.module:name" of one."""
    choices: Mapping[str, Any] = field(default_factory=dict)
    """What it is called with: choices on its axes, where they are not its defaults."""
    hyperparameters: tuple[str, ...] = Hypers._fields
    """The names of those that it has."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Hyperparameters that are 0 or 1 in this algorithm by definition."""
    usual: Mapping[str, float] = field(default_factory=dict)
    """Hyperparameters whose default is another than that of their declaration."""
    shaping: Mapping[str, Hyperparameter] = field(default_factory=dict)
    """Axes that are numbers and shape a network, so that each value is a program of its own."""
    swept: tuple[str, ...] = ()
    """What the paper sweeps for it."""
    describe: str = ""
    paper: str = ""
    look: Look | None = None
    """What it looks like in figures; grey, under its name, if left out."""
    speed: float = 1.0
    """Steps a second over QRC's, rounded from `gpbe bench control`; environments on the host hide some of the gap."""

    def __post_init__(self) -> None:
        for name in (*self.hyperparameters, *self.fixed, *self.usual):
            check_known(name, Hypers._fields, "hyperparameter")

    @property
    def declared(self) -> dict[str, Hyperparameter]:
        """All of its numbers by name: what the compiled program is given, and what shapes networks."""
        return {name: Hypers._field_defaults[name] for name in self.hyperparameters} | dict(self.shaping)

    @property
    def axes(self) -> dict[str, Any]:
        """What makes it, in words: the agent's name, and the choices."""
        made_by = self.agent.partition(":")[2] if isinstance(self.agent, str) else self.agent.__name__
        return {"agent": made_by} | dict(self.choices)

    def make(self) -> "Agent":
        """The agent."""
        return self._maker()(**self.choices)

    def _maker(self) -> "Callable[..., Agent]":
        return referred(self.agent) if isinstance(self.agent, str) else self.agent

    def defaults(self) -> dict[str, float]:
        """A number for each hyperparameter, whether it has it or not."""
        return {name: h.default for name, h in Hypers._field_defaults.items()} | dict(self.usual) | dict(self.fixed)

    def grid(self) -> dict[str, tuple[float, ...]]:
        """The paper's: what it sweeps for this algorithm, and over what."""
        return {name: self.declared[name].paper for name in (*self.swept, *self.shaping)}

    def varied(self, **choices: Any) -> "ControlAlgorithm":
        """The same with other choices on its axes, such as `width` for QRC-Sep or `ratios` for TDRC-PG."""
        for name, value in choices.items():
            if name in self.shaping:
                _check_one(self.shaping[name].checked(value, name), name)
            elif name not in self.choices and name not in _axes(self._maker()):
                has = ", ".join((*self.declared, *(x for x in self.choices if x not in self.shaping)))
                raise InputError(f"{self.name} has no {name!r}; it has {has}")
        return replace(self, choices=dict(self.choices) | choices) if choices else self


def _check_one(value: Any, name: str) -> None:
    if not isinstance(value, float):
        raise InputError(f"{name} shapes a network, so that every value is a program of its own; give one number")


def _axes(maker: Callable[..., Any]) -> list[str]:
    return [each.name for each in fields(maker)] if is_dataclass(maker) else []


_VALUES = "gpbe.algorithms.control.action_values:ActionValues"
_TRACES = "gpbe.algorithms.control.traces:TracedValues"
_GREEDY = ("step_size", "tau", "epsilon", "epsilon_final", "epsilon_steps", "gamma")
_POLICY = ("step_size", "nu", "gamma")
_SWEPT = ("step_size", "tau")
_PAPER = "Patterson et al. 2022"


def _traced(
    name: str,
    choices: Mapping[str, Any],
    more: tuple[str, ...],
    look: Look,
    what: str,
    paper: str = "Elelimy et al. 2025",
    **others: Any,
) -> ControlAlgorithm:
    """An algorithm with traces, one transition at a time."""
    describe = f"traces without replay: {what}"
    return ControlAlgorithm(
        name, _TRACES, choices, (*_GREEDY, *more), describe=describe, paper=paper, look=look, speed=3.5, **others
    )


_RECORDS = (
    ControlAlgorithm(
        "q-learning",
        _VALUES,
        {"form": "none"},
        _GREEDY,
        swept=_SWEPT,
        describe="no correction",
        paper="Watkins 1989; Mnih et al. 2015",
        look=Look("Q-learning", "orange", (5.0, 1.2)),
    ),
    ControlAlgorithm(
        "expected-sarsa",
        "gpbe.algorithms.control.expected_sarsa:ExpectedSarsa",
        {"form": "none"},
        ("step_size", "epsilon", "epsilon_final", "epsilon_steps", "gamma"),
        describe="no correction, the value of the epsilon-greedy policy at S'",
        paper="van Seijen et al. 2009",
        look=Look("Expected SARSA", "yellow", (1.2, 0.8)),
    ),
    ControlAlgorithm(
        "qc",
        _VALUES,
        {"form": "correction"},
        _GREEDY,
        fixed={"beta": 0.0},
        swept=_SWEPT,
        describe="gradient correction, h unpenalized",
        paper=_PAPER,
        look=Look("QC", "sky"),
    ),
    ControlAlgorithm(
        "qrc",
        _VALUES,
        {"form": "correction"},
        (*_GREEDY, "beta"),
        swept=_SWEPT,
        describe="gradient correction, regularized by beta = 1",
        paper=_PAPER,
        look=Look("QRC", "blue"),
    ),
    ControlAlgorithm(
        "qrc-huber",
        "gpbe.algorithms.control.robust:RobustActionValues",
        {"form": "correction"},
        (*_GREEDY, "beta", "huber"),
        swept=_SWEPT,
        describe="QRC on the Huber error: h is clipped",
        paper=HUBER,
        look=Look("QRC-Huber", "blue", (2.0, 1.0)),
    ),
    ControlAlgorithm(
        "qrc-sep",
        _VALUES,
        {"form": "correction", "basis": "network"},
        (*_GREEDY, "beta"),
        shaping={"width": WIDTH},
        swept=_SWEPT,
        describe="QRC, h a network of its own",
        paper=_PAPER,
        look=Look("QRC-Sep", "sky"),
        speed=0.6,
    ),
    ControlAlgorithm(
        "qrc-grad",
        _VALUES,
        {"form": "correction", "basis": "gradient"},
        (*_GREEDY, "beta"),
        swept=_SWEPT,
        describe="QRC, h linear in the gradient of q",
        paper=_PAPER,
        look=Look("QRC-Grad", "black"),
        speed=0.6,
    ),
    ControlAlgorithm(
        "qc-ll",
        _VALUES,
        {"form": "correction", "basis": "gradient", "curvature": True},
        _GREEDY,
        fixed={"beta": 0.0},
        swept=_SWEPT,
        describe="nonlinear TDC for control: locally linear projection, with the term of the curvature",
        paper="Maei et al. 2009",
        look=Look("QC-LL", "green", (4.0, 1.0, 1.0, 1.0)),
        speed=0.44,
    ),
    ControlAlgorithm(
        "gq",
        _VALUES,
        {"form": "saddlepoint"},
        (*_GREEDY, "beta"),
        swept=(*_SWEPT, "beta"),
        describe="saddlepoint form",
        paper=f"Maei et al. 2010; {_PAPER}",
        look=Look("GQ", "purple"),
    ),
    ControlAlgorithm(
        "gq-grad",
        _VALUES,
        {"form": "saddlepoint", "basis": "gradient"},
        (*_GREEDY, "beta"),
        swept=(*_SWEPT, "beta"),
        describe="saddlepoint form, h linear in the gradient of q",
        paper=_PAPER,
        look=Look("GQ-Grad", "black"),
        speed=0.55,
    ),
    ControlAlgorithm(
        "sbeed",
        "gpbe.algorithms.control.sbeed:SBEED",
        hyperparameters=(*_POLICY, "tau", "eta"),
        fixed={"beta": 0.0},
        swept=(*_SWEPT, "eta", "nu"),
        describe="state values and a policy; tau = 0 leaves the policy as it began",
        paper="Dai et al. 2018",
        look=Look("SBEED", "red", (1.2, 0.8)),
        speed=0.6,
    ),
    ControlAlgorithm(
        "sbeed-dai",
        "gpbe.algorithms.control.sbeed:SBEED",
        {"rho": "entropy"},
        hyperparameters=(*_POLICY, "tau", "eta"),
        fixed={"beta": 0.0},
        swept=(*_SWEPT, "eta", "nu"),
        describe="SBEED whose rho estimates the entropy's term too, so that eta is in the policy's gradient",
        paper="Dai et al. 2018",
        look=Look("SBEED (Dai)", "grey", (1.2, 0.8)),
        speed=0.6,
    ),
    ControlAlgorithm(
        "sbeed-q",
        "gpbe.algorithms.control.sbeed:SBEEDQ",
        hyperparameters=(*_GREEDY, "eta"),
        fixed={"beta": 0.0},
        swept=(*_SWEPT, "eta"),
        describe="SBEED's objective on action values",
        paper=_PAPER,
        look=Look("SBEED-Q", "purple"),
    ),
    ControlAlgorithm(
        "tdrc-pg",
        "gpbe.algorithms.control.actor_critic:PolicyGradient",
        {"ratios": False},
        (*_POLICY, "beta"),
        swept=("step_size", "nu"),
        describe="actor-critic with TDRC as the critic",
        paper=_PAPER,
        look=Look("TDRC-PG", "sky"),
        speed=0.67,
    ),
    _traced(
        "q-lambda", {"form": "none"}, ("lam",), Look("Q(λ)", "orange", (5.0, 1.2)), "Watkins' Q(lambda)", "Watkins 1989"
    ),
    _traced(
        "qc-lambda",
        {"form": "correction"},
        ("lam", "ratio"),
        Look("QC(λ)", "sky"),
        "gradient correction, h unpenalized",
        fixed={"beta": 0.0},
    ),
    _traced(
        "qrc-lambda",
        {"form": "correction"},
        ("beta", "lam", "ratio"),
        Look("QRC(λ)", "blue"),
        "gradient correction, regularized by beta = 1",
    ),
    _traced(
        "gq-lambda", {"form": "saddlepoint"}, ("beta", "lam", "ratio"), Look("GQ(λ)", "purple"), "saddlepoint form"
    ),
    _traced(
        "stream-q",
        {"form": "none", "bounded": True},
        ("lam", "kappa"),
        Look("StreamQ", "green", (4.0, 1.0, 1.0, 1.0)),
        "Q(lambda), steps shortened where they could overshoot",
        "Elsayed et al. 2024",
        usual={"step_size": 1.0},
    ),
)
ALGORITHMS = {record.name: record for record in _RECORDS}
"""The algorithms that have a name."""


def find_algorithm(algorithm: str | ControlAlgorithm) -> ControlAlgorithm:
    """A control algorithm by its name in the table, as "package.module:NAME" of a record, or the record itself.

    >>> find_algorithm("qrc").make()
    ActionValues(form='correction', basis='head', width=1.0, curvature=False)
    """
    if isinstance(algorithm, str) and ":" in algorithm:
        algorithm = referred(algorithm)
    return find_record(algorithm, ALGORITHMS, ControlAlgorithm, "control algorithm")
