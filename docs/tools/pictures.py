"""Draw the pictures of the pages into docs/img: `python docs/tools/pictures.py`, or with names those alone.

Figures come from the packed results in results/, as `gpbe figure NAME --from results` draws them; the others are
computed here, in a minute or two each at most. All are written as small PNG files.
"""

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import screened
from matplotlib.figure import Figure
from PIL import Image

from gpbe import exact, mdp
from gpbe.figures import style
from gpbe.wording import as_text

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "img"
STORED = (
    "baird",
    "kolter",
    "aliased",
    "aliased-learned",
    "tde-bias",
    "identifiability-learned",
    "spiral",
    "robust",
    "random-walk",
    "prediction-curves",
    "prediction-sensitivity",
    *(f"evidence-{name}" for name in ("voted", "tuned", "gaps", "runs", "profiles", "settings", "sensitivity")),
)
"""Figures that are drawn from results/."""


def write(figure: Figure, path: Path) -> None:
    """Write a figure with few colors: a third of the bytes, and no eye sees it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(io.BytesIO(style.rendered(figure, "png", dpi=110))).convert("RGB")
    image.quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def stored(name: str) -> Figure:
    """A figure of the library, from packed results."""
    from gpbe import experiments, figures

    return figures.draw(experiments.find_figure(name), experiments.open_packed(ROOT / "results")).figure


def pair() -> Figure:
    """Expected updates of three methods on the pair of states with values w and 2w."""
    from gpbe.algorithms.linear import ALGORITHMS, expected_update

    problem, alpha, steps = mdp.tsitsiklis_van_roy(), 0.02, 400
    with style.figure(6.5, 3.0) as figure:
        axis = figure.subplots()
        for name in ("td", "tdc", "etd"):
            w, h, path = np.ones(1), np.zeros(1), [1.0]
            for _ in range(steps):
                dw, dh = expected_update(problem, name, w, h)
                w, h = w + alpha * dw, h + alpha * dh
                path.append(float(w[0]))
            look = ALGORITHMS[name].look
            axis.plot(path, label=look.label, color=style.PALETTE[look.color], dashes=look.dashes or (None, None))
        axis.axhline(0.0, color=style.GREY, linewidth=0.8)
        axis.set_yscale("symlog", linthresh=1.0)
        axis.set(ylim=(-0.2, 50), xlabel="expected updates", ylabel="w (0 is right)")
        axis.legend()
    return figure


def walk() -> Figure:
    """Values of the five-state walk, and what three objectives converge to."""
    problem = mdp.problem("random-walk-5")
    with style.figure(6.5, 3.0) as figure:
        axis, other = figure.subplots(1, 2, width_ratios=(3, 2))
        states = np.arange(1, 6)
        axis.plot(states, problem.values, "o-", color=style.BLACK, label="$v_\\pi$")
        shown = (("pbe", "behavior", style.BLUE), ("pbe", "emphatic", style.PURPLE), ("be", "behavior", style.ORANGE))
        for objective, d, color in shown:
            label = f"{style.OBJECTIVE[objective]}, {style.WEIGHTING[d]}"
            axis.plot(states, exact.solution(problem, objective, d).values, "s--", color=color, label=label)
            lams = np.linspace(0, 1, 21)
            if objective == "pbe":
                values = [exact.solution(problem, "pbe", d, lam=lam).values for lam in lams]
                errors = [exact.value_error(problem, v, "behavior") ** 0.5 for v in values]
                other.plot(lams, errors, color=color, label=label)
        axis.set(xlabel="state", ylabel="value", xticks=states)
        other.set(xlabel="$\\lambda$", ylabel="$\\sqrt{\\mathrm{VE}}$ under $d_b$", ylim=(0, None))
        axis.legend()
        other.legend()
    return figure


def page(name: str) -> dict[str, Any]:
    """What the examples of a tutorial leave behind."""
    import doctest

    text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text()
    made: dict[str, Any] = {"__name__": name}
    for example in doctest.DocTestParser().get_examples(text):
        exec(compile(example.source, name, "exec"), made)
    return made


def log() -> Figure:
    """The estimates of the tutorial about logs, with the truth."""
    made = page("log")
    found, truth = made["found"], made["truth"]
    names = list(found.estimates)
    with style.figure(6.5, 3.2) as figure:
        axis = figure.subplots()
        for k, name in enumerate(names):
            low, high = found[name].interval
            color = style.RED if name == found.recommended else style.BLUE
            axis.plot([low, high], [k, k], color=color, linewidth=2.5)
            axis.plot(found[name].value, k, "o", color=color)
        axis.axvline(truth, color=style.BLACK, linestyle="--", linewidth=1)
        axis.set(yticks=range(len(names)), yticklabels=names, xlabel="value of the proposed rule, 95 % intervals")
        axis.invert_yaxis()
    return figure


def corridor() -> Figure:
    """Three algorithms in the corridor of a tutorial: step sizes are chosen on one seed and shown on another."""
    import gpbe
    from gpbe.algorithms.control import ALGORITHMS

    made = page("own-environment")
    same = {"steps": 8_000, "hidden": (16,), "batch": 16, "every": 500}
    grid = np.array([2.0**-9, 2.0**-7, 2.0**-5])
    names = ("q-learning", "expected-sarsa", "qrc")
    with style.figure(7.5, 2.8) as figure:
        for name, axis in zip(names, figure.subplots(1, 3, sharey=True), strict=True):
            tried = gpbe.train(made["make"], name, runs=2, step_size=grid, seed=1, **same)
            best = float(grid[tried.finals.mean(1).argmax()])
            shown = gpbe.train(made["make"], name, runs=8, step_size=best, seed=2, **same)
            look = ALGORITHMS[name].look
            axis.plot(shown.steps, shown.returns.T, color=style.PALETTE[look.color], linewidth=0.7, alpha=0.7)
            axis.plot(shown.steps, np.median(shown.returns, 0), color=style.PALETTE[look.color], linewidth=2.5)
            axis.axhline(float(made["best"][0].max()), color=style.BLACK, linestyle="--", linewidth=1)
            axis.set(xlabel="steps", title=f"{look.label}, {as_text(best)}", ylim=(-205, 5))
        figure.axes[0].set_ylabel("return, while exploring")
    return figure


def sweep() -> Figure:
    """What the tutorial about sweeps draws at its end; its sweeps are run for that."""
    from gpbe import experiments

    text = (ROOT / "docs" / "tutorials" / "sweep.md").read_text()
    made: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("choose.toml").write_text(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0])
        [declared] = experiments.read("choose.toml")
        experiments.run(declared, "out/results/choose")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, "sweep.md", "exec"), made)
    return made["figure"]


DRAWN: dict[str, Callable[[], Figure]] = {
    "pair": pair,
    "walk": walk,
    "log": log,
    "corridor": corridor,
    "sweep": sweep,
}


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    for name in names or [*STORED, *screened.SHOWN, *DRAWN]:
        folder = "tutorials" if name in DRAWN else "figures"
        if name in DRAWN:
            figure = DRAWN[name]()
        else:
            figure = screened.draw(name, ROOT / "results") if name in screened.SHOWN else stored(name)
        write(figure, IMAGES / folder / f"{name}.png")
        print(folder, name, (IMAGES / folder / f"{name}.png").stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
