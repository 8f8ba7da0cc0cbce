"""Importance sampling: whole returns, or rewards one by one; plain or weighted; with or without a baseline of values.

Precup, Sutton and Singh (2000); doubly robust: Jiang and Li (2016); weighted: Thomas and Brunskill (2016). Importance
sampling by decision is doubly robust estimation with values of 0.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpbe.evaluation.sums import Sums, by_group, by_step
from gpbe.evaluation.values import Values
from gpbe.evaluation.walk import Walk
from gpbe.shapes import Array


@dataclass(frozen=True)
class Trajectory:
    """Each episode's return, weighted by the product of its ratios: sum rho G / n, or / sum rho if weighted."""

    name: str
    weighted: bool
    bootstraps: ClassVar[bool] = True

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums:
        end = walk.ends
        ratio, group = walk.after[end], walk.group[end]
        weight = ratio if self.weighted else np.ones(len(ratio))
        above = by_group(ratio * walk.collected[end], group, walk.groups)
        return {"above": above, "below": by_group(weight, group, walk.groups)}

    def value(self, total: Sums) -> Any:
        return _ratio(total["above"], total["below"])

    def influence(self, sums: Sums, total: Sums) -> Array:
        return _left_out(sums["above"], sums["below"], total["above"], total["below"])


@dataclass(frozen=True, eq=False)
class PerDecision:
    """Each reward, weighted by the ratios up to it; around values, which the data correct: doubly robust.

    Plain: the mean over episodes of sum_t g_t (w_{t-1} v(S_t) + w_t (R_t - q(S_t, A_t))), where w_t is the product of
    ratios and g_t that of discounts. Weighted: w_t / sum w_t in place of w_t / n, where an episode that has ended keeps
    its last weight. An episode that is cut off goes on with the value of where it led.
    """

    name: str
    weighted: bool
    horizon: int
    """Rows in the longest episode."""
    values: Values | None = None
    bootstraps: ClassVar[bool] = True

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums:
        log, after = walk.log, walk.after
        base, signal, rest = np.zeros(len(log)), log.reward, np.zeros(len(log))
        if self.values is not None:
            state, chosen, following = self.values.of(walk)
            base, signal = state, log.reward - chosen
            rest = np.where(walk.ends, log.discount * following, 0.0)
        known = walk.reach > 0  # so that products that have overflowed do no harm where nothing is left
        base = np.where(known, walk.reach * base, 0.0)
        scale = np.where(known, walk.reach, 0.0)
        return (self._by_step if self.weighted else self._whole)(walk, after, base, scale * signal, scale * rest)

    def _whole(self, walk: Walk, after: Array, base: Array, signal: Array, rest: Array) -> Sums:
        worth = walk.before * base + after * (signal + rest)
        count = by_group(walk.begins.astype(float), walk.group, walk.groups)
        return {"above": by_group(worth, walk.group, walk.groups), "below": count}

    def _by_step(self, walk: Walk, after: Array, base: Array, signal: Array, rest: Array) -> Sums:
        shape, group, step, end = (walk.groups, self.horizon + 1), walk.group, walk.step, walk.ends
        bases = by_step(walk.before * base, group, step, shape)
        if self.values is not None:
            bases = bases + by_step((after * rest)[end], group[end], step[end] + 1, shape)
        return {
            "signal": by_step(after * signal, group, step, shape),
            "base": bases,
            "alive": by_step(after, group, step, shape),
            "ended": by_step(after[end], group[end], step[end] + 1, shape),
            "count": by_group(walk.begins.astype(float), group, walk.groups),
        }

    def value(self, total: Sums) -> Any:
        if not self.weighted:
            return _ratio(total["above"], total["below"])
        now, earlier = _weights(total)
        return (_ratio(total["signal"], now) + _ratio(total["base"], earlier)).sum(-1)

    def influence(self, sums: Sums, total: Sums) -> Array:
        if not self.weighted:
            return _left_out(sums["above"], sums["below"], total["above"], total["below"])
        (now, earlier), (its_now, its_earlier) = _weights(total), _weights(sums)
        signal = _left_out(sums["signal"], its_now, total["signal"], now)
        return (signal + _left_out(sums["base"], its_earlier, total["base"], earlier)).sum(-1)


def _weights(sums: Sums) -> tuple[Array, Array]:
    """The sum of all episodes' weights at each step, and one step earlier."""
    now = sums["alive"] + np.cumsum(sums["ended"], -1)
    return now, np.concatenate([sums["count"][..., None], now[..., :-1]], -1)


def _ratio(above: Array, below: Array) -> Any:
    """A quotient that is 0 where there is nothing."""
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below != 0)


def _left_out(above: Array, below: Array, whole_above: Array, whole_below: Array) -> Array:
    """What a quotient of sums would change by without each group: the jackknife, (g - 1) / g times.

    It is (a - q b) / (B - b) with q = A / B. The delta method has B for B - b, and so takes a group with much of the
    weight to be closer to the others than it is.
    """
    groups = max(2, int(np.count_nonzero(np.reshape(below != 0, (len(below), -1)).any(1))))
    apart = above - _ratio(whole_above, whole_below) * below
    rest = whole_below - below
    rest = np.where(rest > 1e-9 * whole_below, rest, whole_below / groups)  # nothing is left without the group
    return (groups - 1) / groups * _ratio(apart, rest)
