"""Drawings of the evidence, each of its table alone."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from gpbe.analysis.labels import label_of, look_of
from gpbe.envs.domains import PAPER, title_of
from gpbe.experiments.evidence.design import ABLATIONS, BENCHMARK
from gpbe.experiments.evidence.levels import MARGIN
from gpbe.figures import looks, panels, style


def draw_voted(table: pl.DataFrame) -> Figure:
    return _curves(table, "One setting for all domains (Condorcet vote), fresh runs: mean return and standard error")


def draw_tuned(table: pl.DataFrame) -> Figure:
    return _curves(table, "The best setting of each domain, fresh runs: mean return and standard error")


def draw_gaps(table: pl.DataFrame) -> Figure:
    """A panel for each way to choose, an algorithm a row below the name of each domain."""
    others = panels.there(BENCHMARK, table)
    domains = [domain for domain in PAPER if domain in set(table["domain"])]
    rows = [(domain, name) for domain in domains for name in (None, *others)]
    titles = {"voted": "one setting for all domains", "tuned": "a setting for each domain"}
    with style.figure(8.6, 1.4 + 0.24 * len(rows)) as fig:
        axes = fig.subplots(1, len(titles), sharex=True, sharey=True)
        for axis, (choice, title) in zip(axes, titles.items(), strict=True):
            axis.axvspan(-MARGIN, MARGIN, color=style.GREY, alpha=0.18, linewidth=0)
            axis.axvline(0, color=style.BLACK, linewidth=0.8)
            for gap in table.filter(choice=choice).rows(named=True):
                at, color = rows.index((gap["domain"], gap["algorithm"])), looks.color_of(look_of(gap["algorithm"]))
                ends = [[gap["gap"] - gap["low"]], [gap["high"] - gap["gap"]]]
                axis.errorbar([gap["gap"]], [at], xerr=ends, color=color, fmt="o", markersize=5)
            axis.set(title=title, xlabel="QRC less the other, in parts of the way")
            axis.grid(visible=False, axis="y")
            axis.tick_params(axis="y", length=0)
        axes[0].set_yticks(range(len(rows)), [label_of(name) if name else title_of(domain) for domain, name in rows])
        for (_, name), label in zip(rows, axes[0].get_yticklabels(), strict=True):
            label.set_fontweight("normal" if name else "bold")
        axes[0].set_ylim(len(rows) - 0.5, -0.5)
        fig.suptitle(
            "How far QRC is ahead in fresh runs, with limits at level 95 % (gray: too little to matter)", fontsize=10
        )
    return fig


def draw_runs(table: pl.DataFrame) -> Figure:
    """All domains, an algorithm a row."""
    columns, rows = table["domain"].n_unique(), len(panels.there(BENCHMARK, table))
    with style.figure(max(5.2, 1.2 + 2.2 * columns), 1.5 + 1.25 * rows) as fig:
        panels.run_stacks(fig, table, BENCHMARK)
        fig.suptitle("Fresh runs of the tuned settings (dashed: their mean)", fontsize=10)
    return fig


def draw_settings(table: pl.DataFrame) -> Figure:
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.violin_panels(fig, table, BENCHMARK)
        fig.suptitle("Mean return of each screened setting", fontsize=10)
    return fig


def draw_profiles(table: pl.DataFrame) -> Figure:
    """A panel for each way to choose: the share of runs above a part of the way, and the interquartile mean."""
    with style.figure(8.6, 4.2) as fig:
        axes = fig.subplots(1, 2, sharey=True)
        for axis, choice in zip(axes, ("voted", "tuned"), strict=True):
            for k, name in enumerate(BENCHMARK):
                rows, look = table.filter(choice=choice, algorithm=name), look_of(name)
                part, share, low, high = (rows[c].to_numpy() for c in ("part", "share", "low", "high"))
                color = looks.color_of(look)
                axis.plot(part, share, color=color, linestyle=looks.linestyle_of(look))
                axis.fill_between(part, low, high, color=color, alpha=0.2, linewidth=0)
                ends = [[rows["iqm"][0] - rows["iqm_low"][0]], [rows["iqm_high"][0] - rows["iqm"][0]]]
                axis.errorbar([rows["iqm"][0]], [-0.06 - 0.045 * k], xerr=ends, color=color, fmt="o", markersize=4)
            axis.set(title=f"{choice}", xlabel="part of the way to the threshold", ylim=(-0.25, 1.03))
            axis.set_yticks(np.linspace(0, 1, 6))
        axes[0].set_ylabel("share of runs above, mean over domains")
        fig.legend(handles=looks.lines(map(look_of, BENCHMARK)), loc="outside lower center", ncols=4, handlelength=3)
        fig.suptitle("Performance profiles of fresh runs; below them interquartile means", fontsize=10)
    return fig


def draw_sensitivity(table: pl.DataFrame) -> Figure:
    """An algorithm a row: the best setting for all domains, the best of each, and the loss between them."""
    names = [name for name in (*BENCHMARK, *ABLATIONS) if name in set(table["algorithm"])]
    with style.figure(7.4, 1.5 + 0.34 * len(names)) as fig:
        left, right = fig.subplots(1, 2, sharey=True)
        for k, name in enumerate(reversed(names)):
            row, color = table.row(by_predicate=pl.col("algorithm") == name, named=True), looks.color_of(look_of(name))
            left.plot([row["single"], row["tuned"]], [k, k], color=color, linewidth=1.2)
            left.plot(row["single"], k, "o", color=color, markerfacecolor="white", markersize=6)
            left.plot(row["tuned"], k, "o", color=color, markersize=6)
            right.plot(row["loss"], k, "|", color=style.GREY, markersize=9)
            right.plot(row["fair_loss"], k, "o", color=color, markerfacecolor="white", markersize=5)
            if row["fresh_loss"] is not None:
                ends = [[row["fresh_loss"] - row["low"]], [row["high"] - row["fresh_loss"]]]
                right.errorbar([row["fresh_loss"]], [k], xerr=ends, color=color, fmt="o", markersize=5)
        left.set_yticks(range(len(names)), [label_of(name) for name in reversed(names)])
        left.set_xlabel("part of the way, screened: one setting\n(open), one for each domain (filled)")
        right.set_xlabel("loss: screened (gray), cross-fitted (open),\nvoted below tuned in fresh runs (filled)")
        right.axvline(0, color=style.BLACK, linewidth=0.8)
        fig.suptitle("Sensitivity: what one setting for all domains costs", fontsize=10)
    return fig


def _curves(table: pl.DataFrame, title: str) -> Figure:
    with style.figure(*panels.size_of(table["domain"].n_unique())) as fig:
        panels.curve_panels(fig, table, BENCHMARK)
        fig.suptitle(title, fontsize=10)
    return fig
