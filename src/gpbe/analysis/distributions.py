"""Distributions of performance: histograms and Gaussian kernel densities (paper, section 9.3)."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float

from gpbe.analysis.tables import SETTING, check_performances, restrict
from gpbe.errors import InputError
from gpbe.shapes import Array, Numbers

BINS = 30
"""How many bins the paper's histograms have."""


@dataclass(frozen=True, eq=False)
class Density:
    """A density `y` at the points `x`, and the standard deviation of the kernel that made it."""

    x: Float[Array, " points"]
    y: Float[Array, " points"]
    bandwidth: float


def density(values: Numbers, points: int = 200, cut: float | int = 3.0, narrowest: float | None = None) -> Density:
    """Gaussian kernel density with Scott's bandwidth, s n^(-1/5), where s is the standard deviation of the sample.

    It is evaluated from `cut` bandwidths below the smallest value to `cut` above the largest; with 3 the area under
    it is 1 up to a thousandth. A single value, or values that are all the same, have no spread: their kernel has the
    standard deviation `narrowest`, by default a hundredth of the value (1 for 0), and then `cut` is at least 3.

    >>> bump = density([-5.0, -4.0, -4.0, -1.0], points=5)
    >>> bump.x.round(1), bump.y.round(2)
    (array([-8.9, -6. , -3. , -0. ,  2.9]), array([0.  , 0.11, 0.16, 0.06, 0.  ]))
    >>> density([2.0]).bandwidth
    0.02
    """
    sample = _sample(values)
    if points < 2:
        raise InputError(f"a density needs at least 2 points, not {points}")
    if not cut >= 0:
        raise InputError(f"cut is {cut}; it should be 0 bandwidths or more")
    low, high, n = sample.min(), sample.max(), len(sample)
    if low < high:
        bandwidth = float(sample.std(ddof=1) * n**-0.2)
    else:
        bandwidth = narrowest or abs(float(low)) / 100 or 1.0
        cut = max(cut, 3.0)
    x = np.linspace(low - cut * bandwidth, high + cut * bandwidth, points)
    distance = (x[:, None] - sample) / bandwidth
    y = np.exp(-(distance**2) / 2).sum(-1) / (n * bandwidth * np.sqrt(2 * np.pi))
    return Density(x, y, bandwidth)


def run_densities(
    performances: pl.DataFrame, choices: pl.DataFrame | None = None, points: int = 200, cut: float | int = 3.0
) -> pl.DataFrame:
    """Kernel densities of performance over runs, one for each setting.

    `choices` picks settings: a table with columns algorithm, setting and perhaps domain, such as those of the functions
    that choose. Settings whose runs all ended alike get a bump a bin wide, a bin of `run_histograms`.

    Columns: domain, algorithm, setting, performance, density.

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 0, 0, 1, 1], "run": [0, 1, 2, 0, 1],
    ...     "performance": [-30.0, -3.0, 0.0, -2.0, -2.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> run_densities(performances, points=3).filter(setting=1)["performance"].to_list()
    [-5.0, -2.0, 1.0]
    """
    frames = []
    for names, values, (low, high) in _groups(performances, choices):
        outline = density(values, points, cut, narrowest=(high - low) / BINS)
        frames.append(pl.DataFrame({**names, "performance": outline.x, "density": outline.y}))
    return pl.concat(frames)


def run_histograms(performances: pl.DataFrame, choices: pl.DataFrame | None = None, bins: int = BINS) -> pl.DataFrame:
    """Histograms of performance over runs, one for each setting.

    The bins divide the range of all performances in that domain, chosen or not, so that histograms in one domain can
    be laid over each other. Columns: domain, algorithm, setting, bin, low, high (edges; the last bin includes its
    upper one), count, proportion (of the setting's runs).

    >>> performances = pl.DataFrame({
    ...     "domain": "hill", "algorithm": "qrc", "setting": [0, 0, 0, 1], "run": [0, 1, 2, 0],
    ...     "performance": [-4.0, -3.0, 0.0, -2.0], "points": 50, "unfinished": 0, "diverged": False,
    ... })
    >>> run_histograms(performances, bins=2).select("setting", "low", "high", "count").rows()
    [(0, -4.0, -2.0, 2), (0, -2.0, 0.0, 1), (1, -4.0, -2.0, 0), (1, -2.0, 0.0, 1)]
    """
    if bins < 1:
        raise InputError(f"a histogram needs at least 1 bin, not {bins}")
    frames = []
    for names, values, extent in _groups(performances, choices):
        count, edges = np.histogram(values, bins, extent)
        columns = {"bin": np.arange(bins), "low": edges[:-1], "high": edges[1:]}
        frames.append(pl.DataFrame({**names, **columns, "count": count, "proportion": count / len(values)}))
    return pl.concat(frames)


def _groups(performances: pl.DataFrame, choices: pl.DataFrame | None):
    """Each setting with its performances and the range of its domain, which has a width even if nothing varies."""
    table = check_performances(performances)
    extents = {}
    for domain, low, high in table.group_by("domain").agg(low=pl.min("performance"), high=pl.max("performance")).rows():
        extents[domain] = (low, high) if low < high else (low - 0.5, high + 0.5)
    chosen = restrict(table.lazy(), choices).collect().sort(SETTING)
    for key, group in chosen.group_by(SETTING, maintain_order=True):
        names = dict(zip(SETTING, key, strict=True))
        yield names, group["performance"].to_numpy(), extents[names["domain"]]


def _sample(values: Numbers) -> Float[Array, " n"]:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise InputError("a distribution needs a list of finite values, at least one")
    return sample
