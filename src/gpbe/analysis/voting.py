"""Elections: voters score candidates, higher is better, and equal scores are indifference.

A Condorcet winner beats every other candidate in a pairwise majority. There may be none: majorities can run in a
circle. The Smith set is the smallest set whose members all beat everybody outside; it is the Condorcet winner alone
where there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Integer
from scipy import stats

from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

Decided = Literal["majority", "copeland", "summed rank", "lowest index"]


@dataclass(frozen=True, eq=False)
class Election:
    """Who won, and on what grounds.

    >>> vote = condorcet([[3, 2, 1], [3, 2, 1], [1, 2, 3]], names=["tea", "milk", "wine"])
    >>> vote.name, vote.decided_by, vote.has_condorcet_winner, vote.smith_set
    ('tea', 'majority', True, (0,))
    >>> vote.pairwise
    array([[0, 2, 2],
           [1, 0, 2],
           [1, 1, 0]], dtype=int16)
    """

    winner: int
    decided_by: Decided
    """`majority`: a Condorcet winner. Otherwise the rule that told it from the rest of the Smith set."""
    smith_set: tuple[int, ...]
    copeland: Float[Array, " candidates"]
    """Pairwise wins, a tie counting half."""
    summed_rank: Float[Array, " candidates"]
    """Sum over voters of the rank, 1 for the best, equals sharing the mean of their ranks."""
    pairwise: Integer[Array, "candidates candidates"]
    """How many voters prefer the row's candidate to the column's."""
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.names[self.winner]

    @property
    def has_condorcet_winner(self) -> bool:
        return len(self.smith_set) == 1


def condorcet(scores: Numbers, names: Sequence[str] | None = None) -> Election:
    """The Condorcet winner of (voters, candidates) scores, or the best of the Smith set where there is none.

    If majorities run in a circle or are tied, the candidate with the highest Copeland score wins (it is always in the
    Smith set); among equals the one with the smallest summed rank, and then the lowest index.

    >>> circle = condorcet([[3, 2, 1], [1, 3, 2], [2, 1, 3]])
    >>> circle.winner, circle.decided_by, circle.smith_set
    (0, 'lowest index', (0, 1, 2))
    """
    scores = as_ballots(scores)
    names = as_names(names, scores.shape[1])
    preferred = pairwise(scores)
    copeland = copeland_scores(preferred)
    ranks = summed_ranks(scores)
    smith = smith_set(copeland)
    winner, rule = break_ties(np.arange(len(copeland)), {"copeland": -copeland, "summed rank": ranks})
    decided = "majority" if len(smith) == 1 else rule
    return Election(winner, decided, smith, copeland, ranks, preferred, names)


def pairwise(scores: Float[Array, "voters candidates"]) -> Integer[Array, "candidates candidates"]:
    """How many voters prefer the row's candidate to the column's.

    >>> pairwise(np.array([[1.0, 1.0, 5.0]]))
    array([[0, 0, 0],
           [0, 0, 0],
           [1, 1, 0]], dtype=int16)
    """
    # Small integers: a bootstrap holds thousands of elections with a thousand candidates each.
    voters, n = scores.shape
    total = np.zeros((n, n), np.int16 if voters < 2**15 else np.int64)
    ballots = stats.rankdata(scores, "dense", axis=1).astype(np.int16 if n < 2**15 else np.int64)
    for ballot in ballots:
        total += (ballot[:, None] > ballot).view(np.int8)
    return total


def copeland_scores(preferred: Integer[Array, "candidates candidates"]) -> Float[Array, " candidates"]:
    """Pairwise majorities won by each candidate, a tie counting half.

    >>> copeland_scores(np.array([[0, 2, 2], [1, 0, 2], [1, 1, 0]]))
    array([2., 1., 0.])
    """
    margin = preferred - preferred.T
    won, tied = (np.count_nonzero(mask, axis=1) for mask in (margin > 0, margin == 0))
    return won + (tied - 1) / 2  # less the tie with itself


def smith_set(copeland: Float[Array, " candidates"]) -> tuple[int, ...]:
    """The smallest set of candidates who beat everybody outside it, from their Copeland scores.

    Its members have higher scores than everybody else, so it is a beginning of the list of candidates by score. The
    first k hold k(k - 1)/2 points from each other, and k(n - k) more if, and only if, they beat all others.

    >>> smith_set(np.array([1.0, 1.0, 3.0, 1.0]))
    (2,)
    """
    n = len(copeland)
    order = np.argsort(-copeland, kind="stable")
    k = np.arange(1, n + 1)
    closed = np.cumsum(copeland[order]) == k * (k - 1) / 2 + k * (n - k)  # halves of integers: exact
    return tuple(sorted(order[: k[closed][0]].tolist()))


def summed_ranks(scores: Float[Array, "voters candidates"]) -> Float[Array, " candidates"]:
    """Sum over voters of each candidate's rank, from 1 for the best; equals share the mean of their ranks.

    >>> summed_ranks(np.array([[9.0, 5.0, 5.0], [9.0, 5.0, 7.0]]))
    array([2. , 5.5, 4.5])
    """
    return stats.rankdata(-scores, "average", axis=1).sum(0)


def break_ties(
    candidates: Integer[Array, " left"], rules: dict[Decided, Float[Array, " candidates"]]
) -> tuple[int, Decided]:
    """The candidate with the smallest value under the first rule that tells it from the others, and that rule.

    >>> break_ties(np.array([0, 1, 2]), {"copeland": np.array([-1.0, -1, 0]), "summed rank": np.array([5.0, 4, 3])})
    (1, 'summed rank')
    """
    for rule, values in rules.items():
        candidates = candidates[values[candidates] == values[candidates].min()]
        if len(candidates) == 1:
            return int(candidates[0]), rule
    return int(candidates.min()), "lowest index"


def as_ballots(scores: Numbers) -> Float[Array, "voters candidates"]:
    """Scores as an array, each of them a number; infinite ones are allowed."""
    array = np.asarray(scores, dtype=float)
    if array.ndim != 2 or not array.size:
        raise InputError(f"the scores have shape {array.shape}; they should be (voters, candidates), at least one each")
    if np.isnan(array).any():
        voter, candidate = np.argwhere(np.isnan(array))[0]
        raise InputError(f"voter {voter} gives candidate {candidate} no score; every voter should score everybody")
    return array


def as_names(names: Sequence[str] | None, candidates: int) -> tuple[str, ...]:
    """A name for each candidate: its index, unless it was given one."""
    named = tuple(map(str, range(candidates) if names is None else names))
    if len(named) != candidates:
        raise InputError(f"there are {len(named)} names for {candidates} candidates; there should be one each")
    return named
