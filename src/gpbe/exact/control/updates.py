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

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats, check_known, check_shape
from gpbe.errors import InputError
from gpbe.exact.control.objectives import ControlProblem, expected_td_error
from gpbe.shapes import Array, Numbers, Weights

Form = Literal["correction", "saddlepoint", "none"]
UPDATES: dict[str, Form] = {"qrc": "correction", "qc": "correction", "gq": "saddlepoint", "q-learning": "none"}
"""QC is QRC with beta = 0; Q-learning is QRC without h."""


class Update(NamedTuple):
    """Mean directions of the weights of q and of h."""

    w: Weights
    theta: Weights


def expected_update(problem: ControlProblem, algorithm: str, w: Numbers, theta: Numbers, beta: float = 1.0) -> Update:
    """The mean of an algorithm's update over pairs drawn from d. `beta` is for QRC and GQ; QC has none.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> expected_update(coin, "q-learning", [0.0, 0.0], [0.0, 0.0]).w  # half of the time, a reward of 1
    array([0.5, 0. ])
    """
    form, beta = form_of(algorithm, beta)
    w, theta = problem.weights(w), as_floats(theta, "theta")
    check_shape(theta, (problem.phi.shape[1],), "theta", "features of H")
    d, x, phi = problem.d, problem.x, problem.phi
    u, h, g = expected_td_error(problem, w), phi @ theta, problem.bootstrapped(w)
    d_theta = (d * (u - h)) @ phi - beta * theta
    if form == "none":
        return Update((d * u) @ x, 0 * theta)
    return Update((d * u) @ x - (d * h) @ g if form == "correction" else (d * h) @ (x - g), d_theta)


def best_theta(problem: ControlProblem, w: Numbers, beta: float = 0.0, errors: Array | None = None) -> Weights:
    """The theta at which its own update stops: (Phi'D Phi + beta I)^+ Phi'D u, of least norm.

    `errors` are those that h regresses on, if not u: with traces, u^lam.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> best_theta(coin, [0.0, 0.0])  # of a table the TD errors
    array([1., 0.])
    """
    root = np.sqrt(problem.d)
    errors = expected_td_error(problem, w) if errors is None else errors
    rows, target = root[:, None] * problem.phi, root * errors
    if beta:
        m = problem.phi.shape[1]
        rows, target = np.concatenate([rows, np.sqrt(beta) * np.eye(m)]), np.concatenate([target, np.zeros(m)])
    return np.linalg.lstsq(rows, target, rcond=1e-12)[0]


def reduced_update(problem: ControlProblem, algorithm: str, w: Numbers, beta: float = 1.0) -> Weights:
    """How w moves when h is at its own optimum: for GQ without beta, and for QC if F lies in H, -1/2 grad PBE.

    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> reduced_update(coin, "qc", [2.0, 1.0])  # at q*
    array([0., 0.])
    """
    form, beta = form_of(algorithm, beta)
    theta = np.zeros(problem.phi.shape[1]) if form == "none" else best_theta(problem, w, beta)
    return expected_update(problem, algorithm, w, theta, beta).w


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
    k = problem.x.shape[1]

    def move(z: Array) -> Array:
        return np.concatenate(expected_update(problem, algorithm, z[:k], z[k:], beta))

    directions = step * np.eye(len(joint))
    return np.stack([(move(joint + e) - move(joint - e)) / (2 * step) for e in directions], axis=1)


def form_of(algorithm: str, beta: float) -> tuple[Form, float]:
    """How an update moves w, and its penalty on h."""
    check_known(algorithm, UPDATES, "update")
    if not beta >= 0:
        raise InputError(f"beta is {beta:g}; it should be 0 or more")
    return UPDATES[algorithm], 0.0 if algorithm in ("qc", "q-learning") else float(beta)
