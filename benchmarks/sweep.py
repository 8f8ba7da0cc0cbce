"""How much of the machine does a sweep use?

Run with nothing else on the machine: `python benchmarks/sweep.py [steps [algorithm ...]]`. Each algorithm makes two
programs, one a domain. First one chunk of each group, alone on one core, without compiling; then the whole sweep on all
cores with an empty cache of compiled programs, from the start of the workers to the last part on disk; then the chunks
alone once more, since a machine's speed is not the same all the time. What is printed is the second rate over the
number of cores times the mean of the first and the third.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from gpbe import experiments
from gpbe.experiments.sweep import Sweep, Swept, run_chunk
from gpbe.process import prepare

STEP_SIZES = tuple(2.0**-k for k in range(5, 13))


def sweep(steps: int, algorithms: list[str]) -> Sweep:
    swept = tuple(Swept(name, {"step_size": STEP_SIZES}) for name in algorithms)
    return Sweep("efficiency", ("MountainCar-v0", "CartPole-v1"), swept, runs=8, steps=steps)


def alone(whole: Sweep) -> dict[str, float]:
    """Steps a second of each group on one core, the compiled program at hand."""
    rates = {}
    first, warm = ({c.group: c for c in each.chunks()} for each in (whole, replace(whole, steps=500)))
    for group, chunk in first.items():
        run_chunk(warm[group].payload)
        started = time.perf_counter()
        run_chunk(chunk.payload)
        rates[group] = chunk.cost / (time.perf_counter() - started)
    return rates


def alone_elsewhere() -> dict[str, float]:
    """In a process of its own, which is gone when workers start."""
    command = [sys.executable, __file__, "alone", *sys.argv[1:]]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(whole: Sweep) -> dict:
    before = alone_elsewhere()
    cores = len(os.sched_getaffinity(0))
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, JAX_COMPILATION_CACHE_DIR=folder + "/compiled"),
    ):
        started = time.perf_counter()
        report = experiments.run(whole, Path(folder) / "results")
        seconds = time.perf_counter() - started
    assert report.complete
    after = alone_elsewhere()
    rates = {group: (rate + after[group]) / 2 for group, rate in before.items()}
    ideal = sum(chunk.cost / rates[chunk.group] for chunk in whole.chunks()) / cores
    return {
        "steps a second on one core, before and after": {g: [round(before[g]), round(after[g])] for g in rates},
        "cores": cores,
        "steps": whole.work,
        "seconds": round(seconds, 1),
        "seconds at the rate of one core times cores": round(ideal, 1),
        "efficiency": round(ideal / seconds, 3),
    }


if __name__ == "__main__":
    in_child = sys.argv[1:2] == ["alone"]
    given = sys.argv[2 if in_child else 1 :]
    chosen = sweep(int(given[0]) if given else 100_000, given[1:] or ["qrc"])
    if in_child:
        os.sched_setaffinity(0, {0})
        prepare()
        print(json.dumps(alone(chosen)))
    else:
        print(json.dumps(main(chosen), indent=2))
