"""What a person must know of a log before its estimates: sizes, effective samples, overlap, ratios, probabilities."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from gpbe.evaluation.sums import Sums, by_group, products
from gpbe.evaluation.walk import Grouping, Walk, walk
from gpbe.mdp.log_source import Source
from gpbe.shapes import Array

MOST = 5
"""Largest ratios that are kept."""
ALONE = Grouping(1, 0, 1, None)
"""The grouping of a first look, for which nothing has to be known."""


class Largest(NamedTuple):
    """A large ratio, and where it is."""

    ratio: float
    part: str
    row: int
    """Its number among the transitions that were read, which may be fewer than the file's rows."""


@dataclass
class Survey:
    """What one part of a log is like; `joined` makes one of several."""

    parts: int = 1
    rows: int = 0
    features: int = 0
    actions: int = 0
    """How many the target chooses from; 0 if the log does not say."""
    episodes: int = 0
    ended: int = 0
    """How many of them ended, instead of being cut off."""
    horizon: int = 0
    """Rows in the longest."""
    undiscounted: int = 0
    """Rows with a discount of 1."""
    never: int = 0
    """Rows with an action that the target never takes."""
    ratio_sum: float = 0.0
    ratio_squares: float = 0.0
    largest: list[Largest] = field(default_factory=list)
    least_behavior: float = 1.0
    weight: Array = field(default_factory=lambda: np.zeros(0))
    """Sum over episodes of the product of ratios at each step; what has ended keeps its last one."""
    squares: Array = field(default_factory=lambda: np.zeros(0))
    lasts: Array = field(default_factory=lambda: np.zeros((2, 0)))
    """Weights, and their squares, that episodes have when they end, by the step after it."""
    returns: tuple[float, float] = (np.inf, -np.inf)
    """The smallest and the largest return of an episode."""
    behavior_return: float = 0.0
    """Sum of the returns of episodes."""
    behavior_squares: float = 0.0
    """Sum of the squares of the returns of episodes."""

    @property
    def effective(self) -> Float[Array, " H"]:
        """How many episodes of the target's own the log is worth at each step: (sum w)^2 / sum w^2."""
        weight = self.weight + np.cumsum(self.lasts[0])
        squares = self.squares + np.cumsum(self.lasts[1])
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.divide(weight**2, squares, out=np.zeros(len(weight)), where=squares > 0)
        return np.nan_to_num(found)[: self.horizon]

    @property
    def behavior(self) -> tuple[float, float]:
        """The mean return of the behavior's own episodes, and its standard error."""
        n = max(1, self.episodes)
        mean = self.behavior_return / n
        variance = max(0.0, self.behavior_squares / n - mean**2)
        return mean, float(np.sqrt(variance / (n - 1))) if n > 1 else np.nan

    @property
    def effective_rows(self) -> float:
        """How many rows of the target's own the log is worth for methods that correct single actions."""
        return self.ratio_sum**2 / self.ratio_squares if self.ratio_squares else 0.0

    def add(self, walk: Walk, part: str) -> None:
        """One more piece."""
        log, rho, after, end = walk.log, walk.rho, walk.after, walk.ends
        self.features = log.features.shape[1]
        self.actions = 0 if log.policy is None else log.policy.shape[1]
        top = np.argsort(rho)[::-1][:MOST]
        here = [Largest(float(rho[i]), part, self.rows + int(i)) for i in top]
        self.largest = sorted([*self.largest, *here], reverse=True)[:MOST]
        self.rows += len(log)
        self.episodes += int(walk.begins.sum())
        self.ended += int((log.discount == 0).sum())
        self.undiscounted += int((log.discount == 1).sum())
        self.never += int((log.target == 0).sum())
        self.ratio_sum += float(rho.sum())
        self.ratio_squares += float((rho**2).sum())
        self.least_behavior = min(self.least_behavior, float(log.behavior.min()))
        self._lengthen(int(walk.step.max()) + 2)
        self.weight = self.weight + np.bincount(walk.step, after, len(self.weight))
        self.squares = self.squares + np.bincount(walk.step, after**2, len(self.weight))
        last, after = walk.step[end] + 1, after[end]
        self.lasts = self.lasts + [np.bincount(last, w, len(self.weight)) for w in (after, after**2)]
        returns = walk.collected[end]
        if len(returns):
            self.returns = (min(self.returns[0], returns.min()), max(self.returns[1], returns.max()))
            self.behavior_return += float(returns.sum())
            self.behavior_squares += float((returns**2).sum())

    def _lengthen(self, steps: int) -> None:
        more = max(0, steps - len(self.weight))
        self.weight, self.squares = (np.pad(a, (0, more)) for a in (self.weight, self.squares))
        self.lasts = np.pad(self.lasts, ((0, 0), (0, more)))
        self.horizon = max(self.horizon, steps - 1)


