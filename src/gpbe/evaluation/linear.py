"""Linear values from a log by least squares: LSTD(lambda) with every correction, fitted Q evaluation, and the dual.

The value at the states asked for is x'A^-1 b, with A and b summed over the log (LSTD). Its error comes from the
residuals b_k - A_k w of groups of episodes: the sandwich. Fitted Q evaluation with linear values is the same with
features of states and actions, and ends where its iterations do not change anything (Munos and Szepesvari 2008).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from gpbe import linalg
from gpbe.algorithms.linear.least_squares import no_past, trace_piece
from gpbe.evaluation.sums import Sums, by_group, products, total
from gpbe.evaluation.values import LinearValues, action_features, without_folds
from gpbe.evaluation.walk import Walk
from gpbe.shapes import Array


@dataclass(frozen=True, eq=False)
class Where:
    """The states whose value is asked for: those where episodes begin, all of the log's, or given ones."""

    kind: str
    features: Float[Array, "M K"] | None = None
    """The features of the given states."""

    def rows(self, walk: Walk) -> Array:
        """A mask of the rows of a piece that count."""
        return walk.begins if self.kind == "start" else np.ones(len(walk.log), dtype=bool)


def solved(matrix: Array, right: Array) -> Array:
    """The solution of least norm; NaN where products of ratios made an entry infinite. Batched.

    >>> solved(np.array([[[2.0]], [[np.inf]]]), np.array([[1.0], [1.0]])).tolist()
    [[0.5], [nan]]
    """
    finite = np.asarray(np.isfinite(matrix).all((-2, -1)))
    solution = linalg.least_squares(np.where(finite[..., None, None], matrix, 0.0), right).solution
    return np.where(finite[..., None], solution, np.nan)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The solution of A w = b at the states asked for."""

    name: str
    where: Where
    algorithm: str = "lstd"
    lam: float = 0.0
    actions: bool = False
    """Whether action values are fitted, without ratios: fitted Q evaluation."""
    bootstraps: ClassVar[bool] = True

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums:
        log, group, groups = walk.log, walk.group, walk.groups
        if self.actions:
            now, left, following = action_features(log)
            known = (log.discount == 0) | np.isfinite(following).all(1)
            change = left - log.discount[:, None] * np.nan_to_num(following)
            weighted = left * known[:, None]
        else:
            now = log.features
            past = memory.get("past") or no_past(now.shape[1])
            traces, memory["past"] = trace_piece(log, past, self.algorithm, self.lam)
            weighted = traces.e * traces.rho[:, None]
            change = log.features - log.discount[:, None] * log.next_features
        both = products(weighted, np.column_stack([change, log.reward]), group, groups)
        here = self.where.rows(walk)
        if self.where.features is None:
            starts = products(np.ones((here.sum(), 1)), now[here], group[here], groups)[:, 0]
        else:
            starts = np.zeros((groups, now.shape[1]))
        return {
            "A": both[..., :-1],
            "b": both[..., -1],
            "x": starts,
            "n": by_group(here.astype(float), group, groups),
            "rows": by_group(weighted.any(1).astype(float), group, groups),
        }

    def weights(self, sums: Sums) -> Array:
        """The solution; of least norm if there are several. Batched."""
        return solved(sums["A"], sums["b"])

    def at(self, sums: Sums) -> Array:
        """The mean features of the states asked for."""
        if self.where.features is not None:
            return self.where.features.mean(0)
        return sums["x"] / sums["n"][..., None]

    def value(self, total: Sums) -> Any:
        return (self.at(total) * self.weights(total)).sum(-1)

    def influence(self, sums: Sums, total: Sums) -> Array:
        w, x = self.weights(total), self.at(total)
        dual = self.dual(total)
        moved = 0.0 if self.where.features is not None else (sums["x"] - sums["n"][:, None] * x) @ w / total["n"]
        return moved + self.unfitted(total) * ((sums["b"] - sums["A"] @ w) @ dual)

    def unfitted(self, total: Sums) -> float:
        """How much larger errors are than residuals, by Cameron and Miller (2015).

        It is the root of (n - 1) / (n - k) for n rows that k weights were fitted to. A fit that goes through every row
        has no residuals, which tells nothing: there is no interval then.
        """
        if not np.isfinite(total["A"]).all():
            return np.nan
        rows, rank = float(total["rows"]), max(1, int(linalg.least_squares(total["A"], total["b"]).rank))
        return np.sqrt((rows - 1) / (rows - rank)) if rows > rank else np.nan

    def dual(self, total: Sums) -> Array:
        """The solution of A'u = x: what a residual is worth. Times the features, it weights the states."""
        return solved(total["A"].T, self.at(total))

    def values(self, sums: Sums) -> LinearValues:
        """The values that were learned without each fold's own groups."""
        each = [self.weights(total({k: sums[k] for k in ("A", "b")}, kept)) for kept in without_folds(len(sums["n"]))]
        return LinearValues(np.stack(each), self.actions)


@dataclass(frozen=True, eq=False)
class Marginal:
    """Rewards weighted by how much more often the target visits a state than the log does.

    The weights are linear in the features, u'x with A'u = x_0: where the saddlepoint of DualDICE (Nachum et al. 2019)
    has its solution if both of its functions are linear; with a table they are exact. What is negative is set to 0, and
    the weights are normalized: an episode ends once. It is equal to LSTD(0) where neither changes anything. Its error
    is that of the delta method, with what the weights u owe to the same data.
    """

    name: str
    linear: LeastSquares
    sums: Sums
    bootstraps: ClassVar[bool] = False

    def add(self, walk: Walk, memory: dict[str, Any]) -> Sums:
        log = walk.log
        if "dual" not in memory:
            memory["dual"] = self.linear.dual(total(self.sums))
        share, ends = log.features @ memory["dual"], 1 - log.discount
        weight = np.maximum(share, 0.0) * walk.rho
        counted = np.where(share > 0, walk.rho, 0.0)[:, None] * log.features
        slopes = products(counted, np.column_stack([log.reward, ends]), walk.group, walk.groups)
        return {
            "above": by_group(weight * log.reward, walk.group, walk.groups),
            "below": by_group(weight * ends, walk.group, walk.groups),
            "above_slope": slopes[..., 0],
            "below_slope": slopes[..., 1],
        }

    def value(self, total: Sums) -> Any:
        return np.divide(total["above"], total["below"])

    def influence(self, sums: Sums, total: Sums) -> Array:
        solved_for = {name: values.sum(0) for name, values in self.sums.items()}
        x, dual, value = self.linear.at(solved_for), self.linear.dual(solved_for), self.value(total)
        slope = solved(solved_for["A"], total["above_slope"] - value * total["below_slope"])
        given = self.linear.where.features is not None
        starts = 0.0 if given else (self.sums["x"] - self.sums["n"][:, None] * x) @ slope / solved_for["n"]
        rest = sums["above"] - value * sums["below"] - (self.sums["A"] @ slope) @ dual
        return (starts + self.linear.unfitted(solved_for) * rest) / total["below"]
