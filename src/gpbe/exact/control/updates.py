"""What linear QRC, QC, GQ and Q-learning do in expectation (paper, sections 8.1 and 8.2).

With h = Phi theta, u = E[delta | s, a] and G = E[gamma grad m | s, a], over pairs weighted by D:

    gradient correction (QRC, QC)   w: X'D u - G'D h        theta: Phi'D (u - h) - beta theta
    saddlepoint (GQ)                w: (X - G)'D h          theta: the same

The two differ by X'D (u - h), what is left of the regression of u on H, seen by the features of q. At the best theta
without a penalty that is 0 if span(X) lies in span(Phi), and only then for every w. (The paper asks for the
converse, that h be a linear function of the gradient of q; a smaller H than F meets that and breaks the equality.)

With H = F and the best theta, X'D u = (C + beta) theta with C = X'DX, so QRC moves w by (A + beta I)'theta with
A = X'D (X - G): its stationary points are the zeros of X'D u, and points where A(w) + beta I is singular.
"""

import numpy as np
from jaxtyping import Float

from gpbe.exact.control.objectives import ControlProblem, tangent
from gpbe.exact.tangent import Rule, Update, rule_of
from gpbe.shapes import Array, Numbers, Weights

UPDATES: dict[str, Rule] = {
    "qrc": Rule("correction", penalized=True),
    "qc": Rule("correction"),
    "qc-ll": Rule("correction", curvature=True),
    "gq": Rule("saddlepoint", penalized=True),
    "q-learning": Rule("none"),
}
"""QC is QRC with beta = 0, and QC-LL is QC with the term of the curvature; Q-learning is QRC without h."""


def expected_update(problem: ControlProblem, algorithm: str, w: Numbers, theta: Numbers, beta: float = 1.0) -> Update:
    """The mean of an algorithm's update over pairs drawn from d. `beta` is for QRC and GQ; QC has none.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> expected_update(coin, "q-learning", [0.0, 0.0], [0.0, 0.0]).w  # half of the time, a reward of 1
    array([0.5, 0. ])
    """
    return tangent(problem, w).update(rule_of(algorithm, UPDATES, beta), theta, beta)


def best_theta(problem: ControlProblem, w: Numbers, beta: float = 0.0) -> Weights:
    """The theta at which its own update stops: (Phi'D Phi + beta I)^+ Phi'D u, of least norm.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> best_theta(coin, [0.0, 0.0])  # of a table the TD errors
    array([1., 0.])
    """
    return tangent(problem, w).best_theta(beta)


def reduced_update(problem: ControlProblem, algorithm: str, w: Numbers, beta: float = 1.0) -> Weights:
    """How w moves when h is at its own optimum: for GQ without beta, and for QC if F lies in H, -1/2 grad PBE.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> reduced_update(coin, "qc", [2.0, 1.0])  # at q*
    array([0., 0.])
    """
    t, rule = tangent(problem, w), rule_of(algorithm, UPDATES, beta)
    return t.update(rule, t.resting_theta(rule, beta), beta).w


def update_jacobian(
    problem: ControlProblem, algorithm: str, w: Numbers, theta: Numbers, beta: float = 1.0, step: float = 1e-6
) -> Float[Array, "J J"]:
    """Derivative of the joint update of (w, theta), by central differences: eigenvalues left of 0 mean stable.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> bool(np.linalg.eigvals(update_jacobian(coin, "qrc", [2.0, 1.0], [0.0, 0.0])).real.max() < 0)  # stable
    True
    """
    joint = np.concatenate([np.asarray(w, dtype=float), np.asarray(theta, dtype=float)])
    k = len(problem.function.start)

    def move(z: Array) -> Array:
        return np.concatenate(expected_update(problem, algorithm, z[:k], z[k:], beta))

    directions = step * np.eye(len(joint))
    return np.stack([(move(joint + e) - move(joint - e)) / (2 * step) for e in directions], axis=1)