def look(source: Source, part: int) -> Survey:
    """The survey of one part."""
    found = Survey()
    with np.errstate(over="ignore", invalid="ignore"):  # products of many ratios may be beyond all numbers
        for piece in walk(source, part, ALONE):
            found.add(piece, source.parts[part])
    return found


def joined(surveys: list[Survey]) -> Survey:
    """The survey of all parts."""
    whole = Survey(len(surveys))
    for s in surveys:
        whole._lengthen(len(s.weight))
        s._lengthen(len(whole.weight))
        for name in (
            "rows",
            "episodes",
            "ended",
            "undiscounted",
            "never",
            "ratio_sum",
            "ratio_squares",
            "behavior_return",
            "behavior_squares",
        ):
            setattr(whole, name, getattr(whole, name) + getattr(s, name))
        whole.weight, whole.squares = whole.weight + s.weight, whole.squares + s.squares
        whole.lasts = whole.lasts + s.lasts
        whole.features, whole.actions = s.features, s.actions
        whole.largest = sorted([*whole.largest, *s.largest], reverse=True)[:MOST]
        whole.least_behavior = min(whole.least_behavior, s.least_behavior)
        whole.returns = (min(whole.returns[0], s.returns[0]), max(whole.returns[1], s.returns[1]))
    whole.horizon = max(s.horizon for s in surveys)
    return whole


@dataclass(frozen=True)
class Calibration:
    """A test of the recorded probabilities: the mean ratio in any state is 1, so (rho - 1) x averages to 0."""

    actions: int
    bootstraps: ClassVar[bool] = False

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums:
        log = walk.log
        excess = (walk.rho - 1)[:, None]
        found = {
            "ratio": by_group(excess[:, 0], walk.group, walk.groups),
            "features": products(excess, log.features, walk.group, walk.groups)[:, 0],
        }
        if self.actions:
            found["inverse"] = by_group(1 / log.behavior - self.actions, walk.group, walk.groups)
        return found

    def tests(self, sums: Sums) -> "Calibrated":
        """How far from 0 the means are, in standard errors."""
        scores = np.atleast_1d(_score(sums["ratio"])), _score(sums["features"])
        z = np.concatenate(scores)
        worst = int(np.abs(z).argmax())
        chance = min(1.0, len(z) * 2 * float(stats.norm.sf(abs(z[worst]))))
        inverse = float(_score(sums["inverse"])) if "inverse" in sums else 0.0
        return Calibrated(float(z[0]), worst - 1, float(z[worst]), chance, inverse)


UNLIKELY = 1e-3
"""How unlikely the ratios must be, if the probabilities are right, for a warning."""
SUSPICIOUS = 4.0
"""Standard errors by which 1 / behavior may average to more than the number of actions."""


class Calibrated(NamedTuple):
    """What the test of the probabilities says."""

    ratio_score: float
    """The mean ratio less 1, in standard errors."""
    worst_feature: int
    """Along which feature the ratios are farthest from 1 on average; -1 if it is their mean itself."""
    worst_score: float
    chance: float
    """How likely a score as far as the worst is if the probabilities are right, of so many (Bonferroni)."""
    inverse_score: float
    """The mean of 1 / b less the number of actions, in standard errors: above 0 if probabilities are too small."""

    @property
    def suspicious(self) -> bool:
        """Do the probabilities look wrong?"""
        return self.chance < UNLIKELY or self.inverse_score > SUSPICIOUS


def _score(sums: Array) -> Array:
    spread = np.sqrt((sums**2).sum(0))
    return np.divide(sums.sum(0), spread, out=np.zeros(np.shape(spread)), where=spread > 0)
