"""Control with networks: the gradient of PBE(lam), linear networks, and what streams do to a network on average."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe import InputError, mdp
from gpbe.algorithms.control import Spec
from gpbe.exact import ValueFunction, control
from gpbe.nets import flat, layout_of
from helpers.hand_traces import BETA, GAMMA, LAM, RATIO, learned, made
from helpers.samples import few

S, A, I, F = 5, 3, 2, 1
SIZE = I * F + F + A * F + A
RNG = np.random.default_rng(6)
X = RNG.standard_normal((S, I))
BEHAVIOR = RNG.dirichlet(np.ones(A), S)
PHI = RNG.standard_normal((S, A, 4))


class Unit(eqx.Module):
    """q(x, a) = out[a] tanh(u.x + b) + bias[a]."""

    u: jax.Array
    b: jax.Array
    out: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return self.out * jnp.tanh(self.u @ x + self.b) + self.bias


NET = Unit(*(jnp.asarray(RNG.standard_normal(n)) for n in ((I,), (), (A,), (A,))))
Q = ValueFunction.of(lambda net: jax.vmap(net)(jnp.asarray(X)), NET)


def problem(projection=None, tau=0.0, function=Q):
    m = mdp.random_mdp(S, A, 3, 0.9, rng=np.random.default_rng(2), termination=0.1)
    return control.ControlProblem(m, function, control.visits(m, BEHAVIOR), projection, tau)


def slope(objective, w, step=1e-6):
    return np.array([(objective(w + e) - objective(w - e)) / (2 * step) for e in step * np.eye(len(w))])


@pytest.mark.parametrize("lam", [0.0, LAM])
@pytest.mark.parametrize("tau", [0.0, 0.7])
@pytest.mark.parametrize("projection", [None, PHI], ids=["gradient", "given"])
def test_the_gradient_is_that_of_finite_differences(projection, tau, lam):
    p = problem(projection, tau)
    numeric = slope(lambda w: control.lambda_projected_error(p, w, BEHAVIOR, lam), Q.start)
    got = control.lambda_projected_gradient(p, Q.start, BEHAVIOR, lam)
    np.testing.assert_allclose(got, numeric, rtol=1e-5, atol=1e-6)
    # With H at its best, QC-LL follows it for gradient features, and GQ without beta for features that are given.
    name = "qc-ll" if projection is None else "gq"
    theta = control.tangent(p, Q.start, BEHAVIOR, lam).best_theta()
    moved = control.expected_traced_update(p, name, Q.start, theta, BEHAVIOR, lam, beta=0.0)
    np.testing.assert_allclose(moved.w, -got / 2, atol=1e-9)
    if projection is None:
        without = control.expected_traced_update(p, "qc", Q.start, theta, BEHAVIOR, lam).w
        assert np.linalg.norm(without + got / 2) > 1e-3 * np.linalg.norm(got)


def test_a_linear_network_is_the_linear_problem():
    x = RNG.standard_normal((S, A, 4))
    linear = problem(function=x)
    as_network = problem(function=ValueFunction.of(lambda w: jnp.asarray(x.reshape(-1, 4)) @ w, jnp.zeros(4)))
    w, theta = np.random.default_rng(1).standard_normal((2, 4))
    for lam in (0.0, LAM):
        for name in control.UPDATES:
            both = [control.expected_traced_update(p, name, w, theta, BEHAVIOR, lam, 0.3) for p in (linear, as_network)]
            np.testing.assert_allclose(np.concatenate(both[0]), np.concatenate(both[1]), atol=1e-12)
        errors = [control.lambda_projected_error(p, w, BEHAVIOR, lam) for p in (linear, as_network)]
        assert errors[0] == pytest.approx(errors[1])


def test_updates_vanish_at_the_points_that_are_found():
    p = problem(PHI, tau=0.5)
    points = control.lambda_stationary_points(p, BEHAVIOR, LAM, starts=Q.start, tolerance=1e-6)
    assert points
    for point in points:
        still = control.expected_traced_update(p, "gq", point.weights, point.theta, BEHAVIOR, LAM, beta=0.0)
        np.testing.assert_allclose(np.concatenate(still), 0, atol=1e-6)
    one_step = control.stationary_points(p, starts=Q.start, tolerance=1e-6)
    for point in one_step:
        np.testing.assert_allclose(control.projected_bellman_gradient(p, point.weights), 0, atol=1e-6)


@pytest.mark.parametrize("name", few(["qrc-lambda, gradients", "gq-lambda, gradients"], ["gq-lambda, gradients"]))
def test_streams_move_a_network_by_this_on_average(name):
    """`gpbe.train`'s update, weights held still, over rounds through five states; in 32 bits.

    The behavior does not explore by chance: some of its actions are greedy and others cut traces off.
    """
    following, actions = np.array([1, 2, 3, 4, 0]), np.array([0, 2, 1, 1, 0])
    transition, discount = np.zeros((S, A, S)), np.full((S, A, S), GAMMA)
    transition[np.arange(S), :, following] = 1
    discount[4] = 0
    m = mdp.FiniteMDP(transition, RNG.standard_normal((S, A, S)), discount, np.eye(S)[0])
    agent, hypers = made(name)
    tree = agent.start(Spec((I,), A, (F,), None), jax.random.key(1))
    w = flat(tree) + 0.5 * jnp.asarray(np.random.default_rng(0).standard_normal(2 * SIZE), jnp.float32)
    net = layout_of(tree).tree(w).q
    q = ValueFunction.of(lambda net: net(jnp.asarray(X.T)).T, net)
    behavior = np.eye(A)[actions]
    p = control.ControlProblem(m, q, control.visits(m, behavior))
    best = p.values(q.start).argmax(1)
    rounds = np.tile(np.arange(S), 2)
    stream = {
        "s": X[rounds],
        "s2": X[following[rounds]],
        "a": actions[rounds],
        "r": m.reward[rounds, actions[rounds], following[rounds]],
        "g": discount[rounds, 0, following[rounds]],
        "done": rounds == 4,
        "greedy": best[rounds] == actions[rounds],
    }
    assert 0 < stream["greedy"].sum() < len(rounds)
    got, all_weights = learned(agent, stream, hypers, w, frozen=True, inputs=I, actions=A, hidden=(F,))
    theta = all_weights[SIZE:]
    short = name.partition("-")[0]
    want = control.expected_traced_update(p, short, q.start, theta, behavior, LAM, BETA)
    np.testing.assert_allclose(got[:SIZE] / len(rounds), want.w, atol=2e-4)
    np.testing.assert_allclose(got[SIZE:] / len(rounds), RATIO * want.theta, atol=2e-4)
    assert np.abs(want.w).max() > 0.05


def test_mistakes_are_told():
    m = problem().mdp
    for wrong, message in (
        (
            lambda: control.ControlProblem(m, ValueFunction.linear(np.eye(3))),
            r"it should be \(15,\), one for each pair",
        ),
        (lambda: control.stationary_points(problem()), "need starts"),
        (lambda: control.tangent(problem(), Q.start, lam=0.5), "depend on the behavior"),
        (lambda: problem().x, "linear action values only"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()
