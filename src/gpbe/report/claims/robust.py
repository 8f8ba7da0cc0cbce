"""Claims about robust losses (Patterson, Liao and White 2022), decided by exact minima."""

import polars as pl

from gpbe.analysis.findings import Answer, every, exactly
from gpbe.report.claims.claim import claim

WHERE = "Patterson, Liao and White 2022"
NOTHING = 1e-6
"""Errors below are 0, as well as a solver of convex programs can tell."""


@claim(
    "A few outliers in Bellman errors spoil the minima of squared losses the more the larger they are; "
    "those of the Huber BE only so far, and those of the absolute BE not at all.",
    WHERE,
    "robust",
)
def outliers_spoil_squared_losses(table: pl.DataFrame) -> Answer:
    errors = table.filter(panel="size").group_by("loss", "at").agg(pl.col("error").median())
    last = float(errors["at"].to_numpy().max())
    grown = {
        str(loss): rows.filter(at=last)["error"].item()
        / rows.filter((pl.col("at") * 10 - last).abs() < 1e-3)["error"].item()
        for (loss,), rows in errors.filter(pl.col("loss") != "absolute BE").group_by("loss", maintain_order=True)
    }
    squared = [exactly(loss, grown[loss], grown[loss] > 5) for loss in ("VE", "PBE, H = F", "BE")]
    most = float(errors.filter(loss="absolute BE")["error"].to_numpy().max())
    return every(
        [
            *squared,
            exactly("Huber BE", grown["Huber BE"], grown["Huber BE"] < 2),
            exactly("absolute BE", most, most < NOTHING),
        ],
        "growth of the median error in other states as outliers grow tenfold; of the absolute BE the error itself",
    )
