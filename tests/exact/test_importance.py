"""Bias and variance of importance sampling: worked by hand, by enumeration of episodes, and where they are infinite."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from gpbe import exact, mdp


def bandit(target, behavior) -> mdp.PredictionProblem:
    """One state, two actions with rewards 1 and 3, and the episode ends."""
    reward = np.array([[[1.0], [3.0]]])
    return mdp.PredictionProblem(
        mdp.FiniteMDP(np.ones((1, 2, 1)), reward, np.zeros((1, 2, 1)), [1.0]), target, behavior
    )


def test_a_bandit_by_hand():
    """Ratios 0.5 / 0.25 = 2 and 0.5 / 0.75: E[rho^2 R^2] = 0.25 * 4 * 1 + 0.75 * (4 / 9) * 9 = 4, the value 2."""
    found = exact.importance_sampling(bandit([0.5, 0.5], [0.25, 0.75]), episodes=1)
    for name in ("is", "pdis"):
        assert found[name].variance == pytest.approx(4 - 4)
        assert found[name].bias == 0
    # E[rho^2 (R - 2)^2] = 0.25 * 4 + 0.75 * 4 / 9; E[rho^2 R] = 1 + 1, E[rho^2] = 1 + 1 / 3.
    assert found["wis"].variance == pytest.approx(1 + 1 / 3)
    assert found["wis"].bias == pytest.approx(-(2 - 2 * 4 / 3))


def short(rng) -> mdp.PredictionProblem:
    """Three states that are left for the next one or the end: no episode is longer than three steps."""
    transition = np.zeros((4, 2, 4))
    discount = np.zeros((4, 2, 4))
    for s in range(3):
        p = rng.uniform(0.2, 0.8, 2)
        transition[s, :, s + 1], transition[s, :, 0] = p, 1 - p
        discount[s, :, s + 1] = rng.uniform(0.5, 1, 2)
    transition[3, :, 0] = 1.0
    m = mdp.FiniteMDP(transition, rng.standard_normal((4, 2, 4)), discount, [1.0, 0, 0, 0])
    return mdp.PredictionProblem(m, rng.dirichlet(np.ones(2), 4), rng.dirichlet(np.ones(2), 4))


def outcomes(p, q):
    """Every episode from the first state: its probability, the product of its ratios, its return, and DR's estimate."""
    m, v = p.mdp, (p.target * q).sum(-1)

    def go(s, chance, ratio, reach, ret, dr):
        for a, after in itertools.product(range(2), range(4)):
            step = chance * p.behavior[s, a] * m.transition[s, a, after]
            if step == 0:
                continue
            rho = ratio * p.target[s, a] / p.behavior[s, a]
            r, gamma = m.reward[s, a, after], m.discount[s, a, after]
            more = ret + reach * r, dr + reach * (ratio * v[s] + rho * (r - q[s, a]))
            if gamma == 0:
                yield step, rho, *more
            else:
                yield from go(after, step, rho, reach * gamma, *more)

    return np.array(list(go(0, 1.0, 1.0, 1.0, 0.0, 0.0))).T


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_sums_over_all_episodes(seed):
    rng = np.random.default_rng(seed)
    p, q = short(rng), rng.standard_normal((4, 2))
    chance, ratio, ret, dr = outcomes(p, q)
    value = chance @ (ratio * ret)
    assert value == pytest.approx(p.values[0])
    assert chance @ dr == pytest.approx(value)
    found = exact.importance_sampling(p, episodes=7, action_values=q)
    assert found["is"].variance == pytest.approx(chance @ (ratio * ret - value) ** 2 / 7)
    assert found["dr"].variance == pytest.approx(chance @ (dr - value) ** 2 / 7)
    plain = outcomes(p, 0 * q)
    assert found["pdis"].variance == pytest.approx(plain[0] @ (plain[3] - value) ** 2 / 7)
    assert found["wis"].variance == pytest.approx(chance @ (ratio * (ret - value)) ** 2 / 7)
    assert found["wis"].bias == pytest.approx(-(chance @ (ratio**2 * (ret - value))) / 7)


def test_doubly_robust_around_the_truth_has_only_the_noise_of_the_environment():
    """Deterministic transitions and rewards, the right action values: no variance is left."""
    p = mdp.PredictionProblem(mdp.random_walk(3, 0.9), [0.3, 0.7], [0.5, 0.5])
    m = p.mdp
    q = (m.transition * (m.reward + m.discount * p.values)).sum(-1)
    assert exact.importance_sampling(p, action_values=q)["dr"].variance == pytest.approx(0, abs=1e-12)
    assert exact.importance_sampling(p)["pdis"].variance > 0.1


def test_a_variance_without_bound_is_infinite():
    """A loop that is left with probability 0.1: ratios of 1.8 half of the time grow by 0.9 * 1.64 a step."""
    transition = np.ones((1, 2, 1))
    m = mdp.FiniteMDP(transition, np.ones((1, 2, 1)), 0.99 * transition, [1.0])
    p = mdp.PredictionProblem(m, [0.9, 0.1], [0.5, 0.5])
    found = exact.importance_sampling(p)
    assert found["pdis"].variance == np.inf
    assert found["is"].variance == np.inf
    near = exact.importance_sampling(p.replace(target=[0.52, 0.48]))
    assert np.isfinite(near["pdis"].variance)


def test_a_batch_of_policies_is_each_policy():
    rng = np.random.default_rng(1)
    p = short(rng)
    targets = rng.dirichlet(np.ones(2), (3, 4))
    whole = exact.importance_sampling(p.replace(target=targets))
    for k in range(3):
        one = exact.importance_sampling(p.replace(target=targets[k]))
        for name in whole:
            np.testing.assert_allclose(whole[name].variance[k], one[name].variance, rtol=1e-9)


def test_sparse_problems_have_the_same_moments():
    p = short(np.random.default_rng(7))
    m = p.mdp
    arrays = ([csr_array(values[:, a]) for a in range(2)] for values in (m.transition, m.reward, m.discount))
    q = np.random.default_rng(8).standard_normal((4, 2))
    sparse = mdp.PredictionProblem(mdp.FiniteMDP(*arrays, m.start), p.target, p.behavior)
    for name, moments in exact.importance_sampling(p, 5, q).items():
        assert exact.importance_sampling(sparse, 5, q)[name] == pytest.approx(moments)
