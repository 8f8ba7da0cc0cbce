"""Invented evidence with a known truth: what a claim is asked of, in a world as the paper has it and in others."""

import zlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from gpbe.analysis.findings import Cell
from gpbe.envs.domains import PAPER
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.design import ABLATIONS, BENCHMARK, part_of
from gpbe.experiments.evidence.gathered import Gathered
from gpbe.experiments.evidence.levels import bounds_of

CAR, ACROBOT, POLE, LANDER = PAPER
ALGORITHMS = (*BENCHMARK, *ABLATIONS)
SETTINGS = {"voted": 0, "held out": 1, "runoff": 2, "tuned": 3}
RUNS, RESAMPLES = 90, 1499


def normal(mean, spread=0.02):
    return lambda rng, n: rng.normal(mean, spread, n)


def skewed(top, tail):
    """Most runs near the top, a tail of poor ones."""
    return lambda rng, n: top - rng.exponential(tail, n)


def failing(good, share, bad=0.02, spread=0.03):
    """A share of the runs fails."""
    return lambda rng, n: np.where(rng.random(n) < share, rng.normal(bad, 0.01, n), rng.normal(good, spread, n))


Laws = Mapping[tuple[str, str, str], object]
"""By choice, algorithm and domain."""


def rng_of(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def drawn(law, n, domain, *key):
    return np.clip(law(rng_of(domain, *key), n), *bounds_of(domain))


def everywhere(choice, algorithm, law):
    return {(choice, algorithm, domain): law for domain in PAPER}


def tuned_as_in_the_paper() -> dict:
    laws = {}
    for name, law in {
        "qrc": normal(0.95),
        "q-learning": skewed(0.95, 0.15),
        "qc-ll": skewed(0.98, 0.08),
        "sbeed": failing(0.6, 0.2),
        "gq": normal(0.2, 0.1),
        "gq-grad": normal(0.3, 0.1),
        "qrc-sep": normal(0.92),
        "qrc-grad": normal(0.98),
        "sbeed-q": normal(0.7),
        "tdrc-pg": normal(0.8),
    }.items():
        laws |= everywhere("tuned", name, law)
    return laws | {
        ("tuned", "q-learning", CAR): failing(0.9, 0.35, 0.2),
        ("tuned", "qc-ll", CAR): failing(0.8, 0.4, 0.2),
        ("tuned", "sbeed", CAR): failing(0.8, 0.4),
        ("tuned", "q-learning", LANDER): skewed(0.98, 0.05),
        ("tuned", "qc-ll", LANDER): skewed(0.7, 0.1),
        ("tuned", "sbeed", POLE): skewed(1.05, 0.04),
        ("tuned", "tdrc-pg", ACROBOT): normal(1.05),
    }


def voted_as_in_the_paper() -> dict:
    levels = {"qrc": 0.95, "q-learning": 0.6, "qc-ll": 0.45, "sbeed": 0.3}
    laws = {}
    for choice in ("voted", "held out", "runoff"):
        for name, level in levels.items():
            laws |= everywhere(choice, name, normal(level))
    laws |= {(choice, "qc-ll", d): normal(0.93) for choice in ("voted", "held out") for d in (ACROBOT, POLE)}
    for name, level in {"qrc": 0.88, "q-learning": 0.1, "qc-ll": 0.38, "sbeed": -0.2}.items():
        laws["held out", name, LANDER] = normal(level)
    return laws | everywhere("runoff", "qc-ll", normal(0.3)) | everywhere("runoff", "sbeed", normal(0.1))


def grid_as_in_the_paper(algorithm, place):
    """The level of a setting at a place from 0 to 1 among all."""
    return {
        "qrc": 0.85 - 0.1 * place,
        "q-learning": 0.8 if place < 0.7 else 0.05,
        "qc-ll": 0.9 - 0.8 * place,
        "sbeed": 0.9 if place < 0.1 else 0.1,
        "sbeed-q": 0.8 - 0.6 * place,
        "tdrc-pg": 0.9 - 0.5 * place,
    }.get(algorithm, 0.5)


def sides_as_in_the_paper() -> dict[str, tuple]:
    """Rows of domain, algorithm, hyperparameters and a law, by the name of the side sweep."""
    adam_too = {"qrc": normal(0.9), "q-learning": normal(0.7), "qc-ll": normal(0.6)}
    return {
        names.BETA: [(d, "qrc", {"beta": b}, normal(0.94)) for d in PAPER for b in (0.5, 2.0)],
        names.BOUNDARY: [(d, "gq", {"step_size": 2.0**k}, normal(0.2)) for d in PAPER for k in (-13, -14)],
        names.GREEDY: [(POLE, name, {}, normal(1.03)) for name in BENCHMARK],
        **{
            stage: [(d, name, {}, law) for d in (CAR, ACROBOT, POLE) for name, law in adam_too.items()]
            for stage in names.OPTIMIZERS.values()
        },
        names.RHO: [(d, "sbeed-dai", {}, tuned_as_in_the_paper()["tuned", "sbeed", d]) for d in PAPER],
    }


def side(rows, n=RUNS) -> pl.DataFrame:
    frames = []
    for k, (domain, algorithm, hypers, law) in enumerate(rows):
        runs = drawn(law, n, domain, algorithm, k, "side")
        columns = {"domain": domain, "algorithm": algorithm, "setting": k, **hypers}
        frames.append(pl.DataFrame({**columns, "run": np.arange(n), "performance": runs}))
    return pl.concat(frames, how="diagonal")


def steps_side(spreads: Mapping[str, float], runs=8) -> pl.DataFrame:
    """Six settings of each algorithm, one a step size, with a spread over runs."""
    rows = [(d, a, {}, normal(0.4, s)) for d in PAPER for a, s in spreads.items() for _ in range(6)]
    return side(rows, runs)


def skew_side(level, runs=4) -> pl.DataFrame:
    part = part_of("q-learning")
    places = np.arange(len(part.settings)) / len(part.settings)
    return side([(d, "q-learning", {}, normal(level("q-learning", p), 0.01)) for d in PAPER for p in places], runs)


def gathered(laws: Laws, level=grid_as_in_the_paper, sides=None, late=0.5, n=RUNS, looks=1, **given) -> Gathered:
    """All that is stored of a world: fresh runs by `laws`, screened settings by `level`."""
    chosen = {(choice, a, d): SETTINGS[choice] for choice, a, d in laws}
    fresh = {
        Cell(a, d, SETTINGS[choice]): drawn(law, n, d, a, choice) for (choice, a, d), law in laws.items()
    }  # fmt: skip
    overall, choosing = {}, {}
    for algorithm in ALGORITHMS:
        part = part_of(algorithm)
        for domain in PAPER:
            for k, setting in enumerate(part.settings):
                cell, place = Cell(algorithm, domain, setting), k / len(part.settings)
                # A random order: strata must not be steps of the level.
                place = (place * 7.3 + 0.11) % 1 if algorithm in ("sbeed", "sbeed-q") else place
                noise = rng_of(cell).normal(0, 0.01, 2)
                overall[cell] = np.clip(level(algorithm, place) + noise, *bounds_of(domain))
                choosing[cell] = late + noise
    tables = {name: side(rows, n) for name, rows in (sides_as_in_the_paper() if sides is None else sides).items()}
    tables.setdefault(names.STEP_SIZES, steps_side({"qrc": 0.02, "q-learning": 0.1, "qc-ll": 0.1, "sbeed": 0.1}))
    tables.setdefault(names.SKEW, skew_side(level))
    parts = {name: part_of(name) for name in ALGORITHMS}
    return Gathered(
        names.VERDICT, chosen, fresh, choosing, overall, parts, tables, looks=looks, resamples=RESAMPLES, **given
    )


def as_in_the_paper(**given) -> Gathered:
    """A world in which every claim is true."""
    return gathered(tuned_as_in_the_paper() | voted_as_in_the_paper(), **given)


def skewed_up(bottom, tail):
    """Most runs near the bottom, a tail of good ones."""
    return lambda rng, n: bottom + rng.exponential(tail, n)


def opposite() -> Gathered:
    """A world in which every claim is false."""
    laws = {}
    for name, law in {
        "qrc": failing(0.7, 0.3),
        "q-learning": skewed_up(0.8, 0.02),
        "qc-ll": skewed_up(0.9, 0.02),
        "sbeed": skewed_up(0.8, 0.02),
        "gq": normal(0.7),
        "gq-grad": normal(0.6),
        "qrc-sep": normal(0.9),
        "qrc-grad": normal(0.2),
        "sbeed-q": normal(0.9),
        "tdrc-pg": normal(0.1),
    }.items():
        laws |= everywhere("tuned", name, law)
    for choice in ("voted", "held out", "runoff"):
        for name, level in {"qrc": 0.3, "q-learning": 0.9, "qc-ll": 0.9, "sbeed": 0.9}.items():
            laws |= everywhere(choice, name, normal(level))
        laws[choice, "qc-ll", ACROBOT] = normal(0.1)
    for name, level in {"qrc": 0.1, "q-learning": 1.1, "qc-ll": 0.5, "sbeed": 1.1}.items():
        laws["held out", name, LANDER] = normal(level)
    laws |= everywhere("runoff", "q-learning", normal(0.5))
    others = {"qrc": normal(0.2), "q-learning": normal(0.8), "qc-ll": normal(0.8)}
    sides = {
        names.BETA: [(d, "qrc", {"beta": b}, normal(0.9)) for d in PAPER for b in (0.5, 2.0)],
        names.BOUNDARY: [(d, "gq", {"step_size": 2.0**k}, normal(0.95)) for d in PAPER for k in (-13, -14)],
        names.GREEDY: [(POLE, name, {}, normal(1.0 if name == "sbeed" else 0.5)) for name in BENCHMARK],
        **{
            stage: [(d, name, {}, law) for d in (CAR, ACROBOT, POLE) for name, law in others.items()]
            for stage in names.OPTIMIZERS.values()
        },
        names.RHO: [(d, "sbeed-dai", {}, normal(0.2)) for d in PAPER],
    }
    data = gathered(laws, _opposite_level, sides)
    wide_steps = steps_side({"qrc": 0.1, "q-learning": 0.02, "qc-ll": 0.02, "sbeed": 0.02})
    return replace(data, sides={**data.sides, names.STEP_SIZES: wide_steps})


def _opposite_level(algorithm, place):
    return {
        "qrc": 0.9 if place < 0.2 else 0.1,
        "sbeed": 0.8 if place < 0.9 else 0.75,
        "sbeed-q": 0.3,
        "tdrc-pg": 0.2,
    }.get(algorithm, 0.5)
