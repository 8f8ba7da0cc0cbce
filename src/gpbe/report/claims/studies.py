"""Claims that studies decide: examples and fixed points by exact numbers, what is sampled or learned by statistics."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import polars as pl
from jaxtyping import Bool

from gpbe.analysis import inference
from gpbe.analysis.findings import Answer, Fact, above, every, exactly, not_so, similar
from gpbe.experiments.random_walk.computation import CELL
from gpbe.experiments.random_walk.computation import table as random_walk_table
from gpbe.report.claims.claim import claim
from gpbe.shapes import Array
from gpbe.summary import mean_of_last

NONLINEAR, IDENTIFIABLE = "section 1", "section 4.2"
CHOICES, WALK, BOUNDS, BIAS = "section 5.1", "section 5.1, random walk", "section 6.1", "appendix B"
EXACT = 1e-9
"""Solutions of linear equations are equal within this."""
SMALL = 0.01
"""Errors below this part of the values' own mean square are small."""
ALIKE = 0.1
"""Learned values within this are alike."""
WEIGHTS = {"behavior": "d_b", "target": "d_pi", "emphatic": "m"}
PAIR = ("identifiability-1", "identifiability-2")

Minimum = tuple[str, str]
"""An objective and a weighting."""
Pair = tuple[str, Minimum, Minimum]
"""The weighting that judges, and two minima."""


# --- divergence


@claim(
    "With a nonlinear value function TD can diverge even on-policy; gradients of the BE and of the PBE do not.",
    NONLINEAR,
    "spiral",
)
def nonlinear_td_diverges(table: pl.DataFrame) -> Answer:
    last = table.group_by("panel", "method", "run", maintain_order=True).agg(pl.col("escaped").last())
    gradients = ("residual gradient", "double sampling", "KBE", "TDC with Hessian", "GTD2 with Hessian")
    there = [name for name in gradients if name in set(last["method"])]
    facts = [_share(name, last.filter(method=name)["escaped"].to_numpy()) for name in ("TD", *there)]
    return every([facts[0], *map(not_so, facts[1:])], "share of runs that diverge, above or below a half")


@claim("Off-policy TD diverges on Baird's star; gradient methods do not.", BOUNDS, "baird")
def td_diverges_on_bairds_star(table: pl.DataFrame) -> Answer:
    ends = table.group_by("algorithm", "run", maintain_order=True).agg(
        grown=pl.col("rmsve").last() > 10 * pl.col("rmsve").first()
    )
    grown = {name: ends.filter(algorithm=name)["grown"].to_numpy() for name in ends["algorithm"]}
    stay = [not_so(_share(name.upper(), grown[name])) for name in ("tdc", "gtd2", "tdrc")]
    return every([_share("TD", grown["td"]), *stay], "share of runs that end ten times as far away as they began")


# --- identifiability


@claim(
    "The BE is not identifiable: two problems with the same data have different minima.",
    IDENTIFIABLE,
    "identifiability-learned",
)
def be_not_identifiable(table: pl.DataFrame) -> Answer:
    apart = _apart(table, "be")
    return every([exactly("BE", apart, apart > ALIKE)], "distance between the minima in the two problems")


@claim(
    "The identifiable BE is: its minimum is the same in problems with the same data.",
    IDENTIFIABLE,
    "identifiability-learned",
)
def identifiable_be_identifiable(table: pl.DataFrame) -> Answer:
    apart = _apart(table, "ibe")
    return every([exactly("identifiable BE", apart, apart < EXACT)], "distance between the minima in the two problems")


@claim(
    "With h a function of what is observed, the same is learned from the same data.",
    IDENTIFIABLE,
    "identifiability-learned",
)
def same_data_same_values(table: pl.DataFrame) -> Answer:
    seen = table.filter(sees="observations")
    questions = list(product(seen["method"].unique(maintain_order=True), ("a", "b")))
    facts = []
    for method, state in questions:
        runs = [seen.filter(method=method, problem=name)[f"value_{state}"].to_numpy() for name in PAIR]
        evidence = inference.welch(runs, [1.0, -1.0])
        facts.append(similar(f"{method}, value of {state.upper()}", evidence, ALIKE))
    return every(facts, f"difference between the two problems, within {ALIKE:g}")


