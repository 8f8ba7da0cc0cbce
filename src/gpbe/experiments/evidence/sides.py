"""Side sweeps of the evidence (docs/evidence.md): small questions around the settings that it chose.

Each is a function of what the choosing stages stored. Those that tune something of their own have two stages: one that
chooses, and one that judges on other seeds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from gpbe.analysis.performance import performance
from gpbe.analysis.settings import setting_means
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.choices import chosen, finalists
from gpbe.experiments.evidence.design import BENCHMARK, LANDER, Plan, grid_of
from gpbe.experiments.evidence.grids import setting_of
from gpbe.experiments.evidence.names import CHOOSING, screening_of
from gpbe.experiments.evidence.sweeps import CHOOSES_ASIDE, JUDGES_ASIDE, sweep_of
from gpbe.experiments.experiment import Experiment, Stage
from gpbe.experiments.study import Piece, Study
from gpbe.experiments.sweep import Setting, Sweep, Swept

BETAS = (0.5, 2.0)
SMALLER = (2.0**-13, 2.0**-14)
"""Step sizes beyond the range."""
OPTIMIZED = ("q-learning", "qrc", "qc-ll")
STEP_SIZES = {
    "sgd": tuple(2.0**k for k in range(-13, -5)),
    "rmsprop": tuple(2.0**k for k in range(-12, -6)),
}
"""What is swept for each optimizer; plain gradients need other steps than scaled ones."""
DAI = "sbeed-dai"
POLE = "CartPole-v1"
FEW, SOME, MORE, MANY = 2, 4, 8, 20
"""Runs of a setting, where they are not those of a verdict."""
PIECE, EPISODES = 8, 20
"""Runs that are trained at once to be judged by greedy actions, and episodes that judge each."""


def side_stages(plan: Plan) -> tuple[Stage, ...]:
    """All of them that the plan has the algorithms for."""
    stages = []
    for algorithms, found in _SIDES:
        if set(algorithms) <= set(plan.algorithms):
            stages += found(plan)
    return tuple(stages)


def skew(choosing: pl.DataFrame, plan: Plan) -> Sweep:
    """More runs of every setting of Q-learning."""
    swept = (Swept("q-learning", grid_of("q-learning")),)
    return sweep_of(names.SKEW, "more runs of Q-learning's grid", plan, swept, SOME, 0, CHOOSES_ASIDE)


def step_sizes(choosing: pl.DataFrame, plan: Plan) -> Sweep:
    """The best setting for each algorithm, domain and step size, with more runs."""
    means = setting_means(choosing).sort("mean", descending=True, maintain_order=True)
    best = means.unique(["domain", "algorithm", "step_size"], keep="first", maintain_order=True)
    swept = tuple(
        Swept(name, grid_of(name), domains=(domain,), only=_settings(best, name, domain))
        for domain in plan.domains
        for name in BENCHMARK
    )
    return sweep_of(names.STEP_SIZES, "the best setting of each step size", plan, swept, MORE, 0, JUDGES_ASIDE)


def beta(choosing: pl.DataFrame, plan: Plan) -> Sweep:
    """QRC's tuned settings with other values of beta."""
    swept = _around(choosing, plan, "qrc", "beta", BETAS)
    return sweep_of(names.BETA, "QRC tuned, with other values of beta", plan, swept, 1, 0, JUDGES_ASIDE)


def boundary(choosing: pl.DataFrame, plan: Plan) -> Sweep:
    """GQ's tuned settings with step sizes beyond the range."""
    swept = _around(choosing, plan, "gq", "step_size", SMALLER)
    return sweep_of(names.BOUNDARY, "GQ tuned, with smaller step sizes", plan, swept, 1, 0, JUDGES_ASIDE)


def optimizer_screen(optimizer: str) -> Callable[[pl.DataFrame, Plan], Sweep]:
    """Step sizes for another optimizer, the rest as tuned for Adam."""

    def build(choosing: pl.DataFrame, plan: Plan) -> Sweep:
        name, swept = screening_of(names.OPTIMIZERS[optimizer]), []
        for domain in _without_lander(plan):
            for algorithm in OPTIMIZED:
                tau, sizes = _tuned(choosing, plan, algorithm, domain)["tau"], STEP_SIZES[optimizer]
                grid = {"tau": grid_of(algorithm)["tau"], "step_size": sizes}
                first = grid["tau"].index(tau) * len(sizes)
                swept.append(Swept(algorithm, grid, (), (domain,), tuple(range(first, first + len(sizes)))))
        about = f"step sizes for {optimizer}"
        return _without(sweep_of(name, about, plan, tuple(swept), FEW, 0, CHOOSES_ASIDE, optimizer=optimizer), plan)

    return build


def optimizer_judge(optimizer: str) -> Callable[[Sequence[pl.LazyFrame], Plan], Sweep]:
    """The best of these step sizes, on other seeds."""

    def build(tables: Sequence[pl.LazyFrame], plan: Plan) -> Sweep:
        swept = _numbered({(name, domain): (setting,) for name, domain, setting in _best(tables[0], ("tau",))})
        name, about = names.OPTIMIZERS[optimizer], f"tuned for {optimizer}"
        return _without(sweep_of(name, about, plan, swept, MANY, 0, JUDGES_ASIDE, optimizer=optimizer), plan)

    return build


def rho_screen(choosing: pl.DataFrame, plan: Plan) -> Sweep:
    """The finalists of SBEED with Dai et al.'s rho."""
    cells = finalists(choosing.filter(pl.col("run") < plan.screen + plan.race), plan)
    grid = grid_of("sbeed")
    swept = tuple(Swept(DAI, grid, (), (domain,), cells["sbeed", domain]) for domain in plan.domains)
    return sweep_of(screening_of(names.RHO), "SBEED's finalists, Dai et al.'s rho", plan, swept, SOME, 0, CHOOSES_ASIDE)


