"""Claims that studies decide: on the studies themselves where they are exact, and on tables with a known truth."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from gpbe import experiments, report
from gpbe.analysis.stored import Stored
from gpbe.experiments.random_walk.computation import CELL

CLAIMS = {claim.name: claim for claim in report.CLAIMS}


def verdict(name: str, table: pl.DataFrame) -> str:
    return CLAIMS[name].judge(Stored({CLAIMS[name].experiment: table})).verdict


@pytest.fixture(scope="module")
def exact() -> Stored:
    return Stored({name: experiments.find(name, "smoke").rows() for name in ("kolter", "aliased", "tde-bias")})


def test_exact_studies_decide_as_the_papers_arithmetic_does(exact):
    """Closed forms: B and C at 1, 0 and at 3/4, 1/4; a pole at 0.684386; a divider of voltages 0.2635 away."""
    judged = {
        each.claim.name: each.finding
        for each in report.judge(exact)
        if getattr(each.claim, "experiment", "") in exact.tables
    }
    assert {name: finding.verdict for name, finding in judged.items()} == {
        "pbe-right-on-aliased": "holds",
        "be-spoils-aliased": "holds",
        "kolters-pbe-explodes": "holds",
        "larger-h-bounds-kolter": "holds",
        "emphatic-weights-mend-kolter": "holds",
        "be-good-on-kolter": "does not hold",  # 0.0625 at worst, 300 times what emphatic weights have
        "tde-biased": "holds",
    }
    assert "TDE: 0.264" in judged["tde-biased"].numbers
    assert "[" not in judged["tde-biased"].numbers  # no chance, no interval


def test_exact_claims_fail_where_the_numbers_are_others(exact):
    tde = exact.rows("tde-bias")
    assert verdict("tde-biased", tde.with_columns(distance=0.0)) == "does not hold"
    assert verdict("be-spoils-aliased", exact.rows("aliased").with_columns(value=0.5)) == "does not hold"
    kolter = exact.rows("kolter").with_columns(value_error=pl.col("value_error").clip(upper_bound=10.0))
    assert verdict("kolters-pbe-explodes", kolter) == "does not hold"


def test_claims_without_results_say_what_to_run():
    finding = CLAIMS["tde-biased"].judge(Stored({}, lacking={"tde-bias": "no results; first: gpbe run tde-bias"}))
    assert (finding.verdict, finding.missing) == ("undecided", "no results; first: gpbe run tde-bias")
    assert all(each.finding.missing for each in report.judge(Stored()))


def walk(draws: int, **errors: float) -> pl.DataFrame:
    """Sums over draws of errors with a spread of 0.3; by objective and weighting, for every representation."""
    cells = list(product(("tiles", "bins"), ("behavior", "target"), ("pbe", "be"), ("behavior", "target", "emphatic")))
    means = np.array([errors[f"{objective}_{weighting}"] for *_, objective, weighting in cells])
    names = pl.DataFrame(cells, schema=list(CELL), orient="row")
    return names.with_columns(
        error=draws * means, square=draws * (means**2 + 0.3**2), log10=pl.lit(0.0), draws=pl.lit(draws)
    )


AS_THERE = {"pbe_behavior": 0.6, "pbe_target": 0.2, "pbe_emphatic": 0.1} | {
    "be_behavior": 0.7,
    "be_target": 0.5,
    "be_emphatic": 0.4,
}


@pytest.mark.parametrize("name", ["emphatic-weights-best", "behavior-weights-worst", "be-no-advantage"])
def test_the_random_walk_decides_with_many_draws_and_not_with_few(name):
    assert verdict(name, walk(10_000, **AS_THERE)) == "holds"
    assert verdict(name, walk(10, **AS_THERE)) == "undecided"
    upside_down = {key: 1 - error for key, error in AS_THERE.items()}
    assert verdict(name, walk(10_000, **upside_down)) == "does not hold"


def pieces_of_random_walk(draws: int) -> pl.DataFrame:
    from gpbe.experiments.random_walk.computation import rows

    return pl.concat([rows(0, first, 500) for first in range(0, draws, 500)])


def test_claims_add_up_the_pieces_of_the_random_walk():
    pieces = pieces_of_random_walk(1000)
    whole = pieces.group_by(CELL, maintain_order=True).agg(pl.col("error", "square", "log10", "draws").sum())
    for name in ("emphatic-weights-best", "be-no-advantage"):
        one, other = (CLAIMS[name].judge(Stored({"random-walk": table})).numbers for table in (pieces, whole))
        assert one == other


def spiral(td: float, gradient: float, runs: int = 20) -> pl.DataFrame:
    """The shares of runs that escape, at the last of two points."""
    parts = []
    for method, share in (("TD", td), ("residual gradient", gradient), ("GTD2 with Hessian", gradient)):
        escaped = np.arange(runs) < share * runs
        late = np.stack([np.zeros(runs, bool), escaped], axis=-1).ravel()
        parts.append(
            pl.DataFrame({"panel": "p", "method": method, "run": np.repeat(np.arange(runs), 2), "escaped": late})
        )
    return pl.concat(parts)


def test_divergence_is_a_matter_of_shares_of_runs():
    assert verdict("nonlinear-td-diverges", spiral(td=1.0, gradient=0.0)) == "holds"
    assert verdict("nonlinear-td-diverges", spiral(td=0.0, gradient=0.0)) == "does not hold"
    assert verdict("nonlinear-td-diverges", spiral(td=1.0, gradient=1.0)) == "does not hold"
    assert verdict("nonlinear-td-diverges", spiral(td=1.0, gradient=0.0, runs=4)) == "undecided"


def baird(growth: dict[str, float], runs: int = 12) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"algorithm": name, "run": np.repeat(np.arange(runs), 2), "rmsve": [1.0, factor] * runs})
        for name, factor in growth.items()
    )


def test_bairds_star_is_judged_by_where_runs_end():
    stays = {"tdc": 0.1, "gtd2": 0.1, "tdrc": 0.5}
    assert verdict("td-diverges-on-bairds-star", baird({"td": 1e4, **stays})) == "holds"
    assert verdict("td-diverges-on-bairds-star", baird({"td": 2.0, **stays})) == "does not hold"


def pair(apart: float, learned_apart: float, runs: int = 12) -> pl.DataFrame:
    """A method for each objective; minima and learned values of the second problem are shifted."""
    parts = []
    for objective, sees in (("ibe", "observations"), ("be", "a model")):
        for which in (0, 1):
            exact = apart * which if objective == "be" else 0.0
            noise = np.random.default_rng(which).normal(0, 0.01, (2, runs))
            a, b = noise + which * (learned_apart if objective == "ibe" else apart)
            values = {"value_a": a, "value_b": b, "exact_a": exact, "exact_b": exact}
            names = {"method": objective, "sees": sees, "objective": objective}
            parts.append(
                pl.DataFrame({**names, "problem": f"identifiability-{which + 1}", "run": range(runs), **values})
            )
    return pl.concat(parts)


def test_identifiability_is_exact_in_the_minima_and_statistical_in_what_is_learned():
    assert verdict("be-not-identifiable", pair(0.3, 0.0)) == "holds"
    assert verdict("be-not-identifiable", pair(0.0, 0.0)) == "does not hold"
    assert verdict("identifiable-be-identifiable", pair(0.3, 0.0)) == "holds"
    assert verdict("same-data-same-values", pair(0.3, 0.0)) == "holds"
    assert verdict("same-data-same-values", pair(0.3, 0.5)) == "does not hold"


def aliased(gaps: dict[float, float], runs: int = 10) -> pl.DataFrame:
    parts = []
    for (ridge, gap), observation in product(gaps.items(), "ABC"):
        value = {"A": 0.5, "B": 0.5 + gap / 2, "C": 0.5 - gap / 2}[observation]
        values = value + np.random.default_rng(0).normal(0, 0.001, (runs, 8))
        columns = {"run": np.repeat(np.arange(runs), 8), "step": np.tile(np.arange(8), runs), "value": values.ravel()}
        parts.append(pl.DataFrame({"set": f"ridge {ridge}", "ridge": ridge, "observation": observation, **columns}))
    return pl.concat(parts)


def test_aliased_values_suffer_as_h_grows():
    assert verdict("learned-aliased-suffers", aliased({np.inf: 1.0, 1.0: 0.7, 0.0: 0.5})) == "holds"
    assert verdict("learned-aliased-suffers", aliased({np.inf: 1.0, 1.0: 0.7, 0.0: 0.9})) == "does not hold"
