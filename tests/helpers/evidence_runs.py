"""Runs tables of the evidence's stages with a known truth, as `gpbe run evidence` would store them."""

import zlib
from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from gpbe.analysis.performance import performance
from gpbe.experiments.evidence import names, stages
from gpbe.experiments.evidence.design import Plan, grid_of
from gpbe.experiments.evidence.levels import bounds_of, return_at, way
from gpbe.experiments.sweep import Sweep

HEIGHTS = {
    "qrc": (0.95, 0.1),
    "q-learning": (0.8, 0.6),
    "qc-ll": (0.6, 0.6),
    "sbeed": (0.4, 0.8),
    "qrc-sep": (0.92, 0.1),
    "qrc-grad": (0.97, 0.1),
    "gq": (0.3, 0.3),
    "gq-grad": (0.35, 0.3),
    "sbeed-q": (0.7, 0.6),
    "tdrc-pg": (0.8, 0.6),
    "sbeed-dai": (0.4, 0.8),
}
"""How good the best setting of an algorithm is, and what the worst loses."""
Level = Callable[[str, str, Mapping[str, float]], float]


def level(algorithm: str, domain: str, setting: Mapping[str, float]) -> float:
    """A hill over each grid, whose top depends a little on the domain."""
    best, loss = HEIGHTS[algorithm]
    away = []
    for name, values in grid_of(algorithm).items():
        top = (len(values) // 2 + len(domain)) % len(values)
        at = min(range(len(values)), key=lambda k: abs(values[k] - setting.get(name, values[top])))
        away.append(abs(at - top) / len(values))
    return best - loss * float(np.mean(away))


def of_sweep(sweep: Sweep, height: Level = level, spread: float = 0.03) -> pl.DataFrame:
    """The runs of a sweep, four points each: constant but for what a run has of its own."""
    frames = []
    for domain, swept in sweep.parts():
        start = sweep.first_run if swept.first_run is None else swept.first_run
        count = sweep.runs_of(swept)
        rng = np.random.default_rng(zlib.crc32(f"{sweep.name} {domain} {swept.algorithm}".encode()))
        numbered = swept.numbered()
        means = np.array([height(swept.algorithm, domain, setting) for setting in numbered.values()])
        runs = np.clip(rng.normal(means[:, None], spread, (len(means), count)), *bounds_of(domain))
        returns = return_at(domain, 0.0) + runs * way(domain)
        columns = {
            name: np.repeat([setting.get(name) for setting in numbered.values()], count).astype(float)
            for name in sweep.columns
        }
        frames.append(
            pl.DataFrame(
                {
                    "domain": domain,
                    "algorithm": swept.algorithm,
                    "setting": np.repeat(list(numbered), count),
                    **{k: pl.Series(v).fill_nan(None) for k, v in columns.items()},
                    "run": np.tile(np.arange(start, start + count), len(means)),
                    "every": sweep.steps // 4,
                    "returns": np.repeat(returns.ravel()[:, None], 4, axis=1).astype(np.float32).tolist(),
                    "diverged_at": -1,
                },
                schema_overrides={"returns": pl.List(pl.Float32)},
            )
        )
    return pl.concat(frames)


def chosen_stages(plan: Plan, height: Level = level) -> dict[str, pl.DataFrame]:
    """The stages that choose settings, each from those before it."""
    tables = {names.SCREEN: of_sweep(stages.screen(plan), height)}
    for name, build in ((names.RACE, stages.race), (names.FINAL, stages.final)):
        before = performance(pl.concat(tables.values(), how="diagonal_relaxed"))
        tables[name] = of_sweep(build(before, plan), height)
    return tables


def all_stages(plan: Plan, height: Level = level) -> dict[str, pl.DataFrame]:
    """Those, the verdict, and the second verdict where it is needed."""
    tables = chosen_stages(plan, height)
    verdict = stages.verdict(performance(pl.concat(tables.values(), how="diagonal_relaxed")), plan)
    tables[names.VERDICT] = of_sweep(verdict, height)
    second = stages.second([table.lazy() for table in tables.values()], plan)
    return tables if second is None else {**tables, names.SECOND: of_sweep(second, height)}
