"""How fast is linear prediction, with an error measured at every step?

Run with nothing else on the machine: `python benchmarks/linear_prediction.py`. On one pinned core, in one run:

- Collision, 50 runs x 30 step sizes x 20,000 transitions through `gpbe.predict`, RMSVE recorded at every transition;
- the same update and error in a plain NumPy loop over transitions, one run of one setting, which is what a script does;
- peak memory with 30 and with 300 settings.

A step is one transition of one run of one setting: its update, and its error. Compilation is not counted; the second
of two identical calls is measured.
"""

import json
import os
import subprocess
import sys
import time

os.sched_setaffinity(0, {0})
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

import gpbe
from gpbe import exact, mdp

STEPS, RUNS, SETTINGS = 20_000, 50, 30
ALGORITHMS = ("td", "tdrc", "gtd2", "htd", "etd", "v-trace", "tree-backup", "gtd2-mp")


def compiled(algorithm: str, settings: int, steps: int = STEPS):
    return gpbe.predict(
        mdp.collision(0),
        algorithm,
        steps=steps,
        runs=RUNS,
        step_size=2.0 ** -np.linspace(2, 10, settings),
        metrics=("rmsve",),
        average=True,
    )


def rate(algorithm: str) -> float:
    compiled(algorithm, SETTINGS)
    started = time.perf_counter()
    compiled(algorithm, SETTINGS)
    return STEPS * RUNS * SETTINGS / (time.perf_counter() - started)


def numpy_loop(steps: int) -> float:
    """TD(0) and its RMSVE, transition by transition."""
    problem = mdp.collision(0)
    data = mdp.simulate(problem.mdp, problem.behavior, steps)
    x, values, d = problem.features, problem.values, exact.weighting(problem, "behavior")
    w, errors = np.zeros(x.shape[1]), np.empty(steps)
    started = time.perf_counter()
    for t in range(steps):
        s, a, n = data.state[0, t], data.action[0, t], data.next_state[0, t]
        rho = problem.target[s, a] / problem.behavior[s, a]
        delta = data.reward[0, t] + data.discount[0, t] * (w @ x[n]) - w @ x[s]
        w = w + 0.05 * rho * delta * x[s]
        errors[t] = np.sqrt(d @ (x @ w - values) ** 2)
    return steps / (time.perf_counter() - started)


def peak_memory(settings: int) -> int:
    """MiB of a fresh process that runs a sweep."""
    code = f"import runpy; m = runpy.run_path({__file__!r}); m['compiled']('tdrc', {settings}, 2000)"
    code += "; print(next(int(l.split()[1]) // 1024 for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def main() -> dict:
    loop = numpy_loop(20_000)
    rates = {name: rate(name) for name in ALGORITHMS}
    return {
        "steps a second, numpy loop": round(loop),
        "million steps a second, gpbe.predict": {name: round(r / 1e6, 2) for name, r in rates.items()},
        "ratio to the numpy loop": {name: round(r / loop) for name, r in rates.items()},
        "peak MiB with 30, 300, 3000 settings": [peak_memory(n) for n in (30, 300, 3000)],
    }


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
