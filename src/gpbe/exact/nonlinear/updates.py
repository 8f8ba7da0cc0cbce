"""What algorithms with networks do in expectation, and where they and the PBE(lam) come to rest.

With the best h,

- `gtd2` follows the gradient of the PBE(lam) of any H that is given;
- `tdc` does so if H holds every component of the gradient of v;
- `maei-gtd2` and `maei-tdc` follow that of the H which the gradients span. `gtd2` and `tdc` with such an h do not: they
  lack the curvature. But all of them, and `td`, rest where E[delta^lam grad v] = 0.
"""

from gpbe.exact.nonlinear.objective import NonlinearProblem
from gpbe.exact.resting import Point, as_starts, zero_gradients, zero_updates
from gpbe.exact.tangent import Rule, Update, rule_of
from gpbe.shapes import Numbers

UPDATES: dict[str, Rule] = {
    "td": Rule("none"),
    "tdc": Rule("correction"),
    "tdrc": Rule("correction", penalized=True),
    "gtd2": Rule("saddlepoint"),
    "maei-tdc": Rule("correction", curvature=True),
    "maei-gtd2": Rule("saddlepoint", curvature=True),
}
"""The algorithms of `gpbe.predict` with a network whose long-run updates are known here, at their lambda-returns."""


def expected_update(problem: NonlinearProblem, algorithm: str, w: Numbers, theta: Numbers, beta: float = 1.0) -> Update:
    """The mean update of one of `UPDATES`, by lambda-returns to the end; `beta` is TDRC's.

    >>> import numpy as np
    >>> from gpbe import mdp
    >>> from gpbe.exact import ValueFunction
    >>> walk = mdp.problem("random-walk-5")
    >>> problem = NonlinearProblem(walk, ValueFunction.linear(np.eye(5)), lam=0.9)
    >>> bool(np.abs(expected_update(problem, "tdrc", walk.values, np.zeros(5)).w).max() < 1e-12)  # at rest at v_pi
    True
    """
    return problem.tangent(w).update(rule_of(algorithm, UPDATES, beta), theta, beta)


def stationary_points(problem: NonlinearProblem, starts: Numbers, tolerance: float = 1e-8) -> list[Point]:
    """Zeros of the gradient of the PBE(lam) that are found from the starts, best first.

    Where the gradients of the values become dependent, H loses a direction and the PBE is not smooth: minima that lie
    there are not found.

    >>> import numpy as np
    >>> from gpbe import exact, mdp
    >>> from gpbe.exact import ValueFunction
    >>> walk = mdp.problem("random-walk-5")
    >>> problem = NonlinearProblem(walk, ValueFunction.linear(walk.features), lam=0.5)
    >>> found = stationary_points(problem, starts=np.zeros(3))[0]
    >>> bool(np.allclose(found.weights, exact.fixed_point(walk, "pbe", "behavior", lam=0.5)))
    True
    """
    return zero_gradients(problem.tangent, as_starts(starts, len(problem.function.start)), tolerance)


def fixed_points(
    problem: NonlinearProblem, algorithm: str, starts: Numbers, beta: float = 1.0, tolerance: float = 1e-8
) -> list[Point]:
    """Weights (w, theta) at which an algorithm moves neither in expectation, found from the starts.

    >>> import numpy as np
    >>> from gpbe import exact, mdp
    >>> from gpbe.exact import ValueFunction
    >>> walk = mdp.problem("random-walk-5")
    >>> problem = NonlinearProblem(walk, ValueFunction.linear(walk.features), lam=0.5)
    >>> found = fixed_points(problem, "tdrc", starts=np.zeros(3))[0]
    >>> bool(np.allclose(found.weights, exact.fixed_point(walk, "pbe", "behavior", lam=0.5)))
    True
    """
    begin = as_starts(starts, len(problem.function.start))
    return zero_updates(problem.tangent, begin, rule_of(algorithm, UPDATES, beta), beta, tolerance)
