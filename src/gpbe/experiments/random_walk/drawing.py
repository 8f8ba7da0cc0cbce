"""Fixed points on the random walk: which objective and weighting give the best values."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.experiments.random_walk.computation import EVALUATIONS, OBJECTIVES, REPRESENTATIONS, WEIGHTINGS
from gpbe.figures import style


def draw(table: pl.DataFrame) -> Figure:
    """A cell for each minimum (row) and each representation and evaluation (column); darker is worse."""
    rows = [(o, w) for o in OBJECTIVES for w in WEIGHTINGS]
    with style.figure(9.0, 4.2) as fig:
        axes = fig.subplots(1, len(EVALUATIONS), sharey=True)
        for axis, evaluation in zip(axes, EVALUATIONS, strict=True):
            cells = np.array([[_error(table, r, evaluation, o, w) for r in REPRESENTATIONS] for o, w in rows])
            axis.imshow(np.log10(cells), cmap="cividis_r", vmin=-2, vmax=0, aspect="auto")
            for (i, j), error in np.ndenumerate(cells):
                axis.text(j, i, f"{error:.3f}", ha="center", va="center", color="w" if error > 0.08 else "k")
            axis.set_title(f"error measured under {style.WEIGHTING[evaluation]}")
            axis.set_xticks(range(len(REPRESENTATIONS)), [r.replace(" ", "\n") for r in REPRESENTATIONS])
            axis.set_yticks(range(len(rows)), [f"{style.OBJECTIVE[o]}, {style.WEIGHTING[w]}" for o, w in rows])
            axis.axhline(len(WEIGHTINGS) - 0.5, color="w", linewidth=2)
            axis.grid(False)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
        axes[0].set_ylabel("objective and weighting minimized")
        bar = fig.colorbar(axes[0].images[0], ax=axes, shrink=0.9, label="normalized value error (log scale)")
        bar.set_ticks([-2, -1, 0], labels=["0.01", "0.1", "1"])
        draws = table["draws"][0]
        fig.suptitle(f"19-state random walk, {draws:,} random policies and representations: mean error", fontsize=11)
    return fig


def _error(table: pl.DataFrame, representation: str, evaluation: str, objective: str, weighting: str) -> float:
    return table.filter(representation=representation, evaluation=evaluation, objective=objective, weighting=weighting)[
        "error"
    ].item()
