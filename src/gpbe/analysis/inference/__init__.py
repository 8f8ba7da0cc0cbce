"""Inference from expensive runs: which function answers which question, and what was measured about it.

Everything takes plain arrays of numbers. Runs lie along the first axis, except in `grids`, `choices` and `field`, where
settings, domains or tasks come first and runs last. Functions that resample take a seed, and give equal numbers for
equal seeds.

| question | function |
| --- | --- |
| a mean, a difference of means, a weighted sum of means over cells | `mean`, `difference`, `contrast` |
| the same by a method of one's choice | `bounded`, `studentized`, `welch`; `permutation` for "the same or not" |
| above, below, within or beyond a bound: p-values; an interval at any level | `Evidence` |
| does a fact hold: above, below, similar within a margin | `above`, `below`, `similar`, `verdict` |
| do all facts hold, some, most, at least u of k | `every`, `some`, `most`, `at_least` |
| how many of all verdicts are false | `q_values`, `false_discovery`; `holm` for not even one |
| mean and spread over a full grid of settings | `grid_mean`, `grid_spread`, `grid_variance`, `grid_statistic` |
| how many settings of a full grid are near its best; a tail of poor ones | `grid_near_best`; `grid_skew` |
| the same from a random part | `stratified_mean`, `stratified_spread`, `stratified_share`, `stratified_quantile` |
| a share of runs; any other number of one or more laws | `share`; `statistic_of_runs` |
| what the chosen of many settings is worth | fresh runs and `mean`; else `cross_fit` |
| how sure a choice is | `resampled_choices` |
| which settings deserve more runs | `race` |
| a second mode | `bimodality` (dip test), `valley` (cuts fixed before) |
| a tail toward low values; a difference of spreads; similar distributions | `l_skewness`, `spread_ratio`, `distance` |
| what the field reports | `iqm`, `performance_profile`, `probability_of_improvement`, `sensitivity` |
| is a procedure any good | `simulation.outcomes`, `simulation.like`, `benchmarks/decisions.py` |

Measured, on laws on [0, 1] (`simulation.LAWS`: normal, skewed toward failures, a tenth of failures), as the share of
lower or upper limits, whichever is worse, that the truth violates at nominally 2.5 % (0.25 %):

| | runs | percentile bootstrap | `welch` | `studentized` | `bounded` |
| --- | --- | --- | --- | --- | --- |
| one mean, skewed | 10 | 12 (5.3) | 9.3 (3.2) | 4.3 (1.3) | 0.1 (0.0) |
| one mean, skewed | 100 | 4.8 (0.9) | 5.1 (1.2) | 3.0 (0.3) | 1.5 (0.1) |
| one mean, a tenth fails | 10 | 35 (35) | 35 (35) | 35 (33) | 0.4 (0.1) |
| one mean, a tenth fails | 30 | 7.5 (4.0) | 9.9 (4.0) | 4.0 (4.0) | 1.0 (0.1) |
| one mean, a tenth fails | 100 | 4.4 (0.9) | 5.1 (1.8) | 1.8 (0.2) | 1.5 (0.2) |
| difference, a tenth fails in both | 30 | 4.7 (1.1) | 2.6 (0.2) | 5.5 (0.9) | 0.5 (0.0) |
| difference, skewed against a tenth fails | 30 | 5.9 (2.4) | 5.2 (1.0) | 5.4 (2.2) | 0.1 (0.0) |
| difference, normal against a tenth fails | 60 | 4.8 (1.2) | 5.5 (1.8) | 2.1 (0.8) | 0.5 (0.1) |
| difference, skewed against a tenth fails | 100 | 4.0 (0.6) | 4.0 (0.5) | 3.1 (0.4) | 0.9 (0.1) |

What follows. Where returns have bounds that need no data, use them: `bounded` is never wrong too often, at any number
of runs, because it counts with failures that were not seen. It costs width where runs fill little of the range: twice
Welch's at 30 normal runs, 1.4 times at 100; with a tenth of failures 1.2 times or less at 100. Other limits for bounded
means (betting, empirical Bernstein) are 1.2 to 6 times as wide again; of these only betting decides anything at 100
runs. Without bounds use `studentized` from `FEW` = 60 runs a cell on; with fewer, equality can be tested by
`permutation`, and nothing else is safe. Where all runs are equal, `studentized` and `welch` say that they know nothing,
and `bounded` gives the rule of three. The percentile bootstrap is in `field` alone.

A conjunction of twelve facts, each with a power of 99.4 %, is found in 93 % as an intersection-union test and in 50 %
with a correction for twelve. Cross-fitting is unbiased, but its lower limits by `welch` err in 5 % (normal runs) to 10
% (skewed); with bounds, lower limits were not seen to err too often (150 repetitions). Races at level 1 % over 36
settings lost the best in 3 of 900 and saved 25 to 40 % of the runs. The spread of setting means of 2 runs is inflated
by noise (variance 1.5 times the truth if noise and settings vary alike); `grid_spread` is not, and its limits err in
at most 5 %.

What is not proved. That `bounded` is right for every law is a conjecture for one mean (proved for a close relative),
and melding is exact in special cases only; both are backed by the simulations here.
"""

