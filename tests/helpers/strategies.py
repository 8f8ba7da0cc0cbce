"""Random prediction problems for property tests: every problem is a pure function of a seed and a few choices."""

from collections.abc import Callable
from functools import partial

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from gpbe import features, mdp

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=30, deadline=None, derandomize=True)

KINDS = ("continuing", "episodic", "undiscounted", "mixed")
REPRESENTATIONS = ("random", "repeated", "aggregated", "table")
NARROW = ("random", "repeated", "aggregated")
"""Representations that leave something out."""
OFF_POLICY = ("off-policy",)
BOTH = ("off-policy", "on-policy")


def random_problem(
    seed: int,
    states: int = 5,
    kind: str = "mixed",
    representation: str = "random",
    policies: str = "off-policy",
    columns: int | None = None,
) -> mdp.PredictionProblem:
    """A random MDP, policies and features.

    Kinds: `continuing` has one discount of 0.9; `episodic` the same and ends; `undiscounted` ends, and discounts
    nothing before; `mixed` has a random discount on every transition, sometimes 1 and sometimes 0.
    """
    rng = np.random.default_rng(seed)
    m = random_mdp(rng, states, kind)
    target = rng.dirichlet(np.full(m.n_actions, 0.5), states)
    target[0] = np.eye(m.n_actions)[rng.integers(m.n_actions)]
    behavior = target if policies == "on-policy" else rng.dirichlet(np.ones(m.n_actions), states)
    return mdp.PredictionProblem(m, target, behavior, random_features(rng, states, representation, columns))


def random_mdp(rng: np.random.Generator, states: int, kind: str) -> mdp.FiniteMDP:
    gamma = 1.0 if kind == "undiscounted" else 0.9
    termination = 0.15 if kind in ("episodic", "undiscounted") else 0.0
    branching = int(rng.integers(1, max(2, states - 1)))
    m = mdp.random_mdp(states, 3, branching, gamma, rng=rng, termination=termination)
    if kind != "mixed":
        return m
    discount = rng.choice([0.0, 0.5, 0.95, 1.0], size=m.transition.shape, p=[0.1, 0.3, 0.3, 0.3])
    discount[0] = np.minimum(discount[0], 0.95)  # so that no policy goes on for ever
    return mdp.FiniteMDP(m.transition, m.reward, discount, m.start)


def random_features(
    rng: np.random.Generator, states: int, representation: str, columns: int | None = None
) -> np.ndarray:
    """`random` is a narrow Gaussian matrix, `repeated` has linearly dependent columns."""
    columns = columns or int(rng.integers(1, states))
    if representation == "table":
        return np.eye(states)
    if representation == "aggregated":
        return features.aggregation(rng.integers(columns, size=states))
    x = rng.standard_normal((states, columns))
    return x if representation == "random" else np.concatenate([x, x @ rng.standard_normal((columns, 2))], axis=1)


def prediction_problems(
    kinds: tuple[str, ...] = KINDS,
    representations: tuple[str, ...] = REPRESENTATIONS,
    policies: tuple[str, ...] = BOTH,
    most_states: int = 6,
) -> st.SearchStrategy[Callable[[], mdp.PredictionProblem]]:
    """Problems yet to be made: a test calls what it is given.

    Made outside of the strategy because beartype draws random numbers, which Hypothesis does not allow inside.
    """
    return st.builds(
        partial,
        st.just(random_problem),
        seed=seeds,
        states=st.integers(3, most_states),
        kind=st.sampled_from(kinds),
        representation=st.sampled_from(representations),
        policies=st.sampled_from(policies),
    )


def random_weighting(rng: np.random.Generator, states: int) -> np.ndarray:
    return rng.dirichlet(np.ones(states)) * rng.uniform(0.5, 3)


def stack(problems: list[mdp.PredictionProblem]) -> mdp.PredictionProblem:
    """One batch of problems of equal sizes."""
    m = [p.mdp for p in problems]
    return mdp.PredictionProblem(
        mdp.FiniteMDP(
            *(np.stack([getattr(one, f) for one in m]) for f in ("transition", "reward", "discount", "start"))
        ),
        np.stack([p.target for p in problems]),
        np.stack([p.behavior for p in problems]),
        np.stack([p.features for p in problems]),
    )
