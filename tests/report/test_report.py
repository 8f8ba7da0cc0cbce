"""The report: verdicts on invented runs whose truth is known, and a page that stands on its own."""

import json
import re
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import pytest

from gpbe import report, store
from gpbe.analysis.stored import Stored
from gpbe.experiments import DECLARED, FIGURES
from gpbe.experiments.control import BAKEOFF, MEMBERS
from gpbe.figures import style
from gpbe.report.gather import shorter
from helpers import chromium
from helpers.control_runs import DOMAINS, runs
from helpers.html_page import Page

CONTROL = {name for name, spec in FIGURES.items() if set(spec.needs) <= set(MEMBERS)}


def test_claims_without_data_say_what_is_missing():
    data = Stored({"bakeoff": runs(["qrc", "sbeed"], list(DOMAINS)[:2], n=12, points=6, step_sizes=3)})
    judged = {each.claim.name: each.finding for each in report.judge(data)}
    assert judged["saddlepoint-worse"].verdict == "undecided"
    assert judged["saddlepoint-worse"].missing == "bakeoff lacks a tuned setting of GQ in Mountain Car"
    assert judged["qrc-settings-near-the-best"].missing == "bakeoff lacks two runs of every setting of QRC in Cart Pole"
    assert judged["kolters-pbe-explodes"].missing == "there are no results of kolter; first: gpbe run kolter"
    nothing = {each.claim.name: each.finding for each in report.judge(Stored())}
    assert nothing["saddlepoint-worse"].missing.startswith("no runs of control are stored")


def test_names_keep_their_letters_where_they_begin_a_line():
    data = Stored({"bakeoff": runs(["qrc", "sbeed"], list(DOMAINS)[:2], n=12, points=6, step_sizes=3)})
    page = report.render(report.Report(claims=report.judge(data)))
    assert "bakeoff lacks a tuned setting of GQ" in page
    assert "Bakeoff" not in page


@pytest.mark.slow
def test_few_runs_of_equals_decide_nothing_about_differences():
    equal = {name: (0.6, 0.1, 0.0) for names in MEMBERS.values() for name in names}
    judged = report.judge(Stored({"bakeoff": runs(BAKEOFF, n=4, points=6, step_sizes=2, skill=equal)}))
    decided = {each.claim.name for each in judged if each.finding.verdict != "undecided"}
    shares = {"sbeed-few-good-settings", "qlearning-widely-spread", "sbeed-stays-random"}
    unchanged = {
        "held-out-worse",
        "held-out-particularly",
        "runoff-hurts",
        "runoff-spares",
        "qrc-settings-near-the-best",
    }
    assert decided <= shares | unchanged | {"qlearning-skewed-over-settings", "only-qrc-solves-mountain-car"}


def test_claims_are_data():
    names = [claim.name for claim in report.CLAIMS]
    assert len(set(names)) == len(names) >= 65
    for claim in report.CLAIMS:
        assert claim.text.endswith(".")
        assert claim.where.startswith(("section ", "appendix", "Patterson, Liao and White", "Elelimy et al."))
    judged = report.judge(Stored({"kolter": DECLARED["kolter"].at("smoke").rows()}))
    table = report.claims_table(judged)
    assert table.columns == ["claim", "text", "paper", "verdict", "numbers", "where", "p", "q", "missing"]
    assert table.height == len(names)
    told = {each["name"]: each for each in report.records(judged)}
    explodes = told["kolters-pbe-explodes"]
    assert explodes["verdict"] == "holds"
    assert explodes["where"] == "kolter"
    assert explodes["p"] is None  # no chance is in it
    assert explodes["numbers"][0]["estimate"] > 1e6
    assert json.dumps(told)
    assert report.tally(judged).startswith("3 hold, 1 do not hold, ")


def test_false_discoveries_are_counted_over_all_claims_that_chance_has_a_part_in():
    """Benjamini and Yekutieli: p k (1 + 1/2 + ... + 1/k) / rank."""
    judged = report.judge(Stored({"saddlepoint": runs(["gq", "gq-grad"], n=20, points=4, step_sizes=2)}))
    sampled = [each for each in judged if each.q is not None]
    assert sampled
    assert all(not each.finding.missing for each in sampled)
    k = len(sampled)
    smallest = min(each.finding.p for each in sampled)
    expected = smallest * k * sum(1 / rank for rank in range(1, k + 1))
    assert min(each.q for each in sampled) <= min(1.0, expected) + 1e-12


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> report.Report:
    """A report with everything in it: figures of control and of a study, claims, cost, odd names."""
    kolter = DECLARED["kolter"].at("smoke").rows().with_columns(who=pl.lit("a<b"), nothing=None)
    bakeoff = runs(BAKEOFF, list(DOMAINS)[:2], n=3, points=8, step_sizes=2).lazy()
    data = Stored({"bakeoff": bakeoff, "kolter": kolter}, scale="quick")
    out = tmp_path_factory.mktemp("out")
    commands = ("gpbe run bakeoff --scale quick", "gpbe report > a&b")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "save", lambda fig, stem: [])  # tables are written, drawings only into the page
        made = report.gather(data, out, commands=commands, made="today")
    costs = (
        report.Cost("bakeoff", 8, 8, 0, 2, 4000, 4000, 12.5),
        report.Cost("basis", 3, 4, 1, 0, 1500, 2000, 3725.0),
    )
    return replace(made, provenance=replace(made.provenance, costs=costs))


