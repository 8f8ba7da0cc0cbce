"""A projected Bellman error at some weights, to first order: one definition, whatever the values and returns are.

Over N states (or state-action pairs) weighted by d, with values v of weights w, let e = E[delta^lam | s] be the errors
of lambda-returns, U = de/dw their slope, J = dv/dw the gradients of the values and Phi the features of H. Then

    PBE(lam) = max { <d, 2 e h - h^2> : h = Phi theta },      -1/2 grad PBE(lam) = -U'D h - B

at the h that attains it (with a bound on h this is the Huber PBE, see `conjugates`). B is 0 if H is given. If H is the
span of J, it moves with w, and B = sum_s d(s) (e(s) - h(s)) Hess v(s) theta (Maei et al. 2009).

In expectation, in the long run where they have traces, algorithms move the weights by

    saddlepoint    w: -U'D h                   theta: Phi'D (e - h) - beta theta
    correction     w: J'D (e - h) - U'D h      theta: the same
    none           w: J'D e

and by -B besides if they have the term of the curvature. So with the best theta and beta = 0 the saddlepoint form is
-1/2 the gradient for an H that is given, and the correction is, too, if span(J) lies in H. With H = span(J) both are so
only with the term of the curvature. Linear values have J = X and no B; lam = 0 is the one-step PBE.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from gpbe.checks import as_floats, check_known, check_shape
from gpbe.errors import InputError
from gpbe.exact.conjugates import bounded_regression
from gpbe.exact.projections import as_ridge, weighted_basis
from gpbe.shapes import Array, Numbers, Weights

Form = Literal["correction", "saddlepoint", "none"]


class Rule(NamedTuple):
    """How an algorithm moves its weights."""

    form: Form
    penalized: bool = False
    """Does beta shrink theta?"""
    curvature: bool = False
    """Has it the term B, for gradient features?"""


class Update(NamedTuple):
    """Mean directions of the weights of the values and of h."""

    w: Weights
    theta: Weights


class Best(NamedTuple):
    """The h that attains a projected error."""

    h: Float[Array, " N"]
    theta: Weights
    left: Float[Array, " N"]
    """What h leaves of the errors, without outliers, times d: orthogonal to H."""


class Tangent(NamedTuple):
    """What a projected Bellman error, and whoever learns by it, sees of a value function at some weights."""

    d: Float[Array, " N"]
    errors: Float[Array, " N"]
    """The mean error e of the return in each state or pair."""
    slope: Float[Array, "N K"]
    """U, the derivative of the errors."""
    jacobian: Float[Array, "N K"]
    """J, the derivative of the values."""
    features: Float[Array, "N M"]
    """Phi, of H."""
    bend: Callable[[Weights, Array], Weights] | None = None
    """(theta, c) -> sum_s c(s) Hess v(s) theta where H is spanned by the gradients of v; None if H does not move."""

    def residual(self, ridge: Numbers = 0.0) -> Float[Array, " R"]:
        """A vector whose squared length is the PBE: the weighted errors in coordinates of H."""
        return weighted_basis(self.features, self.d, ridge).T @ (np.sqrt(self.d) * self.errors)

    def error(self, huber: float = np.inf) -> float:
        """The PBE; the Huber PBE with that bound on h, or the absolute PBE for a bound of 0."""
        if np.isinf(huber):
            return float((self.residual() ** 2).sum())
        return bounded_regression(self.errors, self.features, self.d, huber)[0].error

    def gradient(self, huber: float = np.inf, ridge: Numbers = 0.0) -> Weights:
        """The gradient of `error` in w, where H keeps its dimension (and the greedy action is one)."""
        best = self.best(huber, ridge)
        turned = self.bend(best.theta, best.left) if self.bend else 0.0
        return (1 if huber == 0 else 2) * ((self.d * best.h) @ self.slope + turned)

    def best(self, huber: float = np.inf, ridge: Numbers = 0.0) -> Best:
        """The h that attains `error`; without a bound there may be a penalty on the weights of h."""
        if np.isinf(huber):
            theta = self.best_theta(ridge)
            h = self.features @ theta
            return Best(h, theta, self.d * (self.errors - h))
        found, outliers = bounded_regression(self.errors, self.features, self.d, huber)
        explained = found.h if huber else 0.0
        return Best(found.h, found.weights, self.d * (self.errors - explained - outliers))

    def best_theta(self, ridge: Numbers = 0.0) -> Weights:
        """The theta at which its own update stops: (Phi'D Phi + R)^+ Phi'D e, of least norm; R = beta I of QRC."""
        root, m = np.sqrt(self.d), self.features.shape[1]
        penalty = np.broadcast_to(as_ridge(ridge), m)
        free = np.isfinite(penalty)
        rows, target = root[:, None] * self.features * free, root * self.errors
        if penalty.any():
            rows = np.concatenate([rows, np.diag(np.sqrt(np.where(free, penalty, 0.0)))])
            target = np.concatenate([target, np.zeros(m)])
        return np.linalg.lstsq(rows, target, rcond=1e-12)[0]

    def resting_theta(self, rule: Rule, beta: float) -> Weights:
        """The theta that an algorithm does not move; 0 if it has none."""
        if rule.form == "none":
            return np.zeros(self.features.shape[1])
        return self.best_theta(beta if rule.penalized else 0.0)

    def update(self, rule: Rule, theta: Numbers, beta: float) -> Update:
        """The mean directions of an algorithm."""
        theta = as_floats(theta, "theta")
        check_shape(theta, (self.features.shape[1],), "theta", "features of H")
        if rule.form == "none":
            return Update((self.d * self.errors) @ self.jacobian, 0 * theta)
        h = self.features @ theta
        left = self.d * (self.errors - h)
        d_w = -(self.d * h) @ self.slope
        if rule.form == "correction":
            d_w = d_w + left @ self.jacobian
        if rule.curvature and self.bend:
            d_w = d_w - self.bend(theta, left)
        return Update(d_w, left @ self.features - (beta if rule.penalized else 0.0) * theta)


def rule_of(algorithm: str, rules: dict[str, Rule], beta: float) -> Rule:
    """The rule of an algorithm, and whether beta may be a penalty."""
    check_known(algorithm, rules, "update")
    if not beta >= 0:
        raise InputError(f"beta is {beta:g}; it should be 0 or more")
    return rules[algorithm]
