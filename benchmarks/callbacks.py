"""What watching costs: training without callbacks, with a table of returns, with norms too, and with evaluations.

    python benchmarks/callbacks.py [STEPS]

Each way is trained in turn, several times over, in one process on one core; a first round compiles and is not counted.
"""

import sys
import tempfile
import time
from pathlib import Path

from gpbe.process import prepare

prepare()

import numpy as np

import gpbe
from gpbe.callbacks import CSV, Evaluate, TensorBoard

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
ROUNDS = 4


def ways(folder: Path) -> dict[str, dict]:
    """Options of `gpbe.train`, by what they are."""
    files = [CSV(folder / "log.csv"), TensorBoard(folder / "board")]
    return {
        "alone": {},
        "files": {"callbacks": files},
        "files and norms": {"callbacks": files, "measure": True},
        "ten evaluations": {"callbacks": Evaluate(every=STEPS // 10, episodes=10)},
    }


def main() -> None:
    seconds, bits = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS + 1):
            for name, options in ways(Path(folder)).items():
                started = time.perf_counter()
                trained = gpbe.train("MountainCar-v0", "qrc", steps=STEPS, runs=8, step_size=2.0**-10, **options)
                if turn:
                    seconds.setdefault(name, []).append(time.perf_counter() - started)
                bits.setdefault(name, trained.weights.tobytes())
    alone = np.median(seconds["alone"])
    for name, took in seconds.items():
        same = "the same bits" if bits[name] == bits["alone"] else "OTHER BITS"
        print(f"{name}: {np.median(took):.2f} s, {np.median(took) / alone:.3f} of alone, {same}")


if __name__ == "__main__":
    main()