@pytest.fixture(scope="module")
def text(whole, tmp_path_factory) -> str:
    return report.write(tmp_path_factory.mktemp("deep") / "folder" / "report.html", whole).read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_needs_nothing_else(text):
    page = Page(text)
    assert page.fetched
    assert all(address.startswith("data:") for address in page.fetched)
    assert not re.search(r"@import|url\(|<script|https?://", text)
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(image["alt"] for image in page.images)


def test_the_page_lists_every_figure_with_its_table(whole, text):
    page = Page(text)
    drawn = [each.name for each in whole.figures]
    assert set(drawn) == {*CONTROL, "kolter"}
    assert {f"#figure-{name}" for name in drawn} <= set(page.links)
    assert len(page.images) == text.count("The table behind it") == len(drawn)
    assert "kolter.parquet" in text
    assert "a&lt;b" in text
    assert "<th>nothing</th>" not in text
    table = next(each.table for each in whole.figures if each.name == "bakeoff")
    assert f"the first 12 of {table.height:,} rows" in text


def test_the_page_tells_claims_commands_versions_and_cost(whole, text):
    assert all(f'id="claim-{each.claim.name}"' in text for each in whole.claims)
    found = [each.finding.verdict for each in whole.claims]
    for verdict in ("undecided", "holds", "does not hold"):
        shown = text.count(f'<td><span class="verdict {verdict.replace(" ", "-")}">')
        assert shown == found.count(verdict)
    for said in ("gpbe report &gt; a&amp;b", "3 of 4", "1,500 of 2,000", "1 h 2 min", "Quick scale, today", "polars"):
        assert said in text


def test_the_page_says_how_far_the_runs_are_from_the_papers(whole, text):
    assert "The claims about control are about 100 runs of 100,000 steps; the verdicts here are about" in whole.caveat
    assert whole.caveat in text
    long = Stored({"basis": runs(["qrc-sep"], n=100, points=2, step_sizes=1).with_columns(every=50_000)})
    assert shorter(long) == ""


def test_the_same_report_is_the_same_page(whole, text):
    assert report.render(whole) == text


def test_figures_that_cannot_be_drawn_are_named_with_the_reason():
    data = Stored({"saddlepoint": runs(["gq"], n=2, points=4, step_sizes=2)})
    whole = report.gather(data)
    assert [each.name for each in whole.figures] == ["saddlepoint"]
    assert whole.skipped["bakeoff"] == "there are no results of bakeoff; first: gpbe run bakeoff"
    page = report.render(whole)
    assert "Not drawn" in page
    Page(page)


def test_cost_is_read_from_the_results_folder(tmp_path):
    class Chunk(NamedTuple):
        id: str
        group: str = "walk"
        cost: int = 100

    chunks = [Chunk("000000000000000a"), Chunk("000000000000000b"), Chunk("000000000000000c")]
    with store.Results(tmp_path / "bakeoff", {"runs": 2}, "package.module:function", chunks) as results:
        about = {"chunk": chunks[0].id, "spec_hash": results.manifest.spec_hash, "seconds": 2.5, "diverged": 1}
        results.put(chunks[0].id, store.encode(pl.DataFrame({"diverged_at": [-1, 7]}), about))
    (cost,) = report.costs({"bakeoff": tmp_path / "bakeoff"})
    assert (cost.experiment, cost.done, cost.total, cost.steps, cost.all_steps) == ("bakeoff", 1, 3, 100, 300)
    assert (cost.seconds, cost.failed) == (2.5, 0)
    assert {"system", "processor", "cores", "memory"} == set(report.machine())


def test_an_empty_report_and_an_svg_are_pages_too():
    assert not Page(report.render(report.gather(Stored()))).images
    drawing = report.ReportFigure("dot & line", "a dot", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    page = Page(report.render(report.Report(figures=(drawing,))))
    assert page.images[0]["src"].startswith("data:image/svg+xml;base64,")
    assert "figure-dot-line" in page.ids


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium on this machine; name one with CHROMIUM=/path/to/it")
def test_the_page_in_a_browser(whole, tmp_path):
    path = report.write(tmp_path / "report.html", whole)
    browser = chromium.Browser(str(chromium.find()))
    try:
        for width in (390, 1280):
            browser.open(path.as_uri(), width)
            browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            outside = """[...document.body.querySelectorAll('*')].filter(e => !e.closest('.wide, .plate, pre')
                && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
            assert browser.evaluate(outside) == []
            assert browser.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
            assert browser.evaluate("document.images.length") == len(whole.figures)
            dangling = """[...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1))
                .filter(id => !document.getElementById(id))"""
            assert browser.evaluate(dangling) == []
            assert browser.messages == []
    finally:
        browser.close()
