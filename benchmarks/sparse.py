"""What do large finite problems cost? Time and memory of grids from a thousand to a million states.

Run with nothing else on the machine: `python benchmarks/sparse.py [states ...]`. Each size is a process of its own, on
one core, so that peak memory is its own:

- making the problem: cells, sparse transitions with four actions, policies and 100 features;
- values, both stationary distributions and emphatic weights;
- a whole diagnosis, which includes what of the line above is not there yet (nothing);
- transitions a second of linear prediction (TD), simulation included; what a call costs once (tables of outcomes,
  errors as functions of the weights, compilation) is taken out by the difference of two lengths;
- the same diagnosis from dense arrays, where these are small enough to make.
"""

import json
import os
import resource
import subprocess
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DENSE = 2_000
"""Most states of which dense arrays are made."""
FREE = 0.9
STEPS, RUNS = 2_000, 20


class Clock:
    """Seconds by name."""

    def __init__(self):
        self.seconds, self.last = {}, time.perf_counter()

    def __call__(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name], self.last = round(now - self.last, 3), now


def measure(states: int) -> dict:
    import numpy as np

    import gpbe
    from gpbe import exact, mdp

    clock = Clock()
    problem = mdp.gridworld(round((states / FREE) ** 0.5))
    clock("make")
    exact.weighting(problem, "emphatic")
    _ = problem.values, problem.target_distribution
    clock("values and weightings")
    diagnosis = exact.diagnose(problem)
    what, _ = diagnosis.recommendation
    clock("diagnose")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    for _ in range(2):  # the first call compiles
        for steps in (STEPS, 5 * STEPS):
            gpbe.predict(problem, "td", steps=steps, runs=RUNS, every=steps, step_size=0.01)
            clock(f"predict {steps} steps")
    more = clock.seconds[f"predict {5 * STEPS} steps"] - clock.seconds[f"predict {STEPS} steps"]
    found = {
        "states": problem.mdp.n_states,
        "features": problem.features.shape[1],
        "seconds": clock.seconds,
        "peak GiB up to the diagnosis": round(peak, 2),
        "transitions a second": round(4 * STEPS * RUNS / more),
        "recommended": what,
    }
    if states <= DENSE:
        m = problem.mdp
        arrays = (np.stack([part.toarray() for part in parts], 1) for parts in (m.transition, m.reward, m.discount))
        dense = problem.replace(mdp=mdp.FiniteMDP(*arrays, m.start), features=problem.features.toarray())
        clock("make dense")
        other = exact.diagnose(dense)
        clock("diagnose dense")
        values = [np.stack([f.solution.values for f in one.findings]) for one in (diagnosis, other)]
        found["largest difference of values from dense"] = float(np.abs(values[0] - values[1]).max())
    return found


def main(sizes: list[int]) -> list[dict]:
    rows = []
    for size in sizes:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], check=True, capture_output=True, text=True
        )
        rows.append(json.loads(done.stdout))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        print(json.dumps(main([int(size) for size in sys.argv[1:]] or list(SIZES)), indent=2))
