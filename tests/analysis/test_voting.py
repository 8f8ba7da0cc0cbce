"""Elections worked by hand in the literature, and brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbe import InputError
from gpbe.analysis import condorcet, instant_runoff
from gpbe.analysis.voting import pairwise


def from_ballots(ballots: dict[str, int], candidates: str) -> np.ndarray:
    """Scores of repeated voters from ballots such as {"ABC": 5}, best first."""
    rows = [[-ballot.index(c) for c in candidates] for ballot, count in ballots.items() for _ in range(count)]
    return np.array(rows, float)


# The capital of Tennessee (a textbook election): Memphis, Nashville, Chattanooga, Knoxville.
TENNESSEE = from_ballots({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}, "MNCK")
CITIES = ["Memphis", "Nashville", "Chattanooga", "Knoxville"]
# Schulze 2011, example 1: 45 voters, no Condorcet winner.
SCHULZE = from_ballots(
    {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}, "ABCDE"
)


def test_the_capital_of_tennessee_by_condorcet():
    vote = condorcet(TENNESSEE, CITIES)
    assert (vote.name, vote.decided_by, vote.has_condorcet_winner) == ("Nashville", "majority", True)
    assert vote.smith_set == (1,)
    assert vote.pairwise.tolist() == [[0, 42, 42, 42], [58, 0, 68, 68], [58, 32, 0, 83], [58, 32, 17, 0]]
    assert vote.copeland.tolist() == [0, 3, 2, 1]


def test_the_capital_of_tennessee_by_instant_runoff():
    vote = instant_runoff(TENNESSEE, CITIES)
    assert (vote.name, vote.decided_by) == ("Knoxville", "majority")
    assert [count.votes for count in vote.rounds] == [
        {0: 42, 1: 26, 2: 15, 3: 17},
        {0: 42, 1: 26, 3: 32},
        {0: 42, 3: 58},
    ]
    assert [count.eliminated for count in vote.rounds] == [(2,), (1,), ()]
    assert {count.rule for count in vote.rounds} == {"fewest votes"}


def test_condorcets_paradox():
    vote = condorcet(from_ballots({"ABC": 1, "BCA": 1, "CAB": 1}, "ABC"))
    assert not vote.has_condorcet_winner
    assert vote.smith_set == (0, 1, 2)
    assert vote.copeland.tolist() == [1, 1, 1]
    assert (vote.winner, vote.decided_by) == (0, "lowest index")


def test_schulzes_example():
    vote = condorcet(SCHULZE, list("ABCDE"))
    assert vote.pairwise.tolist() == [
        [0, 20, 26, 30, 22],
        [25, 0, 16, 33, 18],
        [19, 29, 0, 17, 24],
        [15, 12, 28, 0, 14],
        [23, 27, 21, 31, 0],
    ]
    assert vote.smith_set == (0, 1, 2, 3, 4)
    assert (vote.name, vote.decided_by) == ("E", "copeland")


def test_a_smith_set_between_one_and_all():
    """A, B and C in a circle, and each of them beats D and E."""
    vote = condorcet(from_ballots({"DABCE": 1, "BCADE": 2, "CABDE": 2, "ABCDE": 2}, "DEABC"))
    assert vote.smith_set == (2, 3, 4)
    assert vote.decided_by == "summed rank"
    assert vote.winner in vote.smith_set
    assert not vote.has_condorcet_winner


def test_the_summed_rank_decides_between_equal_copeland_scores():
    """A circle in which B is liked best on the whole; ranks summed by hand."""
    vote = condorcet(from_ballots({"ABC": 2, "BCA": 3, "CAB": 2}, "ABC"))
    assert vote.pairwise.tolist() == [[0, 4, 2], [3, 0, 5], [5, 2, 0]]
    assert vote.summed_rank.tolist() == [2 * 1 + 3 * 3 + 2 * 2, 2 * 2 + 3 * 1 + 2 * 3, 2 * 3 + 3 * 2 + 2 * 1]
    assert (vote.winner, vote.decided_by) == (1, "summed rank")


def test_equal_scores_are_indifference():
    """One voter cares, three do not: that one decides."""
    vote = condorcet([[1, 1, 1], [5, 5, 5], [0, 0, 0], [1, 2, 3]])
    assert (vote.winner, vote.decided_by) == (2, "majority")
    assert vote.pairwise.sum() == 3
    assert vote.summed_rank.tolist() == [9, 8, 7]


def test_two_against_two_is_a_tie_and_not_a_circle_of_wins():
    vote = condorcet([[2, 1], [2, 1], [1, 2], [1, 2]])
    assert vote.smith_set == (0, 1)
    assert vote.copeland.tolist() == [0.5, 0.5]
    assert (vote.winner, vote.decided_by) == (0, "lowest index")


def test_a_single_voter_and_a_single_candidate():
    assert condorcet([[1.0, 7.0, 3.0]]).winner == instant_runoff([[1.0, 7.0, 3.0]]).winner == 1
    assert condorcet([[1.0]]).decided_by == instant_runoff([[1.0]]).decided_by == "majority"


def test_infinitely_bad_is_a_score():
    assert condorcet([[-np.inf, -1000.0], [-np.inf, -np.inf]]).winner == 1


def test_runoff_votes_are_shared_between_equals():
    vote = instant_runoff([[2, 2, 0], [0, 2, 1], [0, 1, 2], [0, 1, 2], [2, 1, 0]])
    assert vote.rounds[0].votes == {0: 1.5, 1: 1.5, 2: 2.0}
    # Tied at 1.5; the summed ranks on the full ballots are 11.5 and 8.5.
    assert vote.rounds[0].eliminated == (0,)
    assert vote.rounds[0].rule == "summed rank"
    assert (vote.winner, vote.decided_by) == (1, "summed rank")
    assert vote.rounds[1].votes == {1: 3.0, 2: 2.0}


def test_runoffs_say_when_an_index_decided():
    vote = instant_runoff([[2, 1], [1, 2]])
    assert (vote.winner, vote.decided_by) == (0, "lowest index")
    assert vote.rounds[0].eliminated == (1,)


def test_three_thirds_are_one_vote():
    vote = instant_runoff([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    assert vote.rounds[0].votes[0] == 2.0
    assert vote.rounds[0].votes[1] == vote.rounds[0].votes[3] == 1.0


def test_without_first_preferences_all_go_at_once():
    scores = np.random.default_rng(0).normal(size=(5, 200))
    vote = instant_runoff(scores)
    assert len(vote.rounds) <= 5
    assert len(vote.rounds[0].eliminated) >= 195


def relation(scores: np.ndarray) -> np.ndarray:
    """beats[i, j], counted voter by voter."""
    n = scores.shape[1]
    beats = np.zeros((n, n), bool)
    for i, j in itertools.permutations(range(n), 2):
        beats[i, j] = sum(s[i] > s[j] for s in scores) > sum(s[j] > s[i] for s in scores)
    return beats


def smith_by_hand(scores: np.ndarray) -> tuple[int, ...]:
    """The smallest of all sets whose members beat everybody outside."""
    n, beats = scores.shape[1], relation(scores)
    for size in range(1, n + 1):
        for members in itertools.combinations(range(n), size):
            others = [k for k in range(n) if k not in members]
            if beats[np.ix_(members, others)].all():
                return members
    raise AssertionError


def runoff_by_hand(scores: np.ndarray) -> int:
    """One candidate at a time, in exact fractions, to the last one standing."""
    ranks = [
        sum((s > s[k]).sum() + Fraction(int((s == s[k]).sum()) + 1, 2) for s in scores) for k in range(scores.shape[1])
    ]
    left = list(range(scores.shape[1]))
    while len(left) > 1:
        votes = dict.fromkeys(left, Fraction(0))
        for s in scores:
            best = [k for k in left if s[k] == s[left].max()]
            for k in best:
                votes[k] += Fraction(1, len(best))
        left.remove(max(left, key=lambda k: (-votes[k], ranks[k], k)))
    return left[0]


elections = st.tuples(st.integers(0, 10**9), st.integers(1, 6), st.integers(1, 6), st.integers(2, 9)).map(
    lambda drawn: np.random.default_rng(drawn[0]).integers(0, drawn[3], drawn[1:3]).astype(float)
)


@settings(max_examples=300, deadline=None)
@given(elections)
def test_smith_sets_and_winners_against_brute_force(scores):
    vote, beats = condorcet(scores), relation(scores)
    assert vote.smith_set == smith_by_hand(scores)
    assert vote.winner in vote.smith_set
    assert vote.has_condorcet_winner == (vote.decided_by == "majority")
    others = [k for k in range(scores.shape[1]) if k != vote.winner]
    assert vote.has_condorcet_winner == beats[vote.winner, others].all()
    wins = beats.sum(1) + ((~beats & ~beats.T).sum(1) - 1) / 2
    assert wins.max() == wins[vote.winner]


@settings(max_examples=300, deadline=None)
@given(elections)
def test_runoffs_against_one_elimination_at_a_time(scores):
    assert instant_runoff(scores).winner == runoff_by_hand(scores)


@settings(max_examples=50, deadline=None)
@given(elections, st.integers(0, 100))
def test_only_the_order_of_scores_matters(scores, seed):
    stretched = np.exp(scores) * np.random.default_rng(seed).uniform(0.5, 2, (len(scores), 1))
    for method in (condorcet, instant_runoff):
        assert method(stretched).winner == method(scores).winner
    assert (pairwise(stretched) == pairwise(scores)).all()


@settings(max_examples=100, deadline=None)
@given(elections, st.integers(0, 100))
def test_renaming_candidates_renames_winners_that_no_index_decided(scores, seed):
    order = np.random.default_rng(seed).permutation(scores.shape[1])
    vote, renamed = condorcet(scores), condorcet(scores[:, order])
    assert renamed.decided_by == vote.decided_by
    if vote.decided_by != "lowest index":
        assert order[renamed.winner] == vote.winner


def test_a_thousand_candidates_are_no_trouble():
    scores = np.random.default_rng(0).integers(0, 300, (4, 1000)).astype(float)
    scores[:3, 617] = 1000
    vote = condorcet(scores)
    assert (vote.winner, vote.smith_set) == (617, (617,))
    assert vote.copeland.sum() == 1000 * 999 / 2
    assert instant_runoff(scores).winner == 617


def test_many_voters_are_counted_without_overflow():
    assert condorcet(np.tile([2.0, 1.0], (40_000, 1))).pairwise.tolist() == [[0, 40_000], [0, 0]]


@pytest.mark.parametrize("method", [condorcet, instant_runoff])
@pytest.mark.parametrize(
    ("scores", "names", "message"),
    [
        ([1.0, 2.0], None, r"the scores have shape \(2,\); they should be \(voters, candidates\)"),
        (np.zeros((0, 3)), None, r"shape \(0, 3\)"),
        ([[1.0, np.nan]], None, "voter 0 gives candidate 1 no score"),
        ([[1.0, 2.0]], ["A"], "1 names for 2 candidates"),
    ],
)
def test_bad_ballots_are_refused(method, scores, names, message):
    with pytest.raises(InputError, match=message):
        method(scores, names)