# --- the projection set and the quality of the solution


@claim("On the aliased example the PBE with H = F has the right values of B and C, 1 and 0.", CHOICES, "aliased")
def pbe_right_on_aliased(table: pl.DataFrame) -> Answer:
    return _values(table.filter(share=0.0), {"B": 1.0, "C": 0.0})


@claim("On the aliased example the BE spoils B and C: it has them at 3/4 and 1/4.", CHOICES, "aliased")
def be_spoils_aliased(table: pl.DataFrame) -> Answer:
    return _values(table.filter(share=1.0), {"B": 0.75, "C": 0.25})


@claim(
    "Learned by a network, the values of B and C suffer the more the larger H is, as those of the BE do.",
    CHOICES,
    "aliased-learned",
)
def learned_aliased_suffers(table: pl.DataFrame) -> Answer:
    sets = table.sort("ridge", descending=True)["set"].unique(maintain_order=True).to_list()
    gaps = {name: _late(table, name, "B") - _late(table, name, "C") for name in sets}
    facts = [
        above(f"{small} less {large}", inference.welch([gaps[small], gaps[large]], [1.0, -1.0]))
        for small, large in pairwise(sets)
    ]
    return every(facts, "what the gap between B and C (1 in truth) loses as H grows")


@claim("In Kolter's example the PBE's solution is arbitrarily bad near one behavior, p = 0.684386.", CHOICES, "kolter")
def kolters_pbe_explodes(table: pl.DataFrame) -> Answer:
    worst = table.filter(objective="pbe", weighting="behavior", ridge=np.inf).sort("value_error").row(-1, named=True)
    facts = [
        exactly("largest VE", worst["value_error"], worst["value_error"] > 1e6),
        exactly("distance of its p from 0.684386", off := abs(worst["p"] - 0.684386), off < 1e-5),
    ]
    return every(facts, "over all behaviors; the values' own mean square is about 1")


@claim(
    "In Kolter's example any H larger than F bounds the PBE's solution, the more the larger H is.",
    CHOICES,
    "kolter",
)
def larger_h_bounds_kolter(table: pl.DataFrame) -> Answer:
    grown = table.filter(objective="pbe", weighting="behavior")
    worst = grown.group_by("ridge").agg(pl.col("value_error").max()).sort("ridge", descending=True).rows()
    facts = [
        exactly(f"ridge {ridge:g}", error, error < min(before, 2.0)) for (_, before), (ridge, error) in pairwise(worst)
    ]
    return every(facts, "largest VE over all behaviors, below 2 and falling with the ridge")


@claim("In Kolter's example the PBE's solution with emphatic weights is reasonable.", CHOICES, "kolter")
def emphatic_weights_mend_kolter(table: pl.DataFrame) -> Answer:
    return _good(table.filter(weighting="emphatic"), "PBE, emphatic weights")


@claim("In Kolter's example the BE's solution is very good.", CHOICES, "kolter")
def be_good_on_kolter(table: pl.DataFrame) -> Answer:
    return _good(table.filter(objective="be"), "BE")


# --- the random walk


@claim(
    "The PBE with emphatic weights has the lowest value error under d_b, for every representation.",
    WALK,
    "random-walk",
)
def emphatic_weights_best(rows: pl.DataFrame) -> Answer:
    best = ("pbe", "emphatic")
    pairs = [("behavior", other, best) for other in product(("pbe", "be"), WEIGHTS) if other != best]
    return _all_worse(rows, pairs, "normalized VE under d_b, less that of the PBE with emphatic weights")


