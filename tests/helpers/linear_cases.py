"""The linear algorithms, and what the paper and `gpbe.exact` say about each of them: shared by the tests."""

from functools import partial

import numpy as np

from gpbe import exact, mdp
from gpbe.algorithms.linear import ALGORITHMS, Algorithm, Limits, expected_update

# Table of methods in the paper's appendix, with LSTD and TDRC where their objectives put them.
PAPER = {
    "d_b": "td gtd tdc gtd2 gtd2-mp htd tdrc tree-backup gradient-tree-backup v-trace ab-trace svrg saga lstd "
    "huber-tdc huber-tdrc huber-gtd2",
    "m": "etd lsetd emphatic-gtd emphatic-htd emphatic-gtd2 emphatic-gtd2-mp emphatic-tdrc emphatic-svrg emphatic-saga",
    "between d_b and m": "etd-beta",
    "d_pi": "alternative-life-td alternative-life-gtd alternative-life-htd alternative-life-gtd2 "
    "alternative-life-gtd2-mp alternative-life-tdrc alternative-life-svrg alternative-life-saga alternative-life-lstd",
}
WEIGHTING = {name: weighting for weighting, names in PAPER.items() for name in names.split()}
# TD without prior corrections is not guaranteed to converge (section 3.1), whatever its trace (Touati et al. 2018);
# ETD(lambda, beta) is if beta is large enough (Hallak et al. 2016).
NOT_SOUND = {"td", "tree-backup", "v-trace", "ab-trace", "etd-beta"}

# Points of the algebra that have no name: the axes are free to combine.
COMBINED = {
    "emphatic tree backup, gradient": Algorithm("emphatic", "tree-backup", "gradient-correction"),
    "emphatic ab-trace, hybrid": Algorithm("emphatic", "ab-trace", "hybrid"),
    "decayed tree backup": Algorithm("emphatic", "tree-backup", decayed_followon=True),
    "alternative-life v-trace, saddlepoint": Algorithm("alternative-life", "v-trace", "saddlepoint"),
}
EVERY = {**ALGORITHMS, **COMBINED}
DIRECTED = [name for name, a in EVERY.items() if a.update != "least-squares"]
TRACES = {(a.prior, a.bootstrapping, a.decayed_followon): name for name, a in EVERY.items()}
"""One algorithm for each kind of trace."""

LAM, C_BAR, DECAY, BETA = 0.9, 0.8, 0.5, 0.7


def problem_of(seed: int, on_policy: bool = False) -> mdp.PredictionProblem:
    """Seven states, three actions, five features; ratios below 2."""
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(7, 3, 3, gamma=0.8, rng=rng, termination=0.25)
    target = rng.dirichlet(np.ones(3), 7)
    behavior = target if on_policy else 0.5 * target + 0.5 / 3
    return mdp.PredictionProblem(m, target, behavior, rng.standard_normal((7, 5)))


def walk() -> mdp.PredictionProblem:
    """Behavior and target end episodes at different rates; a2 has probability 0 in one state."""
    target = np.array([[0.4, 0.6], [0.0, 1.0], [0.3, 0.7], [0.5, 0.5], [0.4, 0.6]])
    x = np.random.default_rng(5).standard_normal((5, 3))
    return mdp.PredictionProblem(mdp.random_walk(5, gamma=0.9), target, [0.5, 0.5], x)


PROBLEMS = {"random": partial(problem_of, 3), "walk": walk}


# ---------------------------------------------------------------- what `exact` says about an algorithm


def lambdas(problem: mdp.PredictionProblem, a: Algorithm, lam, scaled_by: mdp.PredictionProblem) -> np.ndarray:
    """lam(s, a, s') by the definitions: V-trace from min(c_bar, rho), AB-Trace from Mahmood et al. (2017)."""
    b, pi = problem.behavior, problem.target
    largest = np.maximum(b, scaled_by.target)
    psi_0, psi_max = 1 / largest.max(), 1 / largest[b > 0].min()
    psi = 2 * LAM * psi_0 + max(0, 2 * LAM - 1) * (psi_max - 2 * psi_0)
    table = np.zeros(problem.mdp.transition.shape)
    for s, i, n in np.ndindex(table.shape):
        arrival = np.broadcast_to(lam, problem.mdp.n_states)[n]
        if a.bootstrapping == "importance":
            table[s, i, n] = arrival
        elif a.bootstrapping == "tree-backup":
            table[s, i, n] = arrival * b[s, i]  # so that lam rho = lam pi
        elif a.bootstrapping == "v-trace":
            rho = pi[s, i] / b[s, i]
            table[s, i, n] = arrival * (min(C_BAR, rho) / rho if rho else 1)
        else:
            table[s, i, n] = min(psi, 1 / max(b[s, i], pi[s, i])) * b[s, i]
    return table


def end_rate(problem: mdp.PredictionProblem, policy: np.ndarray, d: np.ndarray) -> float:
    """Episodes that end per transition."""
    ends = (problem.mdp.transition * (problem.mdp.discount == 0)).sum(-1)
    return float(d @ (policy * ends).sum(-1))


def weights_of(problem: mdp.PredictionProblem, a: Algorithm, table: np.ndarray) -> np.ndarray:
    """The state weighting of the algorithm's objective, from `exact` alone."""
    if a.prior == "none":
        return exact.weighting(problem, "behavior")
    if a.prior == "emphatic":
        return exact.weighting(problem, "emphatic", table, beta=DECAY if a.decayed_followon else None)
    d_b, d_pi = exact.weighting(problem, "behavior"), exact.weighting(problem, "target")
    # There are as many alternative lives as episodes of the behavior, each as long as the target's.
    return d_pi * end_rate(problem, problem.behavior, d_b) / end_rate(problem, problem.target, d_pi)


def system_of(problem: mdp.PredictionProblem, name: str, scaled_by=None) -> exact.LinearSystem:
    a = EVERY[name]
    table = lambdas(problem, a, LAM, scaled_by or problem)
    return exact.linear_system(problem, weights_of(problem, a, table), table)


def update_of(problem: mdp.PredictionProblem, name: str, w, h, lam=LAM, rho_bar=np.inf):
    a = EVERY[name]
    beta = BETA if a.regularized else 0.0
    return expected_update(problem, a, w, h, lam, Limits(C_BAR, rho_bar, DECAY), beta=beta)


def fixed_point(problem: mdp.PredictionProblem, name: str, lam: float) -> np.ndarray:
    """From the table of the paper: the PBE under d_b, m or d_pi."""
    d = {"d_b": "behavior", "d_pi": "target", "m": exact.weighting(problem, "emphatic", lam)}[WEIGHTING[name]]
    return exact.fixed_point(problem, "pbe", d, lam=lam)
