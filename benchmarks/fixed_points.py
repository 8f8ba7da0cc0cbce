"""How fast are the fixed points of the random-walk figure computed?

Run with nothing else on the machine: `python benchmarks/fixed_points.py [draws]`. Everything is measured in one run:

- one PBE and one BE solution of a 19 x 9 problem, matrices assembled, in batches on one core;
- the same by a loop over problems with `numpy.linalg.solve`, which is what a script would do;
- the whole figure (every representation, weighting and objective) on one core and on all, with peak memory.
"""

import json
import os
import resource
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from gpbe import experiments, features, mdp
from gpbe.exact.many import FixedPoints
from gpbe.exact.weightings import weighting
from gpbe.experiments.random_walk import computation as random_walk
from gpbe.experiments.study import Study

BATCH = 1000


def problems(n: int) -> mdp.PredictionProblem:
    rng = np.random.default_rng(0)
    target, behavior = rng.dirichlet([1.0, 1.0], size=(2, n, 19))
    x = features.random_network(19, rng=rng, batch=(n,))
    problem = mdp.PredictionProblem(mdp.random_walk(19, 0.99), target, behavior, x)
    for name in ("values", "bellman_matrix", "expected_reward", "behavior_distribution"):
        getattr(problem, name)  # given, as they are to a solver that takes P, r and d
    return problem


def batched(problem: mdp.PredictionProblem, d: np.ndarray) -> np.ndarray:
    solver = FixedPoints(problem)
    return np.stack([solver.values("pbe", d), solver.values("be", d)])


def looped(problem: mdp.PredictionProblem, d: np.ndarray) -> np.ndarray:
    """A loop over problems, skipping those with dependent features, which `solve` cannot do."""
    out = []
    for x, l, r, weights in zip(problem.features, problem.bellman_matrix, problem.expected_reward, d, strict=True):
        lx, dx = l @ x, x * weights[:, None]
        dlx = lx * weights[:, None]
        try:
            out.append((x @ np.linalg.solve(dx.T @ lx, dx.T @ r), x @ np.linalg.solve(dlx.T @ lx, dlx.T @ r)))
        except np.linalg.LinAlgError:
            out.append((np.full(19, np.nan), np.full(19, np.nan)))
    return np.moveaxis(np.array(out), 1, 0)


def microseconds(function, *arguments, items: int, repeats: int) -> float:
    best = np.inf
    for _ in range(repeats):
        started = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - started)
    return best / items * 1e6


def main(draws: int) -> dict:
    os.sched_setaffinity(0, {0})
    problem = problems(BATCH)
    d = weighting(problem, "behavior")
    fast = microseconds(batched, problem, d, items=BATCH, repeats=20)
    slow = microseconds(looped, problem, d, items=BATCH, repeats=3)
    figure = microseconds(random_walk.solve_chunk, 0, 0, BATCH, items=BATCH, repeats=5)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    started = time.perf_counter()
    study = Study("random-walk", "the figure", "draws", "quick", tuple(random_walk.pieces_of(draws)))
    with tempfile.TemporaryDirectory() as folder:
        experiments.run(study, folder)
    seconds = time.perf_counter() - started
    usage = [resource.getrusage(who).ru_maxrss / 2**10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "microseconds for one PBE and one BE solution, batched": round(fast, 2),
        "microseconds for the same, numpy loop": round(slow, 1),
        "ratio": round(slow / fast, 1),
        "microseconds a draw of the figure (24 solutions and all else), one core": round(figure, 1),
        "draws of the figure": draws,
        "seconds for the figure, all cores": round(seconds, 1),
        "peak MiB of the driver and of the largest worker": [round(u) for u in usage],
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000), indent=2))
