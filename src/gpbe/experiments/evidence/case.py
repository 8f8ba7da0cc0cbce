"""What a claim about control can ask: facts about chosen settings, whole grids and side sweeps.

Numbers are parts of the way from a random policy to the threshold (`levels`), spreads over runs are ratios.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gpbe.analysis import inference
from gpbe.analysis.findings import UNKNOWN, Basis, Cell, Fact, above, below, exactly
from gpbe.analysis.inference import Interval, verdicts
from gpbe.analysis.intervals import LEVEL
from gpbe.analysis.labels import label_of
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence.facts import (
    Ask,
    Sample,
    Terms,
    based,
    difference,
    mean_fact,
    more_than,
    parts,
    seed_of,
    spread,
)
from gpbe.experiments.evidence.gathered import Gathered, Missing, Runs
from gpbe.experiments.evidence.levels import MARGIN, NEAR, SOLVED


@dataclass(frozen=True, eq=False)
class Case:
    """What is stored, asked with one number for what counts as solved."""

    data: Gathered
    solved: float = SOLVED

    def chosen(self, choice: str, algorithm: str, domain: str) -> Sample:
        """Fresh runs of a chosen setting."""
        return self.at(Cell(algorithm, domain, self.data.setting(choice, algorithm, domain)))

    def at(self, cell: Cell) -> Sample:
        """Fresh runs of a setting."""
        if cell not in self.data.kept:
            runs = self.data.judged(cell)
            basis = Basis(self.data.judging, len(runs))
            self.data.kept[cell] = Sample(cell.domain, runs, basis, cell, self.data.resamples)
        return self.data.kept[cell]

    # --- means of fresh runs

    def better(self, choice: str, domain: str, first: str, second: str, by: float = 0.0) -> Fact:
        """Is the first algorithm better than the second, by more than `by`?"""
        what = f"{title_of(domain)}, {label_of(first)} - {label_of(second)}"
        return difference(what, *(self.chosen(choice, name, domain) for name in (first, second)), by=by)

    def solves(self, algorithm: str, domain: str, setting: int) -> Fact:
        """Is the domain solved by a setting, in the mean over runs?"""
        sample = self.at(Cell(algorithm, domain, setting))
        return mean_fact(_name(domain, algorithm), {(domain, setting): (1.0, sample)}, more_than(self.solved))

    def gain(self, choice: str, first: str, second: str) -> Terms:
        """How much better the first is than the second, in the mean over domains."""
        return {
            (domain, name): (sign / len(PAPER), self.chosen(choice, name, domain))
            for domain in PAPER
            for name, sign in ((first, 1.0), (second, -1.0))
        }

    def loss(
        self, algorithm: str, before: str, after: str, domains: Iterable[str] = PAPER, weight: float = 1.0
    ) -> Terms:
        """What an algorithm loses from one choice to another, mean over domains; nothing where it is the same."""
        domains = tuple(domains)
        terms: dict[tuple[str, object], tuple[float, Sample]] = {}
        for domain in domains:
            for choice, sign in ((before, weight / len(domains)), (after, -weight / len(domains))):
                setting = self.data.setting(choice, algorithm, domain)
                key = (domain, (algorithm, setting))
                already = terms.get(key, (0.0, None))[0]
                terms[key] = (already + sign, self.at(Cell(algorithm, domain, setting)))
        return terms

    def changed(self, what: str, terms: Terms, ask: Ask, pairs: Iterable[tuple[str, str, str]], kept: bool) -> Fact:
        """A question about what another choice costs.

        Where no setting differs nothing is lost. Whether this is sure, resampled choices tell (`pairs`: an algorithm
        and two votes): in most of them the choice must stay the same. `kept` says what no loss means for the claim.
        """
        if any(weight for weight, _ in terms.values()):
            return mean_fact(what, terms, ask)
        p = max(float(self.data.unchanged(*pair).above(0.5)) for pair in pairs)
        _, basis, cells = parts(terms)
        sure = verdicts.Fact(p, 1.0) if kept else verdicts.Fact(1.0, p)
        return Fact(f"{what} (the same setting)", Interval(0.0, 0.0, 0.0, LEVEL), sure, basis, cells)

    # --- distributions of fresh runs

    def wider(self, domain: str, first: str, second: str, by: float = 1.0, choice: str = "tuned") -> Fact:
        """Is the first algorithm's spread over runs more than `by` times the second's?"""
        samples = [self.chosen(choice, name, domain) for name in (first, second)]
        what = f"{title_of(domain)}, {label_of(first)} / {label_of(second)}"
        return spread(what, *samples, by=by)

    def share_of_runs(
        self, algorithm: str, domain: str, happens: Callable[[Runs], np.ndarray], over: float, choice: str = "tuned"
    ) -> Fact:
        """Does something happen in more than so large a share of the runs?"""
        sample = self.chosen(choice, algorithm, domain)
        return based(above(_name(domain, algorithm), inference.share(happens(sample.runs)), over), [sample])

    def lower(self, domain: str, first: str, second: str) -> Fact:
        """Is the first algorithm's median run below the second's?"""
        samples = [self.chosen("tuned", name, domain) for name in (first, second)]
        what = f"{title_of(domain)}, {label_of(first)} - {label_of(second)}"
        evidence = inference.statistic_of_runs(
            [x.runs for x in samples],
            lambda a, b: np.median(a, -1) - np.median(b, -1),
            seed_of(what),
            self.data.resamples,
        )
        return based(below(what, evidence), samples)

    def skewed(self, algorithm: str, domain: str) -> Fact:
        """Is the median run above the mean?"""
        sample, what = self.chosen("tuned", algorithm, domain), _name(domain, algorithm)
        evidence = inference.statistic_of_runs(
            [sample.runs], lambda x: np.median(x, -1) - x.mean(-1), seed_of(what), self.data.resamples
        )
        return based(above(what, evidence), [sample])

    def bimodal(self, algorithm: str, domain: str, least: float) -> Fact:
        """Are there two modes, the smaller of at least `least` of the runs? That there are not cannot be shown."""
        sample = self.chosen("tuned", algorithm, domain)
        modes = inference.bimodality(sample.runs, least)
        dip = Interval(modes.dip, modes.dip, modes.dip, LEVEL)
        what = f"{_name(domain, algorithm)}, {modes.weight:.0%} below or above {modes.split:.2f}; dip"
        return based(Fact(what, dip, verdicts.Fact(modes.p, 1.0)), [sample])

    def alike(self, domain: str, first: str, second: str, margin: float = MARGIN) -> Fact:
        """Are the distributions over runs less than a margin apart?"""
        samples = [self.chosen("tuned", name, domain) for name in (first, second)]
        what = f"{title_of(domain)}, {label_of(first)} and {label_of(second)}"
        evidence = inference.distance(samples[0].runs, samples[1].runs, 1.0, seed_of(what), self.data.resamples)
        return based(below(what, evidence, margin), samples)

    # --- grids

    def setting_spread(self, algorithm: str, domain: str) -> inference.Drawn:
        """The standard deviation over an algorithm's settings."""
        strata, seed = self.data.grid(algorithm, domain), seed_of(f"{algorithm} {domain}")
        if self._whole(algorithm):
            return inference.grid_spread(np.concatenate(strata), seed, self.data.resamples)
        return inference.stratified_spread(strata, *self._sizes(algorithm), seed, self.data.resamples)

    def narrower(self, domain: str, first: str, second: str) -> Fact:
        """Is the first algorithm's spread over settings below the second's?"""
        evidence = inference.combined([self.setting_spread(name, domain) for name in (second, first)], [1.0, -1.0])
        what = f"{title_of(domain)}, {label_of(second)} - {label_of(first)}"
        return self._of_grid(above(what, evidence), first, domain)

    def wide(self, algorithm: str, domain: str, over: float) -> Fact:
        """Is an algorithm's spread over settings above so much?"""
        fact = above(_name(domain, algorithm), self.setting_spread(algorithm, domain), over)
        return self._of_grid(fact, algorithm, domain)

    def better_settings(self, domain: str, first: str, second: str) -> Fact:
        """Is the first algorithm better, in the mean over settings?"""
        evidence = inference.summed([self._grid_mean(name, domain) for name in (first, second)], [1.0, -1.0])
        what = f"{title_of(domain)}, {label_of(first)} - {label_of(second)}"
        return self._of_grid(above(what, evidence), first, domain)

    def near_best(self, algorithm: str, domain: str, over: float) -> Fact:
        """Are more than so large a share of the settings near the best?"""
        strata, what = self.data.grid(algorithm, domain), _name(domain, algorithm)
        if self._whole(algorithm):
            near = inference.grid_near_best(np.concatenate(strata), NEAR, seed_of(what), self.data.resamples)
            fact = above(what, near, over)
        else:
            fact = self._part_near_best(strata, algorithm, what, over)
        return self._of_grid(fact, algorithm, domain)

    def _part_near_best(self, strata: list[np.ndarray], algorithm: str, what: str, over: float) -> Fact:
        """The same of a part. Noise makes settings look further from the best than they are: see `grid_near_best`."""
        runs = np.concatenate(strata)
        best, error = runs.mean(-1).max(), float(np.sqrt(runs.var(-1, ddof=1).mean() / runs.shape[-1]))
        plain, generous = (
            inference.stratified_share([(x.mean(-1) >= best - slack) for x in strata], *self._sizes(algorithm))
            for slack in (NEAR, NEAR + 3 * error)
        )
        low, high = plain.interval(), generous.interval()
        interval = Interval(low.estimate, low.low, high.high, low.level)
        return Fact(what, interval, verdicts.Fact(float(plain.above(over)), float(generous.below(over))))

    def _grid_mean(self, algorithm: str, domain: str) -> inference.Student:
        strata = self.data.grid(algorithm, domain)
        if self._whole(algorithm):
            return inference.grid_mean(np.concatenate(strata))
        return inference.stratified_mean(strata, *self._sizes(algorithm))

    def _whole(self, algorithm: str) -> bool:
        part = self.data.part(algorithm)
        return len(part.settings) == sum(part.sizes)

    def _sizes(self, algorithm: str) -> tuple[list[int], list[float]]:
        """How many settings each stratum has, and counts for: a stratum of one that counts for many is there whole."""
        part = self.data.part(algorithm)
        drawn = [part.strata.count(k) for k in range(len(part.sizes))]
        return [1 if n == 1 else size for n, size in zip(drawn, part.sizes, strict=True)], [
            float(n) for n in part.sizes
        ]

    def _of_grid(self, fact: Fact, algorithm: str, domain: str) -> Fact:
        runs = min(x.shape[-1] for x in self.data.grid(algorithm, domain))
        return replace(fact, basis=(Basis(self.data.screening, runs),))

    def screened_solvers(self, algorithms: Iterable[str]) -> Fact:
        """How many screened settings have a mean above solved in every domain? Only none speaks for itself."""
        count = 0
        for algorithm in algorithms:
            late = [self.data.late(algorithm, domain) for domain in PAPER]
            count += sum(all(runs[k].mean() >= self.solved for runs in late) for k in late[0])
        what = "settings of others that solve all when screened"
        fact = exactly(what, float(count), not count, [Basis(self.data.screening)])
        return fact if not count else replace(fact, p=UNKNOWN)

    # --- side sweeps

    def side(self, name: str, domain: str, **which: object) -> Sample:
        """Runs of one setting of a side sweep."""
        rows = self.data.side(name).filter(pl.col("domain") == domain, *(pl.col(k) == v for k, v in which.items()))
        runs = rows.sort("setting", "run")["performance"].to_numpy()
        if not len(runs) or rows["setting"].n_unique() > 1:
            raise Missing(f"{name} has no one setting with {which} in {title_of(domain)}")
        return Sample(domain, runs, Basis(name, len(runs)), resamples=self.data.resamples)

    def settled(self, sample: Sample) -> Sample:
        """The same runs, of which no more are made: for claims that are looked at once."""
        return replace(sample, cell=None)


def _name(domain: str, algorithm: str) -> str:
    return f"{title_of(domain)}, {label_of(algorithm)}"
