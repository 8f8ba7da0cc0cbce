"""What an algorithm does in expectation: the system that it solves, and its mean update at any weights.

An update is linear in the trace and in the emphasis, so its mean over the stationary behavior is the update itself
with the *mean* trace and emphasis of each state, averaged over transitions. No sampling, no limit.
"""

import numpy as np

from gpbe import linalg
from gpbe.algorithms.linear.bootstrapping import Probabilities, action_lambda, scales
from gpbe.algorithms.linear.table import ALGORITHMS, Algorithm, find
from gpbe.algorithms.linear.traces import UNLIMITED, Limits
from gpbe.algorithms.linear.updates import DIRECTIONS, Step
from gpbe.errors import InputError
from gpbe.exact.traces import LinearSystem, carried, mean_trace, trace_system
from gpbe.exact.weightings import as_lambda, weighting
from gpbe.mdp import PredictionProblem
from gpbe.mdp.layout import SparseLayout
from gpbe.mdp.structure import check_evaluation_ends
from gpbe.shapes import Array, Numbers, PerState, StateMatrix, Weights


def expected_system(
    problem: PredictionProblem,
    algorithm: str | Algorithm,
    lam: Numbers = 0.0,
    limits: Limits = UNLIMITED,
) -> LinearSystem:
    """The system A, b and C of an algorithm; where it converges, it converges to the solution of A w = b.

    >>> from gpbe import mdp
    >>> A, b, C = expected_system(mdp.aliased(), "tree-backup", lam=0.9)
    >>> np.linalg.solve(A, b).round(6) + 0.0
    array([0.5, 1. , 0. ])
    """
    a = find(algorithm)
    table = lambda_table(problem, a, lam, limits.c_bar)
    emphasis = mean_emphasis(problem, a, table, limits.followon_decay)
    clipped = problem.behavior * np.minimum(problem.ratios, limits.rho_bar)
    return trace_system(problem, emphasis, clipped, carried(problem, table))


def expected_update(
    problem: PredictionProblem,
    algorithm: str | Algorithm,
    w: Weights,
    h: Weights,
    lam: Numbers = 0.0,
    limits: Limits = UNLIMITED,
    *,
    beta: float = 0.0,
) -> tuple[Weights, Weights]:
    """The mean direction of w and of h, by averaging the algorithm's own update over every transition.

    >>> from gpbe import mdp
    >>> from gpbe.exact import fixed_point
    >>> problem = mdp.problem("random-walk-5")
    >>> w = fixed_point(problem, "pbe", "behavior")
    >>> dw, dh = expected_update(problem, "tdrc", w, 0 * w, beta=1.0)
    >>> bool(np.allclose(dw, 0.0)), bool(np.allclose(dh, 0.0))  # it rests at the fixed point
    (True, True)
    """
    a, m = find(algorithm), problem.mdp.dense("the mean update, transition by transition,")
    table = lambda_table(problem, a, lam, limits.c_bar)
    emphasis = mean_emphasis(problem, a, table, limits.followon_decay)
    trace = mean_trace(problem, emphasis, carried(problem, table))
    on_policy = problem.replace(target=problem.behavior)
    own_table = lambda_table(on_policy, a, lam, limits.c_bar, scales(problem.target, problem.behavior))
    own_emphasis = mean_emphasis(on_policy, a, own_table, limits.followon_decay)
    own = mean_trace(on_policy, own_emphasis, carried(on_policy, own_table))

    chance = problem.behavior[..., None] * m.probability  # the stationary frequency of s is in trace and emphasis
    d_w, d_h = np.zeros_like(w), np.zeros_like(h)
    for s, i, n in zip(*np.nonzero(chance), strict=True):
        step = Step(
            x=problem.features[s],
            x_next=problem.features[n],
            reward=m.reward[s, i, n],
            gamma=m.discount[s, i, n],
            rho=min(problem.ratios[s, i], limits.rho_bar),
            lam=np.broadcast_to(table, m.probability.shape)[s, i, n],
            e=trace[s],
            emphasis=emphasis[s],
            e_behavior=own[s],
        )
        moves = DIRECTIONS[a.update](step, w, h)
        d_w, d_h = d_w + chance[s, i, n] * moves[0], d_h + chance[s, i, n] * moves[1]
    return d_w, d_h - beta * h


