"""`gpbe.train`: control with neural networks, on any environment, over swept hyperparameters and many runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import Agent, Hypers, Spec, find_algorithm
from gpbe.algorithms.control.table import RANGES, ControlAlgorithm, vary
from gpbe.algorithms.ranges import checked_numbers
from gpbe.envs import CompiledEnv, HostEnv, find
from gpbe.errors import InputError
from gpbe.learn.control.checkpoint import Checkpoint
from gpbe.learn.control.lanes import open_lanes
from gpbe.learn.control.loop import OPTIMIZERS, Options, Record
from gpbe.learn.control.returns import returns_at_records
from gpbe.learn.control.trained import TrainedAgent
from gpbe.learn.grouping import groups
from gpbe.learn.settings import Settings, as_settings
from gpbe.nets import MakeBody
from gpbe.shapes import Array

HIDDEN = {"MountainCar-v0": (32, 32), "Acrobot-v1": (32, 32)}
"""The paper's layers are smaller there; 64 and 64 elsewhere."""

Advance = Callable[[int, float], None]


class Learning(NamedTuple):
    """How an agent learns, whatever its algorithm; `train` says what each is."""

    hidden: Sequence[int] | None = None
    body: MakeBody | None = None
    batch: int = 32
    buffer: int = 4000
    optimizer: str = "adam"
    target_every: int = 0
    every: int | None = None


DEFAULTS = Learning()


