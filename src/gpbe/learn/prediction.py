"""What `gpbe.predict` is asked, and what it answers; the same for linear values and for those of a network."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import jax
import numpy as np

from gpbe.bars import progress
from gpbe.checks import check_divides, check_known
from gpbe.errors import InputError
from gpbe.exact.weightings import Name
from gpbe.lazy import named
from gpbe.learn.long import Long
from gpbe.mdp import Log, PredictionProblem
from gpbe.mdp.log_source import Source
from gpbe.shapes import Array, Numbers
from gpbe.summary import best_of, mean_and_error, mean_of_last, sizes, standard_error

if TYPE_CHECKING:
    import polars as pl

OPTIMIZERS = ("sgd", "adam")
POINTS = 10_000
"""Points of a log's curve, at most: LSTD solves its linear system at each of them."""
GROWTH = 1e6
"""An error that is so many times what it was before learning grows without bound, though it is not infinite yet."""
Tree = TypeVar("Tree")
Curves = dict[str, Array]
"""Each metric at each point, maybe the one before learning first: ([settings,] runs, points)."""


class Asked(NamedTuple):
    """What both kinds of values are asked for; `gpbe.predict` says what each means."""

    problem: PredictionProblem | Source
    algorithm: object
    """A name, or a record of the family that the values call for."""
    hyperparameters: Mapping[str, Any]
    steps: int | None = None
    runs: int = 1
    seed: int = 0
    metrics: tuple[str, ...] | str | None = None
    weighting: Name | Numbers = "behavior"
    every: int | None = 1
    average: bool = False
    optimizer: str = "sgd"
    state_lam: Numbers | None = None
    advance: Callable[[int], None] = lambda settings: None
    progress: bool | str = False

    @contextmanager
    def telling(self, settings: int, rows: int | None = None) -> Iterator[Callable[..., None]]:
        """A function to call with how many more settings are done, and how many more rows they have learned from.

        The one who asked hears of settings. A bar counts them too or, if each learns from so many rows of a log, rows.
        """
        total, unit = (settings, "settings") if rows is None else (settings * rows, "rows")
        with progress(self.title, total, unit, bool(self.progress)) as bar:

            def tell(done: int, learned: int = 0) -> None:
                if done:
                    self.advance(done)
                bar(done if rows is None else learned)

            yield tell

    @contextmanager
    def reading(self, log: Source) -> Iterator[Callable[[int], None]]:
        """A function to call with how many more rows of a log have been read; it moves a bar."""
        rows = log.count() if self.steps is None else min(self.steps, log.count())
        with progress(f"reading for {self.title}", rows, "rows", bool(self.progress)) as bar:
            yield bar

    @property
    def title(self) -> str:
        """What a bar is called."""
        return self.progress if isinstance(self.progress, str) else self.name

    @property
    def name(self) -> str:
        """What messages call the algorithm."""
        return self.algorithm if isinstance(self.algorithm, str) else "this algorithm"

    @property
    def held(self) -> PredictionProblem | Log:
        """The problem, or all of a log in memory."""
        assert isinstance(self.problem, PredictionProblem | Log)
        return self.problem

    def spacing(self, updates: int) -> int:
        """Updates between points of a curve; if nobody says, one, or of a log so many that it has `POINTS` at most."""
        usual = 1 if isinstance(self.problem, PredictionProblem) else usual_every(updates)
        every = usual if self.every is None else self.every
        check_divides(every, updates)
        return every

    def names(self, of_problem: tuple[str, ...], of_log: tuple[str, ...]) -> tuple[str, ...]:
        """The metrics to measure; if none are named, the ones that are usual."""
        if self.metrics is None:
            return of_problem if isinstance(self.problem, PredictionProblem) else of_log
        if not isinstance(self.metrics, str | Sequence):
            raise InputError(f"metrics is {self.metrics!r}; it should be a list of names, like ['rmsve', 'rmspbe']")
        return (self.metrics,) if isinstance(self.metrics, str) else tuple(self.metrics)


