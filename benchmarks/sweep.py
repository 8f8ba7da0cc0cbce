"""How much of the machine does a sweep use?

Run with nothing else on the machine: `python benchmarks/sweep.py [steps]`. First one chunk of each group, alone on one
core, without compiling; then the whole sweep on all cores with an empty cache of compiled programs, from the start of
the workers to the last part on disk. What is printed is the second rate over the number of cores times the first.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpbe import experiments
from gpbe.experiments.sweeps import Sweep, Swept, run_chunk
from gpbe.workers import prepare

STEP_SIZES = tuple(2.0**-k for k in (9, 10, 11, 12))


def sweep(steps: int) -> Sweep:
    algorithms = tuple(Swept(name, {"step_size": STEP_SIZES}) for name in ("q-learning", "qrc", "qrc-grad"))
    return Sweep("efficiency", ("MountainCar-v0", "CartPole-v1"), algorithms, runs=8, steps=steps)


def alone(steps: int) -> dict[str, float]:
    """Steps a second of each group on one core, the compiled program at hand."""
    rates = {}
    first, warm = ({c.group: c for c in sweep(n).chunks()} for n in (steps, 500))
    for group, chunk in first.items():
        run_chunk(warm[group].payload)
        started = time.perf_counter()
        run_chunk(chunk.payload)
        rates[group] = chunk.cost / (time.perf_counter() - started)
    return rates


def main(steps: int) -> dict:
    # In a process of its own, which is gone when the workers start.
    pinned = subprocess.run([sys.executable, __file__, str(steps), "alone"], capture_output=True, text=True, check=True)
    rates, whole = json.loads(pinned.stdout), sweep(steps)
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(folder) / "compiled")
        started = time.perf_counter()
        report = experiments.run(whole, Path(folder) / "results")
        seconds = time.perf_counter() - started
    assert report.complete
    ideal = sum(chunk.cost / rates[chunk.group] for chunk in whole.chunks()) / cores
    return {
        "steps a second on one core": {group: round(rate) for group, rate in rates.items()},
        "cores": cores,
        "steps": whole.work,
        "seconds": round(seconds, 1),
        "seconds at the rate of one core times cores": round(ideal, 1),
        "efficiency": round(ideal / seconds, 3),
    }


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    if sys.argv[2:] == ["alone"]:
        os.sched_setaffinity(0, {0})
        prepare()
        print(json.dumps(alone(steps)))
    else:
        print(json.dumps(main(steps), indent=2))
