"""A problem in its other form: the same MDP, policies and features from arrays, or from sparse matrices."""

import numpy as np
from scipy.sparse import csr_array, issparse

from gpbe import mdp


def as_sparse(problem: mdp.PredictionProblem, features: bool = False) -> mdp.PredictionProblem:
    m = problem.mdp
    if m.is_sparse:
        return problem
    arrays = (m.transition, m.reward, m.discount)
    matrices = ([csr_array(array[:, a]) for a in range(m.n_actions)] for array in arrays)
    other = mdp.FiniteMDP(*matrices, m.start, state_names=m.state_names, action_names=m.action_names)
    x = csr_array(problem.features) if features else problem.features
    return problem.replace(mdp=other, features=x, initial_weights=problem.initial_weights)


def as_dense(problem: mdp.PredictionProblem) -> mdp.PredictionProblem:
    m = problem.mdp
    if not m.is_sparse:
        return problem
    arrays = (np.stack([part.toarray() for part in parts], axis=1) for parts in (m.transition, m.reward, m.discount))
    other = mdp.FiniteMDP(*arrays, m.start, state_names=m.state_names, action_names=m.action_names)
    x = problem.features.toarray() if issparse(problem.features) else problem.features
    return problem.replace(mdp=other, features=x, initial_weights=problem.initial_weights)
