"""Instant-runoff elections: who has the fewest first preferences is out, until somebody has more than half."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Integer

from gpbe.analysis.voting import Decided, as_ballots, as_names, summed_ranks
from gpbe.shapes import Array, Numbers

Rule = Literal["fewest votes", "summed rank", "lowest index"]
_DIGITS = 9
"""Shares of a vote are compared to this many decimals: three thirds are one."""


@dataclass(frozen=True)
class Round:
    """One count: the candidates still in, their first preferences, and who was eliminated on them."""

    votes: dict[int, float]
    """First preferences of the candidates who have any."""
    eliminated: tuple[int, ...]
    rule: Rule
    """What told those who go from those who stay."""


@dataclass(frozen=True)
class Runoff:
    """Who won, and every count on the way.

    >>> vote = instant_runoff([[3, 2, 1], [3, 2, 1], [1, 3, 2], [1, 2, 3], [1, 2, 3]], names=["tea", "milk", "wine"])
    >>> vote.name, vote.decided_by, vote.rounds[0].votes, vote.rounds[0].eliminated
    ('wine', 'majority', {0: 2.0, 1: 1.0, 2: 2.0}, (1,))
    """

    winner: int
    decided_by: Decided
    """`majority`, or the last resort among the rules for ties that eliminated somebody on the way."""
    rounds: tuple[Round, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.names[self.winner]


def instant_runoff(scores: Numbers, names: Sequence[str] | None = None) -> Runoff:
    """The winner of (voters, candidates) scores by instant runoff.

    - A voter who is indifferent between the best candidates left gives each an equal share of the vote.
    - Candidates who together have fewer first preferences than the next one go at once: whatever passes between
      them, none would overtake it. Those without any always do.
    - Otherwise the one with the fewest goes. Among equals it is the one with the largest summed rank on the full
      ballots, and then the highest index, so that the lowest stays.

    >>> instant_runoff([[2, 1, 0], [0, 2, 1]]).decided_by
    'summed rank'
    """
    scores = as_ballots(scores)
    names = as_names(names, scores.shape[1])
    ranks = summed_ranks(scores)
    left, rounds = np.arange(scores.shape[1]), []
    while True:
        shares = first_preferences(scores[:, left])
        votes = np.round(shares, _DIGITS)
        tally = {int(k): float(v) for k, v in zip(left[votes > 0], votes[votes > 0], strict=True)}
        if votes.max() > len(scores) / 2 or len(left) == 1:
            rounds.append(Round(tally, (), "fewest votes"))
            return Runoff(int(left[votes.argmax()]), _decided_by(rounds), tuple(rounds), names)
        out, rule = _hopeless(left, shares), "fewest votes"
        if not len(out):
            fewest = left[votes == votes.min()]
            worst = fewest[ranks[fewest] == ranks[fewest].max()]
            if len(fewest) > 1:
                rule = "summed rank" if len(worst) == 1 else "lowest index"
            out = worst[-1:]
        rounds.append(Round(tally, tuple(out.tolist()), rule))
        left = np.setdiff1d(left, out)


def first_preferences(scores: Float[Array, "voters candidates"]) -> Float[Array, " candidates"]:
    """Votes for each candidate: one a voter, in equal shares to those it likes best.

    >>> first_preferences(np.array([[2.0, 2.0, 1.0], [0.0, 3.0, 1.0]]))
    array([0.5, 1.5, 0. ])
    """
    best = scores == scores.max(1, keepdims=True)
    return (best / best.sum(1, keepdims=True)).sum(0)


def _decided_by(rounds: Sequence[Round]) -> Decided:
    used = {count.rule for count in rounds}
    if "lowest index" in used:
        return "lowest index"
    return "summed rank" if "summed rank" in used else "majority"


def _hopeless(left: Integer[Array, " left"], shares: Float[Array, " left"]) -> Integer[Array, " out"]:
    """The candidates who together have fewer votes than the next one."""
    order = np.argsort(shares, kind="stable")
    together, votes = np.round(np.cumsum(shares[order]), _DIGITS), np.round(shares[order], _DIGITS)
    below = np.flatnonzero(together[:-1] < votes[1:])
    return np.sort(left[order[: below[-1] + 1]]) if len(below) else left[:0]
