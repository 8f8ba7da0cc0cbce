"""How often is the whole procedure right? Claims about fresh runs, two looks and all, on laws whose truth is known.

`python benchmarks/procedure.py [results] [repetitions]`: with a folder of packed evidence that has a verdict, the law
of every chosen setting is that of drawing from its observed runs; without one, laws like those of returns. In each
repetition fresh runs of every setting are drawn, as many as the plan has at each of two looks, and every
claim is judged. The truth is what 3,000 runs of each setting say. Told are the shares of right verdicts (power), wrong
ones (error; at most 5 % of repetitions are allowed), and of claims left open. Claims about modes are left out, since
they can hold and never fail.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpbe.analysis.findings import Cell
from gpbe.analysis.inference.simulation import LAWS, Law, like
from gpbe.envs.domains import PAPER
from gpbe.experiments.evidence.case import Case
from gpbe.experiments.evidence.claims import CLAIMS
from gpbe.experiments.evidence.design import ABLATIONS, BENCHMARK, PLAN
from gpbe.experiments.evidence.gathered import Gathered, Missing
from gpbe.experiments.evidence.levels import bounds_of

RESAMPLES, TRUTH = 999, 3000
MODES = ("sbeed-bimodal", "others-bimodal")
HEIGHTS = {"qrc": 0.95, "qrc-grad": 0.95, "qrc-sep": 0.9, "q-learning": 0.85, "qc-ll": 0.7, "tdrc-pg": 0.8}
CHOICES = {"tuned": 0.0, "voted": 0.05, "held out": 0.1, "runoff": 0.1}
"""Made-up settings: how much lower each choice is than the tuned one."""


def made_up() -> tuple[dict[tuple[str, str, str], int], dict[Cell, Law]]:
    """Chosen settings and their laws: skewed, with a tenth of failures, or normal, around each algorithm's height."""
    chosen, laws = {}, {}
    kinds = [LAWS[name] for name in ("skewed", "bimodal", "normal")]
    for k, algorithm in enumerate((*BENCHMARK, *ABLATIONS)):
        for domain in PAPER:
            for number, (choice, loss) in enumerate(CHOICES.items()):
                if choice != "tuned" and algorithm not in BENCHMARK:
                    continue
                chosen[choice, algorithm, domain] = number
                kind = kinds[(k + len(domain)) % len(kinds)]
                laws[Cell(algorithm, domain, number)] = _moved(kind, HEIGHTS.get(algorithm, 0.4) - loss - kind.mean)
    return chosen, laws


def observed(folder: Path) -> tuple[dict[tuple[str, str, str], int], dict[Cell, Law]]:
    """Chosen settings of stored evidence, with the laws of drawing from their fresh runs."""
    from gpbe import experiments
    from gpbe.experiments.evidence.sources import looks_of

    data = looks_of(experiments.open_packed(folder))[-1]
    if not data.fresh:
        raise SystemExit(f"{folder} has no verdict yet; without a folder, made-up laws are used")
    return dict(data.chosen), {cell: like(runs) for cell, runs in data.fresh.items()}


def drawn(chosen: dict, laws: dict[Cell, Law], rng: np.random.Generator, many: int = 0) -> tuple[Gathered, Gathered]:
    """Fresh runs at the first look and at the second; or very many."""
    runs = {}
    for cell, law in laws.items():
        n = many or 2 * PLAN.runs_of(cell.domain)
        runs[cell] = np.clip(law.draw(rng, (n,)), *bounds_of(cell.domain))
    first = {cell: x[: len(x) // 2] for cell, x in runs.items()}
    made = Gathered("simulated", chosen, first, looks=2, resamples=99 if many else RESAMPLES)
    return made, replace(made, fresh=runs)


def main() -> None:
    given = [each for each in sys.argv[1:] if not each.isdigit()]
    repetitions = next((int(each) for each in sys.argv[1:] if each.isdigit()), 50)
    chosen, laws = observed(Path(given[0])) if given else made_up()
    truth = drawn(chosen, laws, np.random.default_rng(0), TRUTH)[1]
    asked = {}
    for claim in (each for each in CLAIMS if each.name not in MODES):
        try:
            answer = claim.ask(Case(truth))
        except Missing:
            continue  # it is about more than fresh runs
        if answer.cells:
            asked[claim] = min(("holds", "does not hold"), key=lambda side, p=answer.p: p[side != "holds"])
    counts: dict[str, Counter[str]] = {claim.name: Counter() for claim in asked}
    for seed in range(repetitions):
        looks = drawn(chosen, laws, np.random.default_rng(seed + 1))
        for claim, true in asked.items():
            found = claim.judge(looks).verdict
            counts[claim.name]["open" if found == "undecided" else "right" if found == true else "wrong"] += 1
    print(f"{'claim':40}{'truth':>14}{'right':>8}{'wrong':>8}{'open':>8}   of {repetitions}")
    for claim, true in asked.items():
        told = (counts[claim.name][kind] / repetitions for kind in ("right", "wrong", "open"))
        print(f"{claim.name:40}{true:>14}" + "".join(f"{100 * share:7.0f}%" for share in told))
    total = sum(counts.values(), Counter())
    print(f"{'all':54}" + "".join(f"{100 * total[k] / total.total():7.1f}%" for k in ("right", "wrong", "open")))


def _moved(law: Law, by: float) -> Law:
    return Law(lambda rng, shape: law.draw(rng, shape) + by, law.mean + by)


if __name__ == "__main__":
    main()
