"""Passes over a log, and the estimates that they are made into."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gpbe.evaluation.asked import WITH_VALUES, Asked
from gpbe.evaluation.importance import PerDecision, Trajectory
from gpbe.evaluation.intervals import Estimator, asymptotic, bootstrap
from gpbe.evaluation.linear import LeastSquares, Marginal
from gpbe.evaluation.reading import collected
from gpbe.evaluation.result import Estimate
from gpbe.evaluation.sums import Sums, total
from gpbe.evaluation.survey import Calibrated, Calibration, Survey
from gpbe.evaluation.values import Values
from gpbe.evaluation.walk import Grouping
from gpbe.mdp import Log, LogFiles
from gpbe.mdp.log_source import Source
from gpbe.shapes import Array

if TYPE_CHECKING:
    from gpbe.evaluation.networks import Fits

DIRECT = ("is", "wis", "pdis", "wpdis", "lstd", "lsetd", "fqe")
"""Estimators that need the log only, if values are linear."""
ROBUST = ("dr", "wdr")
"""Estimators around values."""
DUAL = "lstd at lambda 0"
"""What marginalized ratios are the dual of."""
Collected = dict[str, tuple[Any, Sums]]
"""Estimators by name, with their sums over groups."""


class Plan(NamedTuple):
    """What was asked of which log, and how its episodes are grouped."""

    asked: Asked
    source: Source
    survey: Survey
    grouped: list[Grouping]
    advance: Callable[[int], None]

    def estimates(self, names: Sequence[str]) -> tuple[dict[str, Estimate], Calibrated]:
        """All estimates: first what needs the log only, then what needs values that were learned from it."""
        fits = self.fits(names)
        first = self.first(names, fits is None)
        test = Calibration(self.survey.actions)
        *sums, tested = self.collect([*first.values(), test])
        found: Collected = dict(zip(first, zip(first.values(), sums, strict=True), strict=True))
        second = self.second(names, found, fits)
        for name, its in zip(second, self.collect(list(second.values())) if second else [], strict=True):
            found[name] = (second[name], its)
        made = {name: self.estimate(name, *found[name]) for name in names if name in found}
        if fits is not None:
            made |= {name: fits.around(made[name]) for name in ROBUST if name in made}
            made |= {"fqe": fits.estimate("fqe", self.asked.level)} if "fqe" in names else {}
        return {name: made[name] if name in made else self.learn(name) for name in names}, test.tests(tested)

    def collect(self, estimators: list[Any]) -> list[Sums]:
        return collected(self.source, estimators, self.grouped, self.asked.workers, self.advance)

    def fits(self, names: Sequence[str]) -> "Fits | None":
        """Networks, if values are to be theirs."""
        wanted = set(WITH_VALUES) & set(names)
        if self.asked.net is None or not wanted:
            return None
        from gpbe.evaluation.networks import fit_networks

        return fit_networks(self, resampled="fqe" in wanted, folded=bool(wanted & set(ROBUST)))

    def first(self, names: Sequence[str], linear: bool) -> dict[str, Estimator]:
        """The estimators of the first pass, with those that others start from."""
        made = {name: self.direct(name) for name in names if name in DIRECT and (linear or name != "fqe")}
        if linear and set(ROBUST) & set(names):
            made.setdefault(self.model, self.direct(self.model))
        if "mis" in names:
            made[DUAL] = self.direct("lstd", lam=0.0)
        return made

    def direct(self, name: str, lam: float | None = None) -> Estimator:
        """An estimator that needs the log only."""
        where, horizon = self.asked.where, self.survey.horizon
        lam = self.asked.lam if lam is None else lam
        if name in ("is", "wis"):
            return Trajectory(name, name == "wis")
        if name in ("pdis", "wpdis"):
            return PerDecision(name, name == "wpdis", horizon)
        return LeastSquares(name, where, "lstd" if name == "fqe" else name, lam, name == "fqe")

    @property
    def model(self) -> str:
        """The linear values that doubly robust estimators start from: of actions, if the log has them."""
        return "fqe" if self.survey.actions else "lstd"

    def second(self, names: Sequence[str], found: Collected, fits: "Fits | None") -> dict[str, Estimator]:
        """The estimators that need values learned from the same log."""
        made: dict[str, Estimator] = {}
        for name in ROBUST:
            if name in names:
                model: Any = None if fits is not None else found[self.model]
                values: Values = fits.values if fits is not None else model[0].values(model[1])
                made[name] = PerDecision(name, name == "wdr", self.survey.horizon, values)
        if "mis" in names:
            made["mis"] = Marginal("mis", *found[DUAL])
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
        interval = (spread.low, spread.high)
        return Estimate(name, value, spread.error, interval, method, weights, freedom=spread.freedom)

    def learn(self, name: str) -> Estimate:
        """An algorithm of `gpbe.predict`."""
        from gpbe.evaluation.learned import learned

        source = self.source if isinstance(self.source, Log) else cast(LogFiles, self.source).read()
        return learned(source, name, self.asked, self.grouped[0].block)