def lambda_table(
    problem: PredictionProblem,
    a: Algorithm,
    lam: Numbers,
    c_bar: float = 1.0,
    psi: tuple[float, float] | None = None,
) -> Array:
    """The trace parameter lam(s, a, s') of the algorithm's bootstrapping rule, or something that broadcasts to it.

    `psi` are AB-Trace's scales, those of the problem's own policies if left out.
    """
    lam = as_lambda(problem, lam)
    if a.bootstrapping == "importance":
        return lam
    target, behavior = problem.target[..., None], problem.behavior[..., None]
    if a.bootstrapping == "ab-trace" and lam.ndim:
        raise InputError("AB-Trace is scaled by one number for all states; give lam as a number")
    p = Probabilities(target, behavior, *(psi or scales(problem.target, problem.behavior)))
    table = np.asarray(action_lambda(a.bootstrapping, lam, p, c_bar))
    if isinstance(problem.mdp.layout, SparseLayout):
        if lam.ndim:
            raise InputError("beside sparse transitions lam of this algorithm should be one number for all states")
        return np.asarray(table)
    return np.broadcast_to(table, problem.mdp.layout.probability.shape)


def mean_emphasis(problem: PredictionProblem, a: Algorithm, table: Array, decay: float | None = None) -> PerState:
    """The mean emphasis E[M_t; S_t = s]: d_b, the emphatic weighting, or the mean product of ratios."""
    if a.prior == "none":
        return problem.behavior_distribution
    if a.prior == "emphatic":
        return weighting(problem, "emphatic", table, decay if a.decayed_followon else None)
    return product_weighting(problem)


def check_sensible(problem: PredictionProblem, a: Algorithm) -> None:
    """Refuse an algorithm that cannot work on a problem."""
    if a.prior != "alternative-life":
        return
    t = problem.mdp.layout
    chance = t.here(problem.behavior_distribution) * t.taken(problem.behavior) * t.probability
    if not ((chance > 0) & (t.discount == 0)).any():
        raise InputError(
            "alternative-life methods need episodes, and no transition of this problem has discount 0: the product of "
            "ratios would go on for ever; use an emphatic method"
        )
    check_evaluation_ends(
        within_episodes(problem),
        "the target policy never ends an episode from {states}, so the product of ratios has no mean; "
        "use an emphatic method",
        problem.mdp.state_names,
    )


def within_episodes(problem: PredictionProblem) -> StateMatrix:
    """The target's P_pi(s, s') over transitions that do not end an episode."""
    t = problem.mdp.layout
    return t.matrix(problem.target, t.probability * (t.discount > 0))


def product_weighting(problem: PredictionProblem) -> PerState:
    """The mean E[product of the episode's ratios so far; S_t = s], which is proportional to d_pi.

    Episodes begin as often as the behavior ends them, and then run as the target would have them.

    >>> from gpbe import mdp
    >>> from gpbe.exact import weighting
    >>> problem = mdp.problem("random-walk-5")
    >>> d = product_weighting(problem)
    >>> bool(np.allclose(d / d.sum(), weighting(problem, "target")))
    True
    """
    check_sensible(problem, ALGORITHMS["alternative-life-td"])
    t = problem.mdp.layout
    chance = t.here(problem.behavior_distribution) * t.taken(problem.behavior) * t.probability
    begin = t.arriving(chance * (t.discount == 0))
    return linalg.inverse_of(t.identity - within_episodes(problem)).T.of(begin)