@dataclass(frozen=True, eq=False)
class Training:
    """What was learned. With swept hyperparameters every array has a leading axis of settings."""

    env: str
    algorithm: str
    steps: Array
    """Environment steps after which each return was recorded, (points,)."""
    returns: Array
    """Of the episode that each recorded step belongs to, ([settings,] runs, points); NaN if no episode ever ended."""
    diverged_at: Array
    """([settings,] runs): the step at which weights were found infinite or NaN, or -1."""
    weights: Array
    """([settings,] runs, weights), flat; `agent` makes networks of them."""
    spec: Spec
    hyperparameters: Settings
    choices: Mapping[str, Any] = field(default_factory=dict)
    env_object: Any = None

    @property
    def settings(self) -> Mapping[str, Array]:
        """Swept hyperparameters, each (settings,)."""
        return self.hyperparameters.values

    @property
    def finals(self) -> Array:
        """Mean return over the last quarter of the steps, ([settings,] runs): the paper's summary of a run."""
        return self.returns[..., -max(1, self.returns.shape[-1] // 4) :].mean(axis=-1)

    def agent(self, run: int = 0, setting: int | None = None) -> TrainedAgent:
        """What one run learned; of one setting, if hyperparameters were swept."""
        swept = self.hyperparameters.swept
        if swept != (setting is not None):
            given = "hyperparameters were swept; say which setting" if swept else "nothing was swept; leave setting out"
            raise InputError(given)
        index = (setting, run) if swept else (run,)
        for name, i, size in zip(("setting", "run")[-len(index) :], index, self.weights.shape, strict=False):
            if not -size <= i < size:  # pyright: ignore[reportOptionalOperand]
                raise InputError(f"there is no {name} {i}; there are 0 to {size - 1}")
        used = self.hyperparameters.of(setting or 0)
        return TrainedAgent(
            self.env, self.algorithm, self.spec, self.weights[index], used, self.choices, self.env_object
        )


def train(
    env: Any,
    algorithm: str = "qrc",
    *,
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sequence[int] | None = None,
    body: MakeBody | None = None,
    batch: int = DEFAULTS.batch,
    buffer: int = DEFAULTS.buffer,
    optimizer: str = DEFAULTS.optimizer,
    target_every: int = DEFAULTS.target_every,
    every: int | None = None,
    checkpoint: str | Path | None = None,
    advance: Advance = lambda steps, recent: None,
    **hyperparameters: Any,
) -> Training:
    """Learn to act.

    Args:
        env: a name that gymnax or Gymnasium knows, an instance, or a function that makes one.
        algorithm: a name from `gpbe list control`.
        steps: environment steps, each followed by one update from a mini-batch.
        runs: independent runs, side by side. Run k is the same in every setting: it starts from the same weights.
        seed: of everything: equal seeds give equal results, to the last bit on one machine.
        hidden: units in each layer; the paper's for its domains, else (64, 64).
        body: instead of these layers: a function from a key to an Equinox module from one observation to features.
        batch: transitions in a mini-batch, drawn without replacement.
        buffer: how many of the last transitions are kept.
        optimizer: "adam", "rmsprop" or "sgd".
        target_every: updates between copies to a target network; 0 for none, as in the paper.
        every: steps between recorded returns; 500 if left out, or all of fewer steps.
        checkpoint: a file that is kept up to date while learning; if it is there already, learning goes on from it, to
            the same result as if it had not been interrupted. With more `steps` than before, a finished one goes on.
        advance: is told how many more steps (of all runs) are done, and the mean of the last returns.
        **hyperparameters: `step_size`, `tau`, `epsilon`, `gamma`, and what the algorithm has (`gpbe list control`).
            One given as an array is swept; arrays must have one length (`gpbe.grid` makes products). Also choices on
            the algorithm's axes, such as `width=0.5` for "qrc-sep" or `ratios=True` for "tdrc-pg".

    >>> result = train("CartPole-v1", "qrc", steps=1000, runs=2, step_size=[2**-9, 2**-10], hidden=(16, 16))
    >>> result.returns.shape, result.agent(run=1, setting=0).act([0.0, 0.0, 0.1, 0.0]) in (0, 1)
    ((2, 2, 2), True)
    """
    axes = {k: v for k, v in hyperparameters.items() if k not in RANGES}
    chosen = vary(find_algorithm(algorithm), algorithm, **axes)
    settings = read_control_settings(chosen, {k: v for k, v in hyperparameters.items() if k not in axes}, algorithm)
    found = find(env)
    _at_least(1, runs=runs)
    learning = Learning(hidden, body, batch, buffer, optimizer, target_every, every)
    options, spec = prepare(chosen.agent, found, steps, learning, hard=not np.any(settings.numbers["tau"]))

    kept = Checkpoint(checkpoint, _describe(options, spec, settings, found.name, algorithm, runs, seed))
    setting, run = np.divmod(np.arange(settings.count * runs), runs)
    numbers = {k: np.broadcast_to(v, setting.shape) for k, v in settings.take(setting).items()}
    learned = learn_lanes(options, found, spec, numbers, run, steps, seed, kept, advance)
    shape = (settings.count, runs) if settings.swept else (runs,)
    return Training(
        env=found.name,
        algorithm=algorithm,
        steps=np.arange(options.every, steps + 1, options.every),
        returns=learned.returns.reshape(*shape, -1),
        diverged_at=learned.diverged_at.reshape(shape),
        weights=learned.weights.reshape(*shape, -1),
        spec=spec,
        hyperparameters=settings,
        choices=axes,
        env_object=env if not isinstance(env, str) else None,
    )


class Learned(NamedTuple):
    """By lane: each is one run of one setting."""

    returns: Array
    weights: Array
    diverged_at: Array


def learn_lanes(
    options: Options,
    env: CompiledEnv | HostEnv,
    spec: Spec,
    numbers: Mapping[str, Array],
    runs: Array,
    steps: int,
    seed: int,
    kept: Checkpoint | None = None,
    advance: Advance = lambda steps, recent: None,
) -> Learned:
    """Group after group of lanes; memory does not grow with their number, but for what is learned.

    `numbers` has every hyperparameter of every lane, `runs` the number of each lane's run: with the seed, that decides
    all that is random in it.
    """
    kept = Checkpoint(None, {}) if kept is None else kept
    lanes, points = len(runs), steps // options.every
    seeds = jax.vmap(partial(jax.random.fold_in, jax.random.key(seed)))(jnp.asarray(runs, jnp.uint32))
    records = Record(*(np.full((lanes, points), np.nan, np.float32) for _ in Record._fields))
    weights, diverged_at = [], []
    for number, members in enumerate(groups(lanes)):
        hypers = Hypers(**{k: jnp.asarray(v[members], jnp.float32) for k, v in numbers.items()})
        group, real = open_lanes(options, env, spec, hypers, seeds[members]), len(np.unique(members))
        try:
            state, first = kept.begin(number, group.begin, members, records)
            advance(first * options.every * real, math.nan)
            for k in range(first, points):
                state, record = group.stretch(k * options.every, state)
                for whole, part in zip(records, record, strict=True):
                    whole[members, k] = part
                kept.keep(number, k + 1, members, records, state, finished=k + 1 == points)
                advance(options.every * real, _mean(record.last))
        finally:
            group.close()
        weights.append(np.asarray(state.run.weights)[:real])
        diverged_at.append(np.asarray(state.run.diverged_at)[:real])
    return Learned(returns_at_records(*records), np.concatenate(weights), np.concatenate(diverged_at))


def read_control_settings(a: ControlAlgorithm, given: Mapping[str, Any], name: str) -> Settings:
    numbers = a.defaults() | checked_numbers(given, RANGES, a.hyperparameters, name)
    if "epsilon_final" not in given:
        numbers["epsilon_final"] = numbers["epsilon"]
    return as_settings(numbers)


def prepare(
    agent: Agent,
    env: CompiledEnv | HostEnv,
    steps: int,
    learning: Learning,
    hard: bool,
) -> tuple[Options, Spec]:
    """What the compiled program depends on, checked."""
    hidden, body, batch, buffer, optimizer, target_every, every = learning
    _at_least(1, steps=steps, batch=batch)
    _at_least(0, target_every=target_every)
    if batch > buffer:
        raise InputError(f"batch is {batch}, but the buffer holds only {buffer}; batch should be at most that")
    if optimizer not in OPTIMIZERS:
        raise InputError(f"there is no optimizer {optimizer!r}; there are {', '.join(OPTIMIZERS)}")
    every = min(500, steps) if every is None else every
    if every < 1 or steps % every:
        raise InputError(f"steps is {steps}; it should be a multiple of every, which is {every}")
    options = Options(agent, hard, batch, buffer, every, optimizer, target_every)
    return options, Spec(env.observation, env.actions, _hidden(hidden, env.name), body)


def _at_least(low: int, **values: int) -> None:
    for name, value in values.items():
        if value < low:
            raise InputError(f"{name} is {value}; it should be {low} or more")


def _hidden(given: Sequence[int] | None, name: str) -> tuple[int, ...]:
    hidden = HIDDEN.get(name, (64, 64)) if given is None else tuple(given)
    if any(size < 1 for size in hidden):
        raise InputError(f"hidden is {hidden}; every layer should have 1 unit or more")
    return hidden


def _describe(
    options: Options, spec: Spec, settings: Settings, env: str, algorithm: str, runs: int, seed: int
) -> dict[str, Any]:
    """All that the result depends on but the number of steps: what a checkpoint must agree with."""
    plain = {k: np.asarray(v).tolist() for k, v in settings.numbers.items()}
    sizes = {k: v for k, v in options._asdict().items() if k not in ("agent", "hard")}
    layers = {"hidden": list(spec.hidden), "own_body": spec.body is not None}
    what = {"env": env, "algorithm": algorithm, "agent": repr(options.agent), "runs": runs, "seed": seed}
    return what | layers | sizes | plain


def _mean(returns: Array) -> float:
    finite = returns[np.isfinite(returns)]
    return float(finite.mean()) if finite.size else math.nan