from gpbe.analysis.inference.choices import CrossFitted, Raced, best, cross_fit, race, resampled_choices
from gpbe.analysis.inference.distributions import distance, l_skewness, spread_ratio, statistic_of_runs, wasserstein
from gpbe.analysis.inference.evidence import Drawn, Evidence, Interval, Share, Student, combined, share, summed, wider
from gpbe.analysis.inference.field import (
    Sensitivity,
    iqm,
    performance_profile,
    probability_of_improvement,
    sensitivity,
)
from gpbe.analysis.inference.grids import (
    grid_mean,
    grid_near_best,
    grid_skew,
    grid_spread,
    grid_statistic,
    grid_variance,
    stratified_mean,
    stratified_quantile,
    stratified_share,
    stratified_spread,
)
from gpbe.analysis.inference.means import (
    FEW,
    bounded,
    contrast,
    difference,
    mean,
    permutation,
    studentized,
    welch,
)
from gpbe.analysis.inference.modes import Modes, bimodality, dip, valley
from gpbe.analysis.inference.verdicts import (
    ALPHA,
    Fact,
    Outcome,
    Verdict,
    above,
    at_least,
    below,
    every,
    false_discovery,
    holm,
    most,
    negation,
    partial_conjunction,
    q_values,
    similar,
    some,
    verdict,
)

__all__ = [
    "ALPHA",
    "FEW",
    "CrossFitted",
    "Drawn",
    "Evidence",
    "Fact",
    "Interval",
    "Modes",
    "Outcome",
    "Raced",
    "Sensitivity",
    "Share",
    "Student",
    "Verdict",
    "above",
    "at_least",
    "below",
    "best",
    "bimodality",
    "bounded",
    "combined",
    "contrast",
    "cross_fit",
    "difference",
    "dip",
    "distance",
    "every",
    "false_discovery",
    "grid_mean",
    "grid_near_best",
    "grid_skew",
    "grid_spread",
    "grid_statistic",
    "grid_variance",
    "holm",
    "iqm",
    "l_skewness",
    "mean",
    "most",
    "negation",
    "partial_conjunction",
    "performance_profile",
    "permutation",
    "probability_of_improvement",
    "q_values",
    "race",
    "resampled_choices",
    "sensitivity",
    "share",
    "similar",
    "some",
    "spread_ratio",
    "statistic_of_runs",
    "stratified_mean",
    "stratified_quantile",
    "stratified_share",
    "stratified_spread",
    "studentized",
    "summed",
    "valley",
    "verdict",
    "wasserstein",
    "welch",
    "wider",
]
