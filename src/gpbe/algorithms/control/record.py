"""What a control algorithm is: the record that everything else about it follows from. Does not need JAX."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.hyperparameters import Hyperparameter
from gpbe.algorithms.records import Look, referred
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
    """What it looks like in figures; gray, under its name, if left out."""
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
            elif not isinstance(value, Hashable):
                raise InputError(f"{name} of {self.name} is a choice for the whole of it; give one value, not several")
        return replace(self, choices=dict(self.choices) | choices) if choices else self


def _check_one(value: Any, name: str) -> None:
    if not isinstance(value, float):
        raise InputError(f"{name} shapes a network, so that every value is a program of its own; give one number")


def _axes(maker: Callable[..., Any]) -> list[str]:
    return [each.name for each in fields(maker)] if is_dataclass(maker) else []
