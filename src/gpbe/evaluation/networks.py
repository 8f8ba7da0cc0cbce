"""Values of a network in an evaluation: fitted to the whole log, to all but each fold, and to resampled episodes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from gpbe.checks import LARGEST_LEARNED, check_magnitude
from gpbe.evaluation.intervals import around
from gpbe.evaluation.result import Estimate
from gpbe.evaluation.values import without_folds
from gpbe.evaluation.walk import Walk, walk
from gpbe.learn.fitted import Net, Rows, fit, outputs
from gpbe.mdp import Log
from gpbe.shapes import Array

if TYPE_CHECKING:
    from gpbe.evaluation.plan import Plan

RESAMPLES = 20
"""Logs of resampled groups that a network is fitted to beside the one that was recorded."""


class Scaling(NamedTuple):
    """Features as a network sees them: with mean 0 and deviation 1 over the log."""

    center: Float[Array, " K"]
    deviation: Float[Array, " K"]

    def of(self, x: Float[Array, "N K"]) -> Float[Array, "N K"]:
        return (x - self.center) / self.deviation


@dataclass(frozen=True, eq=False)
class NetworkValues:
    """A network for each fold: values of all actions, or of a single one that stands for the state."""

    net: Net
    weights: Float[Array, "folds P"]
    scaling: Scaling

    def of(self, walk: Walk) -> tuple[Array, Array, Array]:
        log, rows = walk.log, np.arange(len(walk.log))
        taken, policy, following = action_chances(log, self.net.outputs)
        fold = walk.group % len(self.weights)
        now, after = (self.actions(x)[fold, rows] for x in (log.features, log.next_features))
        return (now * policy).sum(1), (now * taken).sum(1), (after * np.nan_to_num(following)).sum(1)

    def actions(self, x: Float[Array, "N K"]) -> Float[Array, "folds N A"]:
        """The values of all actions in every state, by each fold's network."""
        return outputs(self.net, self.weights, self.scaling.of(x)).astype(float)


def action_chances(log: Log, actions: int) -> tuple[Array, Array, Array]:
    """A 1 at the action taken, the target's probabilities, and those in the next states; of one action, all are 1."""
    if actions == 1 and log.policy is None:
        alone = np.ones((len(log), 1))
        return alone, alone, alone
    assert log.policy is not None
    assert log.next_policy is not None
    assert log.action is not None
    return np.eye(actions)[log.action], log.policy, log.next_policy


class Gathered(NamedTuple):
    """A log in memory, in 32 bits."""

    rows: Rows
    scaling: Scaling
    policy: Float[Array, "N A"]
    asked: Bool[Array, " N"]
    """Which rows' states the value is asked of."""


class Fits(NamedTuple):
    """Networks that were fitted side by side: to all groups, to all but those of each fold, to resampled groups."""

    net: Net
    data: Gathered
    counts: Float[Array, "fits G"]
    """How often each group counts."""
    weights: Float[Array, "fits P"]
    change: Float[Array, " fits"]
    """How much the last round changed each fit's values, as a part of their deviation."""
    folds: int

    @property
    def values(self) -> NetworkValues:
        """Those of the folds."""
        return NetworkValues(self.net, self.weights[1 : 1 + self.folds], self.data.scaling)

    def around(self, estimate: Estimate) -> Estimate:
        """An estimate around the values of the folds, with how much these still changed."""
        return replace(estimate, change=float(self.change[1 : 1 + self.folds].max()))

    def estimate(self, name: str, level: float) -> Estimate:
        """The value by the fit to all groups; its interval is Student's, from the spread of those to resampled ones."""
        rows, asked = self.data.rows, self.data.asked
        chosen = [0, *range(1 + self.folds, len(self.weights))]
        q = outputs(self.net, self.weights[chosen], rows.x[asked])
        share = self.counts[chosen][:, rows.group[asked]]
        value, *others = (share * (q * self.data.policy[asked]).sum(-1)).sum(1) / share.sum(1)
        spread = around(float(value), others, level)
        interval, change = (spread.low, spread.high), float(self.change[chosen].max())
        return Estimate(name, float(value), spread.error, interval, "bootstrap", network=True, change=change)


def fit_networks(plan: "Plan", resampled: bool, folded: bool) -> Fits:
    """Gather the log and fit networks to it: the whole of it first, then what else is needed."""
    asked, groups = plan.asked, plan.grouped[0].total
    assert asked.net is not None
    actions = max(1, plan.survey.actions)
    data = gather(plan, actions)
    net = Net(plan.survey.features, actions, *asked.net)
    counts = [np.ones((1, groups)), *([without_folds(groups)] if folded else [])]
    if resampled:
        rng, some = np.random.default_rng(asked.seed), min(RESAMPLES, asked.resamples)
        used = np.bincount(data.rows.group, minlength=groups) > 0
        counts.append(rng.multinomial(used.sum(), used / used.sum(), some).astype(float))
    whole = np.concatenate(counts)
    found = fit(net, data.rows, whole, asked.seed)
    return Fits(net, data, whole, found.weights, found.change, len(counts[1]) if folded else 0)


def gather(plan: "Plan", actions: int) -> Gathered:
    """All rows of a log, as a network learns from them; those that do not tell what follows count nothing."""
    survey, at = plan.survey, 0
    x, after = (np.empty((survey.rows, survey.features), np.float32) for _ in range(2))
    taken, policy, following = (np.empty((survey.rows, actions), np.float32) for _ in range(3))
    reward, discount, weight = (np.empty(survey.rows, np.float32) for _ in range(3))
    group, asked = np.empty(survey.rows, np.int32), np.empty(survey.rows, dtype=bool)
    for piece in _pieces(plan):
        log, rows = piece.log, slice(at, at + len(piece.log))
        for name, values in (("features", log.features), ("next_features", log.next_features), ("reward", log.reward)):
            check_magnitude(values, name, LARGEST_LEARNED)
        x[rows], after[rows], reward[rows], discount[rows] = log.features, log.next_features, log.reward, log.discount
        taken[rows], policy[rows], led = action_chances(log, actions)
        known = (log.discount == 0) | np.isfinite(led).all(1)
        following[rows] = np.nan_to_num(led)
        weight[rows] = known * (1.0 if log.policy is not None else piece.rho)
        group[rows], asked[rows] = piece.group, plan.asked.where.rows(piece)
        at += len(log)
    deviation = x.std(0, dtype=float)
    scaling = Scaling(x.mean(0, dtype=float), np.where(deviation > 0, deviation, 1.0))
    for states in (x, after):
        np.subtract(states, scaling.center.astype(np.float32), out=states)
        np.divide(states, scaling.deviation.astype(np.float32), out=states)
    return Gathered(Rows(x, after, taken, following, reward, discount, weight, group), scaling, policy, asked)


def _pieces(plan: "Plan") -> Iterator[Walk]:
    for part, grouping in enumerate(plan.grouped):
        for piece in walk(plan.source, part, grouping):
            plan.advance(len(piece.log))
            yield piece
