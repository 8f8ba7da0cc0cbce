"""How often are decisions about runs right? Error rates and power, by simulation from laws with known truth.

`python benchmarks/decisions.py [observed.npz]`: without a file, laws on [0, 1] like those of returns; with one, the
arrays in it, each the runs of a cell, are drawn from with replacement (scaled to [0, 1] by the extremes of all).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from collections.abc import Callable
from itertools import combinations

import numpy as np

from gpbe.analysis.inference import means, verdicts
from gpbe.analysis.inference.evidence import Drawn, Evidence
from gpbe.analysis.inference.simulation import LAWS, Law, like, outcomes

REPETITIONS, RESAMPLES = 2000, 1999
BATCH = 500
Cells = list[np.ndarray]


def percentile(cells: Cells, weights: list[float], seed: int) -> Drawn:
    """The percentile bootstrap, to compare with."""
    rng, draws = np.random.default_rng(seed), 0.0
    for x, w in zip(cells, weights, strict=True):
        draws = draws + w * (rng.multinomial(len(x), np.full(len(x), 1 / len(x)), RESAMPLES) @ x / len(x))
    estimate = sum(w * x.mean(0) for x, w in zip(cells, weights, strict=True))
    return Drawn(np.asarray(estimate), np.asarray(draws), np.asarray(draws))


METHODS: dict[str, Callable[[Cells, list[float], int], Evidence]] = {
    "percentile": percentile,
    "welch": lambda cells, weights, seed: means.welch(cells, weights),
    "studentized": lambda cells, weights, seed: means.studentized(cells, weights, seed, RESAMPLES),
    "bounded": lambda cells, weights, seed: means.bounded(cells, weights, (0.0, 1.0), seed, RESAMPLES),
}


def error_rates(laws: list[Law], sizes: list[int], weights: list[float], alpha: float) -> dict[str, tuple]:
    """How often the truth is above, and below, a limit of level alpha, and the median width between the two."""
    truth = sum(w * law.mean for w, law in zip(weights, laws, strict=True))
    found = {name: [] for name in METHODS}
    rng = np.random.default_rng(0)
    for batch in range(REPETITIONS // BATCH):
        cells = [law.draw(rng, (n, BATCH)) for law, n in zip(laws, sizes, strict=True)]
        for name, method in METHODS.items():
            low, high = method(cells, weights, batch).limits(alpha)
            found[name].append((low > truth + 1e-9, high < truth - 1e-9, high - low))
    flat = {name: np.concatenate([np.stack(np.broadcast_arrays(*f)) for f in rows], 1) for name, rows in found.items()}
    return {name: (f[0].mean(), f[1].mean(), np.median(f[2])) for name, f in flat.items()}


def conjunction(margin: float, correct: bool) -> Callable[[Cells, int], str]:
    """Are all cells above a margin? As it should be, or with a correction for their number in both directions."""

    def decide(cells: Cells, seed: int) -> str:
        facts = [verdicts.above(means.welch([x], [1.0]), margin) for x in cells]
        whole = verdicts.every(facts)
        if correct:
            whole = verdicts.Fact(min(1.0, len(facts) * whole.holds), whole.fails)
        return verdicts.verdict(whole).outcome

    return decide


def scaled(path: str) -> dict[str, Law]:
    with np.load(path) as file:
        cells = {name: file[name].astype(float).ravel() for name in file.files}
    low, high = min(x.min() for x in cells.values()), max(x.max() for x in cells.values())
    return {name: like((x - low) / (high - low)) for name, x in cells.items()}


def main() -> None:
    laws = scaled(sys.argv[1]) if len(sys.argv) > 1 else dict(LAWS)
    print("wrong limits in % (truth below the lower / above the upper), and median width, by method\n")
    print(f"{'cells':24}{'runs':>6}{'alpha':>8}" + "".join(f"{name:>22}" for name in METHODS))
    pairs = [((a,), [1.0]) for a in laws] + [((a, a), [1.0, -1.0]) for a in laws if a != "degenerate"]
    pairs += [(pair, [1.0, -1.0]) for pair in combinations([a for a in laws if a != "degenerate"], 2)][:3]
    for names, weights in pairs:
        for n in (4, 10, 30, 60, 100):
            for alpha in (0.025, 0.0025):
                rates = error_rates([laws[a] for a in names], [n] * len(names), weights, alpha)
                row = "".join(f"{f'{100 * a:.1f} / {100 * b:.1f}  {w:.3f}':>22}" for a, b, w in rates.values())
                print(f"{' - '.join(names):24}{n:6}{alpha:8}{row}")
    print("\ntwelve facts, each with a power of 99.4 % (normal runs, n = 100): verdicts in %")
    shift = 0.5 - 0.1 * 4.53 / np.sqrt(100)
    for label, correct in (("as an intersection-union test", False), ("with a correction for twelve", True)):
        rates = outcomes(conjunction(shift, correct), [LAWS["normal"]] * 12, [100] * 12, 500)
        print(f"  {label:32}" + ", ".join(f"{name} {100 * share:.1f}" for name, share in rates.items()))


if __name__ == "__main__":
    main()
