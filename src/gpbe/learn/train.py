"""`gpbe.train`: control with neural networks, on any environment, over swept hyperparameters and many runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpbe.algorithms.control import ControlAlgorithm, Spec, find_algorithm
from gpbe.bars import both, training_progress
from gpbe.checks import check_at_least, check_function, check_given, check_seed, is_whole
from gpbe.envs import CompiledEnv, HostEnv, find
from gpbe.errors import InputError
from gpbe.lazy import named
from gpbe.learn.control.checkpoint import Checkpoint
from gpbe.learn.control.hooks import Callback, Watched, read_callbacks, watcher
from gpbe.learn.control.lanes import Advance, Learned, learn_lanes
from gpbe.learn.control.learning import DEFAULTS
from gpbe.learn.control.reading import Asked, by_lane, numbers_and_choices, read_options, read_settings
from gpbe.learn.control.state import Options
from gpbe.learn.control.trained import TrainedAgent
from gpbe.learn.long import Long
from gpbe.learn.settings import Settings
from gpbe.nets import MakeBody
from gpbe.shapes import Array
from gpbe.summary import best_of, mean_of_last, sizes

if TYPE_CHECKING:
    import polars as pl

MOST_LANES = 10**6


@dataclass(frozen=True, eq=False)
class Training(Long):
    """What was learned. With swept hyperparameters every array has a leading axis of settings."""

    env: str
    record: ControlAlgorithm
    steps: Array
    """Environment steps after which each return was recorded, (points,)."""
    returns: Array
    """Returns of the episodes that recorded steps belong to, ([settings,] runs, points); NaN if no episode ended."""
    diverged_at: Array
    """([settings,] runs): the step at which weights were found infinite or NaN, or -1."""
    weights: Array
    """([settings,] runs, weights), flat; `agent` makes networks of them."""
    spec: Spec
    hyperparameters: Settings
    choices: Mapping[str, Any] = field(default_factory=dict)
    """The choices on the algorithm's axes, where they differ from its usual ones."""
    env_object: Any = None
    scale: Array | None = None
    """([settings,] runs, 2, numbers): mean and deviation of observations, if they were normalized."""
    points: Array | None = None
    """([settings,] runs): how many returns there are of each, if a callback stopped some; the others are NaN."""

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self.record.name

    @property
    def settings(self) -> Mapping[str, Array]:
        """Swept hyperparameters, each (settings,)."""
        return self.hyperparameters.values

    @property
    def finals(self) -> Array:
        """Mean return over the last quarter of the steps, ([settings,] runs): the paper's summary of a run."""
        return mean_of_last(self.returns, points=self.points)

    @property
    def means(self) -> Array:
        """Mean return over all steps, ([settings,] runs)."""
        return mean_of_last(self.returns, 1.0, self.points)

    def __repr__(self) -> str:
        best, size = best_of(self.finals, max), sizes(self.diverged_at, self.steps, "step")
        return f"<Training by {self.algorithm} on {self.env}: {size}, final return {best}>"

    def _repr_html_(self) -> str:
        return named("gpbe.look.notebook:training")(self)

    def table(self) -> "pl.DataFrame":
        """A row for each setting, run and recorded step: setting, what was swept, run, step, return.

        >>> result = train("CartPole-v1", "qrc", steps=200, every=100, runs=2, hidden=(4,))
        >>> result.table().columns, len(result.to_pandas())
        (['setting', 'run', 'step', 'return'], 4)
        """
        import polars as pl

        runs, points = self.returns.shape[-2:]
        returns = self.returns.reshape(-1, runs, points)
        setting, run, point = (x.ravel() for x in np.indices(returns.shape))
        swept = {name: np.asarray(values)[setting] for name, values in self.settings.items()}
        columns = {"setting": setting, **swept, "run": run, "step": self.steps[point], "return": returns.ravel()}
        return pl.DataFrame(columns).with_columns(pl.col("return").fill_nan(None))

    def agent(self, run: int = 0, setting: int | None = None) -> TrainedAgent:
        """What one run learned; of one setting, if hyperparameters were swept."""
        swept = self.hyperparameters.swept
        if swept != (setting is not None):
            given = "hyperparameters were swept; say which setting" if swept else "nothing was swept; leave setting out"
            raise InputError(given)
        index = (setting, run) if swept else (run,)
        for name, i, size in zip(("setting", "run")[-len(index) :], index, self.weights.shape, strict=False):
            if not (is_whole(i) and -size <= i < size):  # pyright: ignore[reportOptionalOperand]
                raise InputError(f"there is no {name} {i}; there are 0 to {size - 1}")
        used = self.hyperparameters.of(setting or 0)
        scale = None if self.scale is None else self.scale[index]
        made = (self.env, self.record, self.spec, self.weights[index], used, self.choices, self.env_object)
        return TrainedAgent(*made, scale)


