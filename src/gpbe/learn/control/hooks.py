"""What callbacks of `gpbe.train` are told, and how they are asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gpbe.errors import InputError
from gpbe.learn.control.lanes import Seen, Watch, scales_of, weight_vectors
from gpbe.learn.control.measuring import check_measurable, measure
from gpbe.learn.control.state import Options
from gpbe.learn.control.trained import TrainedAgent
from gpbe.shapes import Array


@dataclass(frozen=True, eq=False)
class Stretch:
    """What a callback is told after each stretch of steps: up to eight runs, which learn side by side.

    Runs beyond eight are learned afterwards, and told of then. Every array has one entry for each run that is told of.
    """

    env: str
    algorithm: str
    steps: int
    """Environment steps that each of these runs has taken."""
    total: int
    """Steps that each is to take."""
    setting: Array
    """Number of the setting of each; 0 if nothing is swept."""
    run: Array
    """Number of each among the runs of its setting."""
    settings: Mapping[str, Array]
    """Swept hyperparameters."""
    diverged_at: Array
    """The step at which weights were found infinite or NaN, or -1."""
    values: dict[str, Array]
    """Values by name: "return" is that of the last episode that ended (NaN before the first); with `measure=True`
    there are "delta", "h" and "loss" (see `gpbe.learn.control.measuring`). A callback may add to it, for those after
    it."""
    _agents: Any = field(repr=False)

    def agent(self, index: int = 0) -> TrainedAgent:
        """One of these runs as it is now, to look at, play or save."""
        return self._agents.get(index)


@dataclass(eq=False)
class _Agents:
    """Weights are taken from the device only if somebody asks, and that must be before learning goes on."""

    seen: Seen | None
    make: Callable[[int, Array, Array | None], TrainedAgent]

    @cached_property
    def weights(self) -> tuple[Array, Array | None]:
        if self.seen is None:
            raise InputError("this stretch is over; ask for its agents while the callback runs")
        scaling = self.seen.run.scaling
        scale = None if scaling is None or scaling.observation is None else scales_of(scaling.observation)
        return weight_vectors(self.seen.run.weights), scale

    def get(self, index: int) -> TrainedAgent:
        weights, scale = self.weights
        return self.make(index, weights[index], None if scale is None else scale[index])


Callback = Callable[[Stretch], Any]
"""Is called after every stretch. If it returns True, these runs are not continued."""


@dataclass(frozen=True)
class Watched:
    """What is the same for all stretches of a training."""

    env: str
    algorithm: str
    options: Options
    total: int
    runs: int
    """The runs of each setting."""
    settings: Mapping[str, Array]
    make: Callable[[int, Array, Array | None], TrainedAgent]
    """Makes the agent from the number of a setting, weights and scale."""


def read_callbacks(callbacks: Callback | Sequence[Callback]) -> tuple[Callback, ...]:
    """One or several; every one of them must be something to call.

    >>> read_callbacks(print) == (print,), read_callbacks([]) == ()
    (True, True)
    """
    several = (callbacks,) if callable(callbacks) else callbacks
    if not isinstance(several, Sequence) or not all(map(callable, several)):
        raise InputError(f"callbacks is {callbacks!r}; it should be a function of a Stretch, or a list of such")
    return tuple(several)


def watcher(about: Watched, callbacks: Sequence[Callback], measured: bool) -> Watch | None:
    """Tells callbacks, in their order, what is seen; None if there are none."""
    if measured:
        check_measurable(about.options)
    if not callbacks:
        return None

    def watch(seen: Seen) -> bool:
        stretch, agents = _stretch(about, seen, measured)
        stops = [_said_true(callback(stretch)) for callback in callbacks]  # all of them are told, whoever stops
        agents.seen = None
        return any(stops)

    return watch


def _said_true(answer: Any) -> bool:
    """Most callbacks return something that they do not mean, such as None, or how much they wrote."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def _stretch(about: Watched, seen: Seen, measured: bool) -> tuple[Stretch, _Agents]:
    real = len(seen.lanes)
    setting, run = np.divmod(seen.lanes, about.runs)
    values = {"return": np.asarray(seen.record.last[:real], float)}
    if measured:
        found = measure(about.options, seen.hypers, seen.steps, seen.run)
        values |= {name: part[:real] for name, part in found._asdict().items()}
    agents = _Agents(seen, lambda index, weights, scale: about.make(int(setting[index]), weights, scale))
    stretch = Stretch(
        env=about.env,
        algorithm=about.algorithm,
        steps=seen.steps,
        total=about.total,
        setting=setting,
        run=run,
        settings={name: np.asarray(swept)[setting] for name, swept in about.settings.items()},
        diverged_at=np.asarray(seen.run.diverged_at)[:real],
        values=values,
        _agents=agents,
    )
    return stretch, agents
