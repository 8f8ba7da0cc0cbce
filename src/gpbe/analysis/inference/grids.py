"""Settings of a fixed grid are not a random sample: what is uncertain, and by how much.

A full grid: the mean and the spread over its settings are numbers that belong to the grid; only runs are random. A
random part of a large grid: the settings that were not drawn are uncertain too, and no others (finite population).
Settings lie along the first axis and runs along the last.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from gpbe.analysis.inference.evidence import LEVEL, RESAMPLES, Drawn, Interval, Share, Student, wider
from gpbe.checks import as_floats, generator
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers


def grid_mean(runs: Numbers) -> Student:
    """Evidence about the mean over all settings of a full grid; its error comes from runs alone.

    >>> grid = [[1.0, 1.2], [5.0, 5.2], [9.0, 9.2]]
    >>> print(grid_mean(grid).interval())
    5.1 [4.916, 5.284]
    """
    grid = _grid(runs)
    settings, count = grid.shape
    variances = grid.var(-1, ddof=1) / count / settings**2
    total, parts = variances.sum(), (variances**2).sum() / (count - 1)
    freedom = total**2 / parts if parts > 0 else 1.0
    return Student(np.asarray(grid.mean()), np.asarray(np.sqrt(total)), np.asarray(freedom))


def grid_variance(runs: Numbers) -> float:
    """The variance of true means over settings, without bias: that of observed means minus what run noise adds to it.

    It can be negative if there is little to see.

    >>> round(grid_variance([[1.0, 2.0], [2.0, 4.0], [6.0, 5.0]]), 3)
    3.583
    """
    grid = _grid(runs)
    return float(grid.mean(-1).var(ddof=1) - grid.var(-1, ddof=1).mean() / grid.shape[-1])


def grid_spread(runs: Numbers, seed: int = 0, resamples: int = RESAMPLES) -> Drawn:
    """Evidence about the standard deviation of true means over the settings of a full grid.

    Runs are drawn again within settings: residuals, enlarged by sqrt(r / (r - 1)) so that r runs have their true
    spread, around means that are drawn together until their variance is the unbiased estimate. Draws for limits are
    2 V - V*, V the unbiased variance; the root is taken last. Draws under 0 count as 0.
    """
    grid, rng = _grid(runs), generator(seed)
    variance = grid_variance(grid)
    drawn = _redrawn(grid, rng, resamples)
    count = grid.shape[-1]
    again = drawn.mean(-1).var(-1, ddof=1) - drawn.var(-1, ddof=1).mean(-1) / count
    roots = np.sqrt(np.maximum(2 * max(variance, 0.0) - again, 0.0))
    return Drawn(np.asarray(np.sqrt(max(variance, 0.0))), roots, roots)


def grid_statistic(
    runs: Numbers,
    statistic: Callable[[Float[Array, "... settings"]], Float[Array, "..."]],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Drawn:
    """Evidence about a smooth number of the true means over settings, such as a third moment; approximate.

    `statistic` reduces the last axis. Its estimate is corrected for the bias that the resamples show, and draws for
    limits are reflected: T + T_0 - T*, T_0 the number of the means around which resamples are drawn. With 2 runs a
    setting, intervals of level 90 % miss third moments in 10 to 17 %. Noise blurs groups of settings, and no resampling
    makes them out again: do not use this for medians or quartiles (missed in 20 to 70 %). A skewed noise adds to the
    skewness over settings, which 2 runs cannot tell apart.
    """
    grid = _grid(runs)
    drawn = np.asarray(statistic(_redrawn(grid, generator(seed), resamples).mean(-1)), float)
    shrunk = float(statistic(_shrunk(grid)))
    observed = float(statistic(grid.mean(-1)))
    draws = observed + shrunk - drawn
    return Drawn(np.asarray(observed + shrunk - drawn.mean()), draws, draws)


def grid_near_best(runs: Numbers, slack: float, seed: int = 0, resamples: int = RESAMPLES) -> Drawn:
    """Evidence about the share of a full grid's settings whose mean is within `slack` of the best one's.

    Runs are drawn again within settings. Noise makes the best look better than it is, so that fewer settings look near
    it than are: lower limits are safe, and for upper ones whoever is within `slack` and three standard errors of a
    setting's mean counts as near. Limits are too wide on purpose; they err in less than they say.
    """
    grid = _grid(runs)
    error = float(np.sqrt(grid.var(-1, ddof=1).mean() / grid.shape[-1]))
    observed = float(_near(grid.mean(-1), slack))
    drawn = _redrawn(grid, generator(seed), resamples).mean(-1)
    plain, generous = wider(observed, _near(drawn, slack)), np.sort(_near(drawn, slack + 3 * error))
    return Drawn(np.asarray(observed), plain.lower, np.maximum(plain.upper, generous))


def grid_skew(runs: Numbers, seed: int = 0, resamples: int = RESAMPLES) -> Drawn:
    """Evidence about the median over a full grid's settings, less the mean over them: above 0 with a tail of low ones.

    Runs are drawn again within settings, and the wider of two ways to a limit is taken. A skew of the noise itself adds
    to that over settings: use several runs a setting.
    """
    grid = _grid(runs)
    drawn = _redrawn(grid, generator(seed), resamples).mean(-1)
    return wider(float(_median_less_mean(grid.mean(-1))), _median_less_mean(drawn))


def stratified_mean(strata: Sequence[Numbers], sizes: Sequence[int], weights: Sequence[float] | None = None) -> Student:
    """Evidence about the mean over a large grid of which each stratum shows a simple random part (Cochran 1977).

    `strata` are arrays (settings drawn, runs); `sizes` say how many settings each stratum has in the grid, `weights`
    how much it counts, if not by its size. Settings that were not drawn and the runs of those that were both add to the
    error (two-stage sampling). A stratum that was drawn whole adds the noise of its runs only.

    >>> print(stratified_mean([[[1.0], [2.0], [3.0]], [[7.0], [9.0]]], [6, 2]).interval())
    3.5 [2.183, 4.817]
    """
    samples, sizes_, weights_ = _strata(strata, sizes, weights)
    estimate, variances, parts = 0.0, 0.0, 0.0
    for x, size, weight in zip(samples, sizes_, weights_, strict=True):
        drawn, count = x.shape
        fraction = drawn / size
        noise = fraction * x.var(-1, ddof=1).mean() / (count * drawn) if count > 1 else 0.0
        between = (1 - fraction) * x.mean(-1).var(ddof=1) / drawn if drawn < size else 0.0
        part = weight**2 * (between + noise)
        free = (drawn - 1) if between > 0 else drawn * max(count - 1, 1)
        estimate, variances, parts = estimate + weight * x.mean(), variances + part, parts + part**2 / max(free, 1)
    freedom = variances**2 / parts if parts > 0 else 1.0
    return Student(np.asarray(estimate), np.asarray(np.sqrt(variances)), np.asarray(freedom))


def stratified_spread(
    strata: Sequence[Numbers],
    sizes: Sequence[int],
    weights: Sequence[float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Drawn:
    """Evidence about the standard deviation of true means over a large grid, from a stratified random part of it.

    The variance is the mean of squared deviations, less what run noise and the error of the mean add to it. Its error
    is that of this mean; that some settings of the grid were drawn is not taken off, which errs on the safe side.
    """
    samples, sizes_, weights_ = _strata(strata, sizes, weights)
    whole = stratified_mean(samples, sizes, weights)
    squares, variances, parts = 0.0, 0.0, 0.0
    for x, weight in zip(samples, weights_, strict=True):
        drawn, count = x.shape
        noise = x.var(-1, ddof=1) / count
        away = x.mean(-1) - whole.estimate
        each = away**2 - noise
        # A stratum of one setting varies by the noise of its runs alone.
        varies = each.var(ddof=1) if drawn > 1 else float((4 * away**2 * noise)[0])
        part = weight**2 * varies / drawn
        squares, variances = squares + weight * each.mean(), variances + part
        parts += part**2 / max(drawn - 1, 1)
    population = float(sizes_.sum())
    variance = (squares + float(whole.error) ** 2) * population / (population - 1)
    freedom = variances**2 / parts if parts > 0 else 1.0
    evidence = Student(np.asarray(variance), np.asarray(np.sqrt(variances)), np.asarray(freedom))
    drawn = evidence.drawn(seed, resamples)
    lower, upper = (np.sqrt(np.maximum(draws, 0.0)) for draws in (drawn.lower, drawn.upper))
    return Drawn(np.asarray(np.sqrt(max(variance, 0.0))), lower, upper)


def stratified_share(strata: Sequence[Numbers], sizes: Sequence[int], weights: Sequence[float] | None = None) -> Share:
    """Evidence about the share of a grid's settings for which something is so, from 0 and 1 for those that were drawn.

    Clopper and Pearson's interval at the effective number of settings: that number with which a simple random sample
    of the same share would have the variance of the stratified one (Korn and Graubard 1998). With a share of 0 or 1 it
    is the number drawn over 1 - fraction drawn. `strata` are one-dimensional.

    >>> print(stratified_share([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 1.0]], [400, 400]).interval())
    0.5 [0.1..., 0.8...]
    """
    arrays = [np.asarray(x, float)[:, None] for x in strata]
    evidence = stratified_mean(arrays, sizes, weights)
    share, variance = float(evidence.estimate), float(evidence.error) ** 2
    drawn = sum(len(x) for x in arrays)
    fraction = drawn / sum(sizes)
    if fraction == 1:
        return Share(np.asarray(share), np.inf)
    number = drawn / (1 - fraction)
    if 0 < share < 1 and variance > 0:
        number = min(number, share * (1 - share) / variance)
    return Share(np.asarray(share), number)


def stratified_quantile(strata: Sequence[Numbers], sizes: Sequence[int], q: float, level: float = LEVEL) -> Interval:
    """A quantile over the settings of a grid from a stratified random part of it (Woodruff 1952).

    The interval has the values up to which the share of settings is not clearly below, nor clearly above, `q`.
    """
    arrays = [np.asarray(x, float) for x in strata]
    candidates = np.unique(np.concatenate(arrays))

    def share(value: float) -> Interval:
        return stratified_share([(x <= value).astype(float) for x in arrays], sizes).interval(level)

    # Shares and their limits grow with the value, so that what separates low from high is found by bisection.
    reached = bisect_left(candidates, q - 1e-12, key=lambda value: share(value).estimate)
    bottom = bisect_left(candidates, q, key=lambda value: share(value).high)
    top = bisect_right(candidates, q, key=lambda value: share(value).low)
    unseen = stratified_share([np.zeros(len(x)) for x in arrays], sizes).interval(level).high
    # Values lower than all that were drawn, or higher, may have the share q too.
    low = -np.inf if unseen >= q else float(candidates[min(bottom, len(candidates) - 1)])
    high = np.inf if top == len(candidates) else float(candidates[top])
    return Interval(float(candidates[min(reached, len(candidates) - 1)]), low, high, level)


def _redrawn(grid: Array, rng: np.random.Generator, resamples: int) -> Float[Array, "resamples settings runs"]:
    """Runs drawn again within settings, with their true spread around means with their true spread."""
    settings, count = grid.shape
    residuals = (grid - grid.mean(-1, keepdims=True)) * np.sqrt(count / (count - 1))
    picks = rng.integers(count, size=(resamples, settings, count))
    return _shrunk(grid)[:, None] + residuals[np.arange(settings)[:, None], picks]


def _shrunk(grid: Array) -> Float[Array, " settings"]:
    means = grid.mean(-1)
    seen = means.var(ddof=1)
    factor = np.sqrt(max(grid_variance(grid), 0.0) / seen) if seen > 0 else 1.0
    return means.mean() + factor * (means - means.mean())


def _grid(runs: Numbers) -> Float[Array, "settings runs"]:
    grid = as_floats(runs, "runs")
    if grid.ndim != 2 or grid.shape[0] < 2 or grid.shape[1] < 2:
        raise InputError(f"runs has shape {grid.shape}; it should be (settings, runs), 2 or more of each")
    return grid


def _strata(
    strata: Sequence[Numbers], sizes: Sequence[int], weights: Sequence[float] | None
) -> tuple[list[Array], Array, Array]:
    samples = [as_floats(x, f"stratum {k}") for k, x in enumerate(strata)]
    if len(samples) != len(sizes):
        raise InputError(f"there are {len(sizes)} sizes for {len(samples)} strata; give one for each")
    for k, (x, size) in enumerate(zip(samples, sizes, strict=True)):
        if x.ndim != 2 or len(x) > size or (len(x) < 2 and len(x) < size):
            shape = f"stratum {k} has shape {x.shape} of {size} settings"
            raise InputError(f"{shape}; it should be (settings, runs), 2 settings or more unless drawn whole")
    by = np.asarray(sizes if weights is None else weights, float)
    if len(by) != len(samples):
        raise InputError(f"there are {len(by)} weights for {len(samples)} strata; give one for each")
    return samples, np.asarray(sizes, float), by / by.sum()


def _near(means: Float[Array, "... settings"], slack: float) -> Float[Array, "..."]:
    """The share of settings within `slack` of the best."""
    return np.asarray((means >= means.max(-1, keepdims=True) - slack).mean(-1))


def _median_less_mean(means: Float[Array, "... settings"]) -> Float[Array, "..."]:
    return np.asarray(np.median(means, -1) - means.mean(-1))