@claim("Within each objective, weights d_b give the highest value error, under d_b and d_pi.", WALK, "random-walk")
def behavior_weights_worst(rows: pl.DataFrame) -> Answer:
    pairs = [
        (evaluation, (objective, "behavior"), (objective, weighting))
        for evaluation, objective, weighting in product(("behavior", "target"), ("pbe", "be"), ("target", "emphatic"))
    ]
    return _all_worse(rows, pairs, "normalized VE with weights d_b, less that with others")


@claim("The BE has no advantage over the PBE with the same weights.", WALK, "random-walk")
def be_no_advantage(rows: pl.DataFrame) -> Answer:
    pairs = [
        (evaluation, ("be", weighting), ("pbe", weighting))
        for evaluation, weighting in product(("behavior", "target"), WEIGHTS)
    ]
    return _all_worse(rows, pairs, "normalized VE of the BE, less that of the PBE")


# --- the TD error


@claim(
    "With a table on the 5-state walk the TDE's minimum misses v_pi by 0.26; that of every other objective is v_pi.",
    BIAS,
    "tde-bias",
)
def tde_biased(table: pl.DataFrame) -> Answer:
    distance = dict(table.select("objective", "distance").unique(maintain_order=True).rows())
    facts = [exactly("TDE", distance["tde"], round(distance["tde"], 2) == 0.26)]
    facts += [exactly(name.upper(), distance[name], distance[name] < EXACT) for name in ("ve", "be", "pbe")]
    return every(facts, "Euclidean distance of the minimum to v_pi")


def _share(what: str, happened: Bool[Array, " runs"]) -> Fact:
    """Does it happen to more than half of the runs?"""
    return above(what, inference.share(happened), 0.5)


def _apart(table: pl.DataFrame, objective: str) -> float:
    """How far the exact minima of an objective lie apart in the two problems."""
    rows = table.filter(objective=objective)
    one, two = (rows.filter(problem=name).select("exact_a", "exact_b").row(0) for name in PAIR)
    return float(np.linalg.norm(np.subtract(one, two)))


def _values(solution: pl.DataFrame, expected: dict[str, float]) -> Answer:
    values = dict(solution.select("state", "value").rows())
    return every(exactly(state, values[state], abs(values[state] - v) < EXACT) for state, v in expected.items())


def _late(table: pl.DataFrame, name: str, observation: str) -> Array:
    """What each run has learned at the end: the mean over its last quarter."""
    rows = table.filter(set=name, observation=observation).sort("run", "step")
    return mean_of_last(rows["value"].to_numpy().reshape(rows["run"].n_unique(), -1))


def _good(solution: pl.DataFrame, what: str) -> Answer:
    """Is a solution of Kolter's example good for all behaviors?"""
    worst = float(solution["value_error"].to_numpy().max())
    fact = exactly(what, worst, worst < SMALL)
    return every([fact], f"largest VE over all behaviors; good means below {SMALL:g}")


def _all_worse(rows: pl.DataFrame, pairs: Sequence[Pair], remark: str) -> Answer:
    """Is the first of each pair of minima (objective, weighting) worse, for every representation?

    The draws are shared, so the standard error of a difference is at most the sum of both.
    """
    table = random_walk_table(rows)
    means = {tuple(row[:4]): row[4:6] for row in table.select(*CELL, "error", "standard_error").rows()}
    representations = table["representation"].unique(maintain_order=True).to_list()
    facts = []
    for name, (evaluation, first, second) in product(representations, pairs):
        (worse, error), (better, other) = (means[name, evaluation, *cell] for cell in (first, second))
        what = f"{name}, {_cell(first)} - {_cell(second)}, under {WEIGHTS[evaluation]}"
        evidence = inference.Student(np.asarray(worse - better), np.asarray(error + other), np.asarray(np.inf))
        facts.append(above(what, evidence))
    return every(facts, remark)


def _cell(cell: tuple[str, str]) -> str:
    return f"{cell[0].upper()} {WEIGHTS[cell[1]]}"