def rho_judge(tables: Sequence[pl.LazyFrame], plan: Plan) -> Sweep:
    """The best of them, on other seeds."""
    best = {(name, domain): (setting,) for name, domain, setting in _best(tables[0], ("tau", "eta", "nu"))}
    swept = _numbered(best, plan)
    return sweep_of(names.RHO, "SBEED with Dai et al.'s rho, tuned", plan, swept, 1, 0, JUDGES_ASIDE)


def greedy(choosing: pl.DataFrame, plan: Plan) -> Study:
    """Agents trained with the tuned settings in Cart Pole, judged by greedy actions."""
    pieces = []
    for algorithm in BENCHMARK:
        setting = _tuned(choosing, plan, algorithm, POLE)
        for first in range(0, plan.runs_of(POLE), PIECE):
            arguments = (POLE, algorithm, setting, first, min(PIECE, plan.runs_of(POLE) - first), plan.steps, EPISODES)
            pieces.append(Piece("gpbe.experiments.evidence.greedy:evaluate", arguments, arguments[4] * plan.steps))
    return Study(names.GREEDY, "trained agents that act greedily", "steps", "paper", tuple(pieces))


def _around(
    choosing: pl.DataFrame, plan: Plan, algorithm: str, name: str, values: Sequence[float]
) -> tuple[Swept, ...]:
    """An algorithm's tuned setting of each domain, with other values of one hyperparameter."""
    tried = {}
    for domain in plan.domains:
        tuned = _tuned(choosing, plan, algorithm, domain)
        tried[algorithm, domain] = tuple({**tuned, name: value} for value in values)
    return _numbered(tried, plan)


def _numbered(tried: Mapping[tuple[str, str], Sequence[Setting]], plan: Plan | None = None) -> tuple[Swept, ...]:
    """Settings by algorithm and domain, of which equal ones have one number in all domains; with a verdict's runs."""
    known: dict[str, list[Setting]] = {}
    for (algorithm, _), settings in tried.items():
        mine = known.setdefault(algorithm, [])
        mine += [setting for setting in settings if setting not in mine]
    return tuple(
        Swept(
            algorithm,
            settings=tuple(known[algorithm]),
            domains=(domain,),
            only=tuple(known[algorithm].index(setting) for setting in settings),
            runs=None if plan is None else plan.runs_of(domain),
        )
        for (algorithm, domain), settings in tried.items()
    )


def _tuned(choosing: pl.DataFrame, plan: Plan, algorithm: str, domain: str) -> Setting:
    picks = chosen(choosing, plan).filter(choice="tuned", algorithm=algorithm, domain=domain)
    return setting_of(grid_of(algorithm), picks["setting"][0])


def _best(screened: pl.LazyFrame, others: Sequence[str]) -> list[tuple[str, str, Setting]]:
    """The best setting of each algorithm and domain; the hyperparameters are the step size and `others`."""
    means = setting_means(performance(screened)).sort("mean", descending=True, maintain_order=True)
    best = means.unique(["domain", "algorithm"], keep="first").sort("domain", "algorithm")
    return [
        (row["algorithm"], row["domain"], {k: row[k] for k in ("step_size", *others)}) for row in best.rows(named=True)
    ]


def _settings(best: pl.DataFrame, algorithm: str, domain: str) -> tuple[int, ...]:
    return tuple(best.filter(algorithm=algorithm, domain=domain)["setting"].sort().to_list())


def _without_lander(plan: Plan) -> tuple[str, ...]:
    return tuple(name for name in plan.domains if name != LANDER)


def _without(sweep: Sweep, plan: Plan) -> Sweep:
    return replace(sweep, domains=_without_lander(plan))


def _after_choosing(name: str, build: Callable[[pl.DataFrame, Plan], Experiment], plan: Plan) -> Stage:
    return Stage(name, CHOOSING, lambda tables: build(performance(pl.concat(tables, how="diagonal_relaxed")), plan))


def _single(name: str, build: Callable[[pl.DataFrame, Plan], Experiment]) -> Callable[[Plan], list[Stage]]:
    return lambda plan: [_after_choosing(name, build, plan)]


def _double(
    name: str,
    screen: Callable[[pl.DataFrame, Plan], Experiment],
    judge: Callable[[Sequence[pl.LazyFrame], Plan], Experiment],
) -> Callable[[Plan], list[Stage]]:
    first = screening_of(name)
    return lambda plan: [
        _after_choosing(first, screen, plan),
        Stage(name, (first,), lambda tables: judge(tables, plan)),
    ]


_SIDES: tuple[tuple[tuple[str, ...], Callable[[Plan], list[Stage]]], ...] = (
    (("qrc",), _single(names.BETA, beta)),
    (("gq",), _single(names.BOUNDARY, boundary)),
    (BENCHMARK, _single(names.GREEDY, greedy)),
    (OPTIMIZED, _double(names.OPTIMIZERS["sgd"], optimizer_screen("sgd"), optimizer_judge("sgd"))),
    (OPTIMIZED, _double(names.OPTIMIZERS["rmsprop"], optimizer_screen("rmsprop"), optimizer_judge("rmsprop"))),
    (("sbeed",), _double(names.RHO, rho_screen, rho_judge)),
    (("q-learning",), _single(names.SKEW, skew)),
    (BENCHMARK, _single(names.STEP_SIZES, step_sizes)),
)
"""What algorithms each needs, and its stages; what decides most for its cost first."""
