"""The control objective with lambda-returns on finite MDPs, and what the algorithms with traces do on average.

It is the PBE of `objectives` with u^lam in place of u; its updates in the long run, with d the behavior's visits, are
those of `gpbe.exact.tangent`.
"""

from typing import NamedTuple

from jaxtyping import Float

from gpbe.exact.control.objectives import ControlProblem, tangent, visits
from gpbe.exact.control.stationary import first_points
from gpbe.exact.control.updates import UPDATES
from gpbe.exact.resting import Point, zero_gradients, zero_updates
from gpbe.exact.tangent import Update, rule_of
from gpbe.shapes import Array, Numbers, Scalar, Weights


class LambdaErrors(NamedTuple):
    """u^lam over state-action pairs, and its slope in w."""

    value: Float[Array, " N"]
    slope: Float[Array, "N K"]


def lambda_errors(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> LambdaErrors:
    """E[delta^lam | s, a], and its derivative where no two actions are equally good.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_errors(coin, [0.0, -1.0], [[0.5, 0.5]], lam=1.0).value       # 1 + half of the times 1/2 of the same
    array([1.33333333, 1.33333333])
    """
    t = tangent(problem, w, behavior, lam)
    return LambdaErrors(t.errors, t.slope)


def lambda_projected_error(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> Scalar:
    """PBE(lam) of w: the squared length of u^lam, projected on H.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_projected_error(coin, [2.0, 1.0], [[0.5, 0.5]], lam=0.8)  # q* is a solution for every lambda
    0.0
    """
    return tangent(problem, w, behavior, lam).error()


def lambda_projected_gradient(problem: ControlProblem, w: Numbers, behavior: Numbers, lam: float) -> Weights:
    """The gradient of PBE(lam), 2 U'D Pi u^lam, away from ties.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_projected_gradient(coin, [2.0, 1.0], [[0.5, 0.5]], lam=0.8)
    array([0., 0.])
    """
    return tangent(problem, w, behavior, lam).gradient()


def expected_traced_update(
    problem: ControlProblem,
    algorithm: str,
    w: Numbers,
    theta: Numbers,
    behavior: Numbers,
    lam: float,
    beta: float = 1.0,
) -> Update:
    """The mean of an update with traces in the long run; d is that of the behavior's visits, whatever the problem's.

    `algorithm` is one of `UPDATES`: with lam = 0 this is `expected_update`.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> expected_traced_update(coin, "qrc", [2.0, 1.0], [0.0, 0.0], [[0.5, 0.5]], lam=0.8)  # it rests at q*
    Update(w=array([0., 0.]), theta=array([0., 0.]))
    """
    problem = problem.change(weighting=visits(problem.mdp, behavior))
    return tangent(problem, w, behavior, lam).update(rule_of(algorithm, UPDATES, beta), theta, beta)


def lambda_stationary_points(
    problem: ControlProblem, behavior: Numbers, lam: float, starts: Numbers | None = None, tolerance: float = 1e-8
) -> list[Point]:
    """Zeros of the gradient of PBE(lam), best first, from the starts of `stationary_points`.

    Where actions tie PBE(lam) jumps, for another action cuts traces off: only points around which it is smooth are
    found. Theta is that of the h which attains the maximum.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> point = lambda_stationary_points(coin, [[0.5, 0.5]], lam=0.8, starts=[[1.0, 0.0]])[0]
    >>> point.weights.round(6), point.error < 1e-20
    (array([2., 1.]), True)
    """
    return zero_gradients(lambda w: tangent(problem, w, behavior, lam), first_points(problem, starts), tolerance)


def lambda_fixed_points(
    problem: ControlProblem,
    algorithm: str,
    behavior: Numbers,
    lam: float,
    beta: float = 1.0,
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Weights (w, theta) at which an algorithm with traces moves neither in the long run: `fixed_points` with lambda.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> lambda_fixed_points(coin, "qrc", [[0.5, 0.5]], lam=0.8, starts=[[1.0, 0.0]])[0].weights.round(6)
    array([2., 1.])
    """
    rule, problem = rule_of(algorithm, UPDATES, beta), problem.change(weighting=visits(problem.mdp, behavior))
    begin = first_points(problem, starts)
    return zero_updates(lambda w: tangent(problem, w, behavior, lam), begin, rule, beta, tolerance)
