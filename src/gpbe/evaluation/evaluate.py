"""`gpbe.evaluate`: a policy's value from recorded data, with its uncertainty."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from gpbe.algorithms.linear import ALGORITHMS
from gpbe.checks import as_floats, check_at_least, check_known
from gpbe.errors import InputError
from gpbe.evaluation import advice
from gpbe.evaluation.importance import PerDecision, Trajectory
from gpbe.evaluation.intervals import Estimator, Method, asymptotic, bootstrap
from gpbe.evaluation.linear import LeastSquares, Marginal, Where
from gpbe.evaluation.reading import collected, groupings, surveyed
from gpbe.evaluation.result import Diagnostics, Estimate, Evaluation
from gpbe.evaluation.sums import Sums, total
from gpbe.evaluation.survey import Calibrated, Calibration, Survey, joined
from gpbe.evaluation.walk import Grouping, Source
from gpbe.mdp import Log, LogFiles, scan_log
from gpbe.shapes import Array, Numbers

ESTIMATORS = {
    "is": "importance sampling of returns",
    "wis": "normalized",
    "pdis": "importance sampling of rewards",
    "wpdis": "normalized at each step",
    "dr": "doubly robust, around values",
    "wdr": "normalized at each step",
    "lstd": "values by LSTD(lambda)",
    "lsetd": "with emphatic weights",
    "mis": "marginalized ratios of states",
    "fqe": "fitted Q evaluation",
}
"""What each estimator is, in a few words."""
STARTS = ("is", "wis", "pdis", "wpdis", "dr", "wdr")
"""Estimators of the value where episodes begin, and of no other."""


class Asked(NamedTuple):
    """What was asked, checked before anything is read."""

    names: tuple[str, ...]
    everything: bool
    """Was nothing chosen, so that what cannot be had is left out?"""
    level: float
    method: Method
    where: Where
    lam: float
    resamples: int
    seed: int
    workers: int


def evaluate(
    log: Any,
    estimator: str | Sequence[str] | None = None,
    *,
    level: float | int = 0.95,
    interval: str = "asymptotic",
    at: str | Numbers = "start",
    lam: float | int = 0.0,
    resamples: int = 1000,
    seed: int = 0,
    workers: int = 1,
    advance: Callable[[int], None] = lambda rows: None,
    **hyperparameters: Any,
) -> Evaluation:
    """The target policy's value, estimated from the behavior's recorded transitions, with an interval.

    Args:
        log: a `Log`, what `mdp.scan_log` returns or takes: files, patterns, tables or arrays.
        estimator: one or several of `gpbe.evaluation.ESTIMATORS`, or a linear algorithm of `gpbe.predict`; all that the
            log is enough for if left out.
        level: how often an interval should hold the value.
        interval: "asymptotic" (delta method; for least squares the sandwich), or "bootstrap" over episodes. Where
            episodes are fewer than 5, blocks of rows take their place.
        at: whose value: "start", the states where episodes begin; "log", all states of the log, equally often; or
            features of states, (K,) or (M, K), whose mean value it is.
        lam: trace parameter of LSTD.
        resamples: of the bootstrap.
        seed: of the bootstrap, and of learning.
        workers: processes that read files side by side.
        advance: is told how many more rows have been read.
        **hyperparameters: of an algorithm of `gpbe.predict`, such as `step_size`.

    >>> from gpbe import mdp
    >>> log = mdp.Log.simulate(mdp.problem("boyan"), steps=4000, seed=1)
    >>> found = evaluate(log, "lstd")
    >>> low, high = found.interval
    >>> low < found.value < high
    True
    """
    asked = read_asked(estimator, level, interval, at, lam, resamples, seed, workers)
    source = read_source(log)
    check_states(asked.where, source)
    surveys = surveyed(source, workers, advance)
    survey = joined(surveys)
    names, left_out = possible(asked, survey)
    plan = _Plan(asked, source, survey, groupings(surveys, _numbers(names, survey)), advance)
    estimates, calibration = plan.estimates(names, hyperparameters)
    recommended, reason = advice.recommend(survey, estimates)
    grouping = plan.grouped[0]
    said = advice.warnings(survey, calibration, estimates)
    found = Diagnostics(survey, calibration, min(grouping.total, _units(survey, grouping)), grouping.block, said)
    return Evaluation(estimates, recommended, reason, found, level, asked.where.kind, left_out)


def read_asked(
    estimator: str | Sequence[str] | None,
    level: float | int,
    interval: str,
    at: str | Numbers,
    lam: float | int,
    resamples: int,
    seed: int,
    workers: int,
) -> Asked:
    """Check every argument."""
    names = tuple(ESTIMATORS) if estimator is None else (estimator,) if isinstance(estimator, str) else tuple(estimator)
    for name in names:
        check_known(name, [*ESTIMATORS, *(a for a in ALGORITHMS if a not in ESTIMATORS)], "estimator")
    if not names:
        raise InputError("there should be one estimator at least; leave it out for all")
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise InputError(f"level is {level!r}; it should lie between 0 and 1, as 0.95")
    check_known(interval, get_args(Method), "interval")
    if not (isinstance(lam, int | float) and 0 <= lam <= 1):
        raise InputError(f"lam is {lam!r}; it should lie in [0, 1]")
    check_at_least(1, workers=workers)
    check_at_least(2, resamples=resamples)
    check_at_least(0, seed=seed)
    return Asked(names, estimator is None, level, cast(Method, interval), read_where(at), lam, resamples, seed, workers)


def read_where(at: str | Numbers) -> Where:
    """Which states the value is of."""
    if isinstance(at, str):
        check_known(at, ("start", "log"), "place for at")
        return Where(at)
    x = as_floats(at, "at")
    if x.ndim not in (1, 2) or not x.size:
        raise InputError(f"at has shape {x.shape}; it should be features of one state (K,) or of several (M, K)")
    return Where("given states", np.atleast_2d(x).mean(0))


def read_source(log: Any) -> Source:
    """What is read in pieces."""
    return log if isinstance(log, Log | LogFiles) else scan_log(log)


def check_states(where: Where, source: Source) -> None:
    """Given states must have as many features as the log; one piece tells."""
    if where.features is None:
        return
    width = next(iter(source.pieces(0))).features.shape[1]
    if len(where.features) != width:
        raise InputError(f"at has {len(where.features)} features; the log has {width}")


def possible(asked: Asked, survey: Survey) -> tuple[tuple[str, ...], dict[str, str]]:
    """The estimators that this log is enough for; of the others, why it is not."""
    why = {}
    for name in asked.names:
        if name in STARTS and asked.where.kind != "start":
            why[name] = "estimates the value where episodes begin; other states need values"
        elif name in STARTS and not survey.ended:
            why[name] = "weights whole episodes, and none ends in this log"
        elif name in ("wpdis", "wdr") and 5 * survey.horizon * 20 > 2**27:
            why[name] = f"keeps sums for every step, and an episode has {survey.horizon:,}"
        elif name == "fqe" and not survey.actions:
            why[name] = "needs the action taken and the target's probabilities of all actions"
        elif name == "fqe" and asked.where.features is not None:
            why[name] = "needs the target's probabilities in the given states"
    if why and not asked.everything:
        name, reason = next(iter(why.items()))
        raise InputError(f"{name} {reason}")
    left = tuple(name for name in asked.names if name not in why)
    if not left:
        raise InputError("this log is not enough for any estimator")
    return left, why


def _numbers(names: Sequence[str], survey: Survey) -> int:
    """Numbers that the estimators keep of a group."""
    sizes = [survey.features**2]
    if any(name in ("wpdis", "wdr") for name in names):
        sizes.append(4 * survey.horizon)
    if "fqe" in names:
        sizes.append((survey.features * survey.actions) ** 2)
    return max(sizes)


def _units(survey: Survey, grouping: Grouping) -> int:
    return survey.episodes if grouping.block is None else -(-survey.rows // grouping.block)


class _Plan(NamedTuple):
    """Passes over a log, and what they are made into."""

    asked: Asked
    source: Source
    survey: Survey
    grouped: list[Grouping]
    advance: Callable[[int], None]

    def estimates(
        self, names: Sequence[str], hyperparameters: dict[str, Any]
    ) -> tuple[dict[str, Estimate], Calibrated]:
        """All estimates: first what needs the log only, then what needs values that were learned from it."""
        first = {name: self.direct(name) for name in names if name in DIRECT}
        needed = self.model(names)
        if needed and needed not in first:
            first[needed] = self.direct(needed)
        if "mis" in names:
            first["lstd at lambda 0"] = self.direct("lstd", lam=0.0)
        test = Calibration(self.survey.actions)
        *sums, tested = self.collect([*first.values(), test])
        found = dict(zip(first, zip(first.values(), sums, strict=True), strict=True))
        second = self.second(names, found, needed)
        for name, its in zip(second, self.collect(list(second.values())) if second else [], strict=True):
            found[name] = (second[name], its)
        made = {name: self.estimate(name, *found[name]) for name in names if name in found}
        learned = [name for name in names if name not in found]
        if hyperparameters and not learned:
            raise InputError(f"{next(iter(hyperparameters))} is for algorithms of gpbe.predict; leave it out")
        for name in learned:
            made[name] = self.learn(name, hyperparameters)
        return {name: made[name] for name in names}, test.tests(tested)

    def collect(self, estimators: list[Any]) -> list[Sums]:
        return collected(self.source, estimators, self.grouped, self.asked.workers, self.advance)

    def direct(self, name: str, lam: float | None = None) -> Estimator:
        """An estimator that needs the log only."""
        where, horizon = self.asked.where, self.survey.horizon
        lam = self.asked.lam if lam is None else lam
        if name in ("is", "wis"):
            return Trajectory(name, name == "wis")
        if name in ("pdis", "wpdis"):
            return PerDecision(name, name == "wpdis", horizon)
        return LeastSquares(name, where, "lstd" if name == "fqe" else name, lam, name == "fqe")

    def model(self, names: Sequence[str]) -> str | None:
        """The values that doubly robust estimators start from: of actions, if the log has them."""
        if not {"dr", "wdr"} & set(names):
            return None
        return "fqe" if self.survey.actions else "lstd"

    def second(self, names: Sequence[str], found: dict[str, Any], model: str | None) -> dict[str, Any]:
        """The estimators that need values learned from the same log."""
        made: dict[str, Any] = {}
        if model is not None:
            values = found[model][0].values(found[model][1])
            for name in ("dr", "wdr"):
                if name in names:
                    made[name] = PerDecision(name, name == "wdr", self.survey.horizon, values)
        if "mis" in names:
            made["mis"] = Marginal("mis", *found["lstd at lambda 0"])
        return made

    def estimate(self, name: str, estimator: Estimator, sums: Sums) -> Estimate:
        """The value and its interval."""
        whole = total(sums)
        with np.errstate(all="ignore"):
            value = float(estimator.value(whole))
            resampled = self.asked.method == "bootstrap" and estimator.bootstraps
            if resampled:
                spread = bootstrap(estimator, sums, self.asked.level, self.asked.resamples, self.asked.seed)
            else:
                spread = asymptotic(estimator, sums, value, self.asked.level)
        method = "bootstrap" if resampled else "asymptotic"
        weights: Array | None = estimator.weights(whole) if isinstance(estimator, LeastSquares) else None
        return Estimate(name, value, spread.error, (spread.low, spread.high), method, weights)

    def learn(self, name: str, hyperparameters: dict[str, Any]) -> Estimate:
        """An algorithm of `gpbe.predict`."""
        from gpbe.evaluation.learned import learned

        source = self.source if isinstance(self.source, Log) else cast(LogFiles, self.source).read()
        return learned(source, name, self.asked, self.grouped[0].block, hyperparameters)


DIRECT = ("is", "wis", "pdis", "wpdis", "lstd", "lsetd", "fqe")