def train(
    env: Any,
    algorithm: str | ControlAlgorithm = "qrc",
    *,
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sequence[int] | int | None = None,
    body: MakeBody | None = None,
    filters: int | None = None,
    layer_norm: bool = False,
    activation: str = "relu",
    sparsity: float = 0.0,
    batch: int = DEFAULTS.batch,
    buffer: int = DEFAULTS.buffer,
    optimizer: str | Callable[[], Any] | None = None,
    target_every: int = DEFAULTS.target_every,
    replay: bool | None = None,
    length: int | None = None,
    normalize_observations: bool = False,
    normalize_rewards: bool = False,
    every: int | None = None,
    checkpoint: str | Path | None = None,
    advance: Advance = lambda steps, recent: None,
    callbacks: Callback | Sequence[Callback] = (),
    measure: bool = False,
    progress: bool = False,
    **hyperparameters: Any,
) -> Training:
    """Learn to act.

    Args:
        env: a name that gymnax or Gymnasium knows, an instance, or a function that makes one.
        algorithm: a name from `gpbe list control`, or a `gpbe.algorithms.control.ControlAlgorithm` of one's own.
        steps: environment steps, each followed by one update, from a mini-batch or from this step alone.
        runs: independent runs, side by side. Run k is the same in every setting: it starts from the same weights.
        seed: of everything: equal seeds give equal results, to the last bit on one machine.
        hidden: units in each layer, or of the one; the paper's for its domains, else (64, 64).
        body: instead of these layers: a function from a key to an Equinox module from one observation to features.
        filters: filters of 3 x 3 before these layers, for images; 16, and one layer of 128 units, if `hidden` and
            `body` are left out; 0 flattens images.
        layer_norm: normalize what comes out of each layer.
        activation: "relu" or "leaky-relu".
        sparsity: the part of the weights into each unit that is 0 at the start; with 0, Xavier's weights.
        batch: transitions in a mini-batch, drawn without replacement.
        buffer: how many of the last transitions are kept.
        optimizer: "adam", "rmsprop" or "sgd", or a function that makes an `optax.GradientTransformation`, whose updates
            are *subtracted*, times the step size; "adam" if left out, and "sgd" for algorithms with traces.
        target_every: updates between copies to a target network; 0 for none, as in the paper.
        replay: learn from a buffer, or by traces from each step once. If left out, an algorithm with traces does the
            latter; with replay it learns from lambda-returns over stretches of a mini-batch.
        length: consecutive transitions in each of these stretches; 8 if left out.
        normalize_observations: by their running means and deviations.
        normalize_rewards: by the running deviation of discounted returns; action values are on that scale then.
        every: steps between recorded returns; 500 if left out, or all of fewer steps.
        checkpoint: a file that is kept up to date while learning; if it is there already, learning goes on from it, to
            the same result as if it had not been interrupted. With more `steps` than before, a finished one goes on.
        advance: is told how many more steps (of all runs) are done, and the mean of the last returns.
        callbacks: one function or several that are told of every stretch of `every` steps (`gpbe.callbacks.Stretch`);
            one that returns True stops these runs. They change nothing that is learned. `gpbe.callbacks` has some.
        measure: tell them root mean squares of delta and h, and the loss, too; needs a buffer.
        progress: show a bar with steps, rate and the last returns, if this is a terminal.
        **hyperparameters: `step_size`, `tau`, `epsilon`, `gamma`, and what the algorithm has (`gpbe list control`).
            One given as an array is swept; arrays must have one length (`gpbe.grid` makes products). Also choices on
            the algorithm's axes, such as `width=0.5` for "qrc-sep" or `ratios=True` for "tdrc-pg".

    >>> result = train("CartPole-v1", "qrc", steps=200, every=100, runs=2, step_size=[2**-9, 2**-10], hidden=(5,))
    >>> result.returns.shape, result.agent(run=1, setting=0).act([0.0, 0.0, 0.1, 0.0]) in (0, 1)
    ((2, 2, 2), True)
    """
    required = {"batch": batch, "buffer": buffer, "target_every": target_every, "activation": activation}
    check_given(steps=steps, runs=runs, **required)
    check_function(advance=advance)
    check_at_least(1, steps=steps)
    every = min(DEFAULTS.every, steps) if every is None else every
    asked = Asked(
        hidden=hidden,
        body=body,
        filters=filters,
        layer_norm=layer_norm,
        activation=activation,
        sparsity=sparsity,
        batch=batch,
        buffer=buffer,
        every=every,
        optimizer=optimizer,
        target_every=target_every,
        replay=replay,
        length=length,
        normalize_observations=normalize_observations,
        normalize_rewards=normalize_rewards,
    )
    plan = read_plan(env, algorithm, steps, runs, seed, asked, hyperparameters)
    about, called = watched(plan, None if isinstance(env, str) else env), read_callbacks(callbacks)
    watch, kept = watcher(about, called, measure), Checkpoint(checkpoint, described(plan))
    setting, run = np.divmod(np.arange(plan.settings.count * runs), runs)
    numbers = by_lane(plan.settings, setting)
    with training_progress(f"{plan.record.name} on {plan.env.name}", len(run) * steps, progress) as bar:
        learned = learn_lanes(plan.options, plan.env, numbers, run, steps, seed, kept, both(advance, bar), watch)
    return assembled(plan, learned, None if isinstance(env, str) else env)


