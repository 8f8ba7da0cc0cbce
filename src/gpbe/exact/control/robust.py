"""The Huber and the absolute PBE of control: the conjugate of `objectives` with a bounded h.

    HPBE(w) = max { sum_sa d(s, a) (2 u(s, a) h(s, a) - h(s, a)^2) : h in H, |h| <= huber }
    APBE(w) = max { sum_sa d(s, a)    u(s, a) h(s, a)              : h in H, |h| <= 1 }

As `huber` grows the first becomes the PBE; over 2 `huber`, as that shrinks, the second. By the envelope theorem their
gradients are 2 U'D h and U'D h at the maximizing h, with U = du/dw: what the saddlepoint form follows. If H has every
function, h is u clipped at `huber`. `lam` is of lambda-returns, for which the behavior must be known.
"""

from gpbe.exact.conjugates import BoundedH, as_threshold, bounded_regression
from gpbe.exact.control.objectives import ControlProblem, tangent
from gpbe.exact.control.stationary import first_points
from gpbe.exact.resting import Point, zero_gradients
from gpbe.shapes import Numbers, Weights


def huber_projected_error(
    problem: ControlProblem, w: Numbers, huber: float, behavior: Numbers | None = None, lam: float = 0.0
) -> float:
    """HPBE of w; for `huber` = 0 the APBE.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> [round(huber_projected_error(coin, [0.0, 0.0], huber), 6) for huber in (2.0, 0.5, 0.0)]  # errors of 1 and 0
    [0.5, 0.375, 0.5]
    """
    return bounded_h(problem, w, huber, behavior, lam).error


def huber_projected_gradient(
    problem: ControlProblem, w: Numbers, huber: float, behavior: Numbers | None = None, lam: float = 0.0
) -> Weights:
    """The gradient of HPBE, away from ties; of the APBE, where the maximizing h is the only one, for `huber` = 0.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> huber_projected_gradient(coin, [2.0, 1.0], huber=0.5)  # at q*
    array([0., 0.])
    """
    return tangent(problem, w, behavior, lam).gradient(as_threshold(huber, zero=True))


def bounded_h(
    problem: ControlProblem, w: Numbers, huber: float, behavior: Numbers | None = None, lam: float = 0.0
) -> BoundedH:
    """The maximizing h over state-action pairs, and a certificate that no other attains more than `gap` above it.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> bounded_h(coin, [0.0, 0.0], huber=0.5).h.round(6) + 0.0  # the errors 1 and 0, clipped
    array([0.5, 0. ])
    """
    t = tangent(problem, w, behavior, lam)
    return bounded_regression(t.errors, t.features, t.d, as_threshold(huber, zero=True))[0]


def huber_stationary_points(
    problem: ControlProblem,
    huber: float,
    behavior: Numbers | None = None,
    lam: float = 0.0,
    starts: Numbers | None = None,
    tolerance: float = 1e-8,
) -> list[Point]:
    """Zeros of the gradient of HPBE, best first, from the starts of `stationary_points`, where no actions tie.

    >>> import numpy as np
    >>> from gpbe.mdp import FiniteMDP
    >>> coin = ControlProblem(FiniteMDP(np.ones((1, 2, 1)), reward=[[[1.0], [0.0]]], discount=0.5))
    >>> huber_stationary_points(coin, huber=0.5, starts=[[1.0, 0.0]])[0].weights.round(6)  # q*
    array([2., 1.])
    """
    bound, begin = as_threshold(huber), first_points(problem, starts)
    return zero_gradients(lambda w: tangent(problem, w, behavior, lam), begin, tolerance, bound)