def usual_every(rows: int) -> int:
    """The least number that divides the rows of a log and gives a curve of `POINTS` at most; at worst the last point.

    >>> usual_every(5000), usual_every(1_000_000), usual_every(2 * 1_000_003)
    (1, 100, 1000003)
    """
    divisors = (d for k in range(1, isqrt(rows) + 1) if rows % k == 0 for d in (k, rows // k))
    return min(d for d in divisors if d * POINTS >= rows)


@dataclass(frozen=True, eq=False)
class Prediction(Long):
    """What was learned. With swept hyperparameters every array has a leading axis of settings."""

    algorithm: str
    steps: Array
    """Updates after which each point of a curve was measured, (points,)."""
    curves: Mapping[str, Array]
    """Each metric: ([settings,] runs, points), infinite where it is beyond what 32-bit floats can square (1.8e19); or,
    if only averages were kept, the mean over runs: ([settings,] points)."""
    errors: Mapping[str, Array]
    """Standard errors over runs, ([settings,] points), if only averages were kept."""
    areas: Mapping[str, Array]
    """Mean of each curve, ([settings,] runs): small means fast and good."""
    finals: Mapping[str, Array]
    """Mean of the last quarter of each curve, ([settings,] runs)."""
    initial: Mapping[str, Array]
    """Each metric before learning."""
    weights: Array
    """([settings,] runs, K); of a network all parameters in one vector."""
    second_weights: Array
    """Those of h, in the same shape; of a network the vector of all parameters, with those of v at 0."""
    diverged_at: Array
    """([settings,] runs): the update at which a weight became infinite or NaN, or -1."""
    settings: Mapping[str, Array] = field(default_factory=dict)
    """Swept hyperparameters, each (settings,)."""
    held: Mapping[str, float] = field(default_factory=dict)
    """The other hyperparameters that the algorithm has."""
    values: Array = field(default_factory=lambda: np.zeros(0))
    """The values of a network ([settings,] runs, points, N): of every state, or for a log of every row's state, then
    of every row's next. Empty where values are linear: there they are features times weights."""
    structure: Callable[[Array], Any] | None = field(default=None, repr=False)
    """Makes the modules of a network from a vector of all parameters."""

    def __repr__(self) -> str:
        finals = ", ".join(f"{metric} {best_of(scores, min)}" for metric, scores in self.finals.items())
        return f"<Prediction by {self.algorithm}: {sizes(self.diverged_at, self.steps, 'update')}, final {finals}>"

    def _repr_html_(self) -> str | None:
        return named("gpbe.look.notebook:prediction")(self)

    def table(self) -> "pl.DataFrame":
        """A row for each setting, metric, run and point: setting, what was swept, metric, run, step, value.

        If only averages were kept there are no runs, but a mean and its standard error.

        >>> import gpbe
        >>> result = gpbe.predict("boyan", "td", steps=100, runs=3, every=50, step_size=[0.1, 0.2], metrics="rmsve")
        >>> result.table().columns, result.table().height
        (['setting', 'step_size', 'metric', 'run', 'step', 'value'], 12)
        """
        import polars as pl

        frames = []
        for metric, curve in self.curves.items():
            whole = (curve if self.settings else curve[None]).astype(float)
            setting, *run, point = (x.ravel() for x in np.indices(whole.shape))
            about: dict[str, Any] = {
                "setting": setting,
                **{k: np.asarray(v)[setting] for k, v in self.settings.items()},
            }
            about |= {"metric": np.full(setting.shape, metric)} | ({"run": run[0]} if run else {})
            columns = about | {"step": np.asarray(self.steps)[point]}
            if run:
                frames.append(pl.DataFrame(columns | {"value": whole.ravel()}))
                continue
            error = np.asarray(self.errors.get(metric, np.full(curve.shape, np.nan)), float).ravel()
            averaged = pl.DataFrame(columns | {"mean": whole.ravel(), "standard_error": error})
            frames.append(averaged.with_columns(pl.col("standard_error").fill_nan(None)))
        return pl.concat(frames).sort("setting", maintain_order=True)

    def growing(self, metric: str) -> Array:
        """Which runs end with a finite error beyond 1e6 times the one before learning, ([settings,] runs).

        >>> import gpbe
        >>> star = gpbe.predict("baird", "td", steps=3000, step_size=0.05, metrics="rmsve", every=1000)
        >>> star.growing("rmsve"), star.diverged_at
        (array([ True]), array([-1], dtype=int32))
        """
        last, first = np.asarray(self.finals[metric], float), np.asarray(self.initial[metric], float)
        return np.isfinite(last) & (last > GROWTH * first) & (first > 0)

    def network(self, *index: int) -> Any:
        """The modules `v` and `h` of one run: `result.network(run)`, or `(setting, run)` where something was swept."""
        if self.structure is None:
            raise InputError("these values are linear: features times weights; give net for those of a network")
        if len(index) != self.weights.ndim - 1:
            raise InputError(
                f"network takes {self.weights.ndim - 1} numbers, of {self.weights.shape[:-1]}; not {index}"
            )
        return self.structure(self.weights[index])

    def best(self, metric: str, by: Literal["area", "final"] = "area") -> "Best":
        """The setting with the smallest mean over runs, and how sure that choice is."""
        if not self.settings:
            raise InputError("nothing was swept, so there is nothing to choose; give a hyperparameter as an array")
        if metric not in self.areas:
            raise InputError(f"{metric!r} was not measured; there are {', '.join(self.areas)}")
        scores = (self.areas if by == "area" else self.finals)[metric]
        mean, error = mean_and_error(scores)
        if not np.isfinite(mean).any():
            raise InputError("every setting has runs that diverged, so none is best; sweep smaller step sizes")
        index = int(mean.argmin())
        # Settings within two standard errors of the difference, run by run: the data are paired. Logarithms, so that
        # a setting that explodes in some runs does not pass for one that is merely uncertain.
        finite = np.isfinite(mean)
        logs = np.log(np.maximum(scores[finite], 1e-30))
        gaps, spread = mean_and_error(logs - np.log(np.maximum(scores[index], 1e-30)))
        rivals = np.flatnonzero(finite)[gaps <= 2 * np.nan_to_num(spread)]
        setting = {name: float(values[index]) for name, values in self.settings.items()}
        return Best(index, setting, float(mean[index]), float(error[index]), rivals)


@dataclass(frozen=True)
class Best:
    """A chosen setting, with its uncertainty."""

    index: int
    setting: Mapping[str, float]
    mean: float
    standard_error: float
    rivals: Array
    """Settings (itself included) that the runs cannot tell from it at two standard errors."""


def check_optimizer(optimizer: str) -> None:
    """Refuse what is not an optimizer of predictions."""
    check_known(optimizer, OPTIMIZERS, "optimizer")


def without_padding(learned: Tree, real: int, swept: bool) -> Tree:
    """What a group of settings learned, as NumPy's arrays and without what only padded the group."""
    return jax.tree.map(lambda x: np.asarray(x)[:real] if swept else np.asarray(x), learned)


def joined(parts: list[Tree]) -> Tree:
    """What groups of settings learned, as one."""
    return parts[0] if len(parts) == 1 else jax.tree.map(lambda *x: np.concatenate(x), *parts)


def summarized(curves: Curves, average: bool) -> dict[str, Curves]:
    """Curves ([settings,] runs, points) as a `Prediction` holds them."""
    mean, error = partial(np.mean, axis=-2), partial(standard_error, axis=-2)
    with np.errstate(invalid="ignore"):
        return {
            "curves": {name: mean(c) for name, c in curves.items()} if average else curves,
            "errors": {name: error(c) for name, c in curves.items()} if average else {},
            "areas": {name: c.mean(-1) for name, c in curves.items()},
            "finals": {name: mean_of_last(c) for name, c in curves.items()},
        }