class Plan(NamedTuple):
    """What `train` was asked for, checked."""

    env: CompiledEnv | HostEnv
    record: ControlAlgorithm
    choices: Mapping[str, Any]
    settings: Settings
    options: Options
    steps: int
    runs: int
    seed: int


def read_plan(
    env: Any,
    algorithm: str | ControlAlgorithm,
    steps: int,
    runs: int,
    seed: int,
    asked: Asked,
    hyperparameters: Mapping[str, Any],
) -> Plan:
    """Everything that can be wrong is found here, before anything is learned."""
    record = find_algorithm(algorithm)
    numbers, choices = numbers_and_choices(hyperparameters)
    agent = record.varied(**choices).make()
    settings, found = read_settings(record, numbers), find(env)
    check_at_least(1, runs=runs)
    check_seed(seed)
    if settings.count * runs > MOST_LANES:
        raise InputError(f"there are {settings.count * runs:,} runs of all settings; take {MOST_LANES:,} at most")
    hard = not np.any(settings.numbers["tau"])
    options = read_options(agent, found, steps, asked, hard)
    return Plan(found, record, choices, settings, options, steps, runs, seed)


def watched(plan: Plan, env_object: Any) -> Watched:
    """What callbacks are told of every stretch, and how they get agents."""
    about = (plan.env.name, plan.record, plan.options.spec)

    def make(setting: int, weights: Array, scale: Array | None) -> TrainedAgent:
        return TrainedAgent(*about, weights, plan.settings.of(setting), plan.choices, env_object, scale)

    settings = plan.settings.values
    return Watched(plan.env.name, plan.record.name, plan.options, plan.steps, plan.runs, settings, make)


def described(plan: Plan) -> dict[str, Any]:
    """All that the result depends on but the number of steps: what a checkpoint must agree with."""
    agent, spec, learning, _ = plan.options
    what = {"env": plan.env.name, "algorithm": plan.record.name, "agent": repr(agent)}
    layers = {"hidden": list(spec.hidden), "own_body": spec.body is not None, "style": list(spec.style)}
    steps = learning._asdict() | {"optimizer": _name(learning.optimizer)}
    numbers = {k: np.asarray(v).tolist() for k, v in plan.settings.numbers.items()}
    return what | {"runs": plan.runs, "seed": plan.seed} | layers | steps | numbers


def _name(optimizer: str | Callable[[], Any]) -> str:
    return optimizer if isinstance(optimizer, str) else getattr(optimizer, "__name__", type(optimizer).__name__)


def assembled(plan: Plan, learned: Learned, env_object: Any = None) -> Training:
    """Lanes as settings and runs."""
    every, points = plan.options.learning.every, learned.points
    last = plan.steps // every if points is None else int(points.max())
    shape = (plan.settings.count, plan.runs) if plan.settings.swept else (plan.runs,)
    return Training(
        env=plan.env.name,
        record=plan.record,
        steps=every * np.arange(1, last + 1),
        returns=learned.returns[:, :last].reshape(*shape, -1),
        diverged_at=learned.diverged_at.reshape(shape),
        weights=learned.weights.reshape(*shape, -1),
        spec=plan.options.spec,
        hyperparameters=plan.settings,
        choices=plan.choices,
        env_object=env_object,
        scale=None if learned.scale is None else learned.scale.reshape(*shape, *learned.scale.shape[1:]),
        points=None if points is None else points.reshape(shape),
    )
