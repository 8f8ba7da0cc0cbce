"""The report: verdicts on invented runs whose truth is known, and a page that stands on its own."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from gpbe import report, store
from gpbe.analysis import Interval
from gpbe.analysis.evidence import Asker, Fact, all_of, most_of
from gpbe.analysis.stored import Stored
from gpbe.experiments import DECLARED, FIGURES, NAMES
from gpbe.experiments.control import BAKEOFF, MEMBERS
from gpbe.figures import style
from gpbe.report.claims.runs import Question
from gpbe.report.gather import shorter
from helpers import chromium
from helpers.control_runs import DOMAINS, runs, sweeps

CONTROL = {name for name, spec in FIGURES.items() if set(spec.needs) <= set(MEMBERS)}


def verdicts(data: Stored) -> dict[str, str]:
    return {each.claim.name: each.finding.verdict for each in report.judge(data)}


def on_runs(judged: report.Judged) -> bool:
    """Is the claim about runs of control?"""
    return isinstance(judged.claim.decide, Question)


@pytest.fixture(scope="module")
def as_in_the_paper() -> dict[str, str]:
    """A world in which the paper's ordering is true by construction, with many runs."""
    skill = {
        "qrc": (0.95, 0.01, 0.1),
        "q-learning": (0.6, 0.1, 0.6),
        "qc-ll": (0.55, 0.1, 0.6),
        "sbeed": (0.3, 0.05, 0.8),
        "gq": (0.4, 0.1, 0.6),
        "gq-grad": (0.5, 0.1, 0.6),
        "qrc-sep": (0.92, 0.02, 0.1),
        "qrc-grad": (0.98, 0.01, 0.1),
        "sbeed-q": (0.6, 0.05, 0.5),
        "tdrc-pg": (0.8, 0.05, 0.6),
    }
    return verdicts(Stored(sweeps(n=60, points=8, skill=skill)))


def test_claims_that_are_true_by_construction_hold(as_in_the_paper):
    hold = {
        "qrc-among-the-best",
        "only-qrc-among-the-best",
        "only-qrc-solves-all",
        "sbeed-worst",
        "qcll-poor-in-hard-domains",
        "qrc-narrow-over-runs",
        "saddlepoint-worse",
        "saddlepoint-wider",
        "gradient-features-help-saddlepoint",
        "bases-comparable",
        "separate-network-worse",
        "gradient-features-better",
        "tuned-qrc-among-the-best",
        "only-qrc-solves-mountain-car",
        "tuned-suboptimal-in-lunar-lander",
    }
    assert {name: as_in_the_paper[name] for name in hold} == dict.fromkeys(hold, "holds")


def test_claims_that_are_false_by_construction_do_not_hold(as_in_the_paper):
    false = ("qcll-good-in-simple-domains", "alike-in-lunar-lander", "tuned-sbeed-best-in-cart-pole")
    assert {as_in_the_paper[name] for name in false} == {"does not hold"}


def test_the_opposite_world_gets_the_opposite_verdicts():
    skill = {
        "qrc": (0.2, 0.1, 0.1),
        "q-learning": (0.5, 0.02, 0.1),
        "qc-ll": (0.6, 0.02, 0.1),
        "sbeed": (0.95, 0.02, 0.1),
    }
    skill |= {"gq": (0.9, 0.001, 0.1), "gq-grad": (0.8, 0.001, 0.1)}
    found = verdicts(Stored(sweeps(n=20, points=8, step_sizes=3, skill=skill)))
    wrong = (
        "qrc-among-the-best",
        "only-qrc-solves-all",
        "sbeed-worst",
        "saddlepoint-worse",
        "qcll-poor-in-hard-domains",
    )
    wrong += ("gradient-features-help-saddlepoint", "saddlepoint-wider", "tuned-qrc-among-the-best")
    assert {name: found[name] for name in wrong} == dict.fromkeys(wrong, "does not hold")


@pytest.mark.parametrize("n", [1, 3])
def test_no_difference_between_equals_is_claimed_on_few_runs(n):
    equal = {name: (0.6, 0.1, 0.0) for names in MEMBERS.values() for name in names}
    judged = [each for each in report.judge(Stored(sweeps(n=n, points=6, step_sizes=2, skill=equal))) if on_runs(each)]
    holds = {each.claim.name for each in judged if each.finding.verdict == "holds"}
    alike = {"qrc-among-the-best", "tuned-qrc-among-the-best", "alike-in-lunar-lander", "bases-comparable"}
    assert holds <= alike | {"qcll-good-in-simple-domains", "qrc-settings-near-the-best", "runoff-spares"}
    assert all(each.finding.facts for each in judged)
    if n == 1:
        decided = {each.finding.verdict for each in judged if "share of" not in each.finding.remark}
        assert decided == {"undecided"}


def test_many_runs_of_equals_are_rarely_taken_for_different():
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        size = 3 + seed % 20
        samples = rng.normal(size=(2, size))
        terms = {k: (sign, samples[k]) for k, sign in enumerate((1.0, -1.0))}
        wrong += Asker().contrast(f"{seed}", terms).verdict == "holds"
    assert wrong <= 20  # 2.5 % would be 8, and bootstraps of ten runs are somewhat too narrow


def test_claims_without_data_say_what_is_missing():
    data = Stored({"bakeoff": runs(["qrc", "sbeed"], list(DOMAINS)[:2], n=12, points=6, step_sizes=3)})
    judged = {each.claim.name: each.finding for each in report.judge(data)}
    assert judged["saddlepoint-worse"].verdict == "no data"
    assert judged["saddlepoint-worse"].numbers == "no runs of GQ and GQ-Grad"
    assert judged["qrc-among-the-best"].numbers == "no runs of Q-learning and QC-LL"
    assert judged["qrc-settings-near-the-best"].verdict == "undecided"
    assert judged["qrc-settings-near-the-best"].remark.startswith("without Cart Pole and Lunar Lander")


def test_experiments_of_different_scales_give_no_verdict_but_a_reason():
    data = Stored({"bakeoff": runs(["qrc"], n=2, points=4), "saddlepoint": runs(["gq", "gq-grad"], n=2, points=8)})
    judged = {each.claim.name: each.finding for each in report.judge(data)}
    assert judged["saddlepoint-worse"].verdict == "no data"
    assert "run the experiments at the same scale" in judged["saddlepoint-worse"].numbers


def test_verdicts_combine():
    def facts(*kinds):
        return [Fact("x", Interval(0.0, 0.0, 0.0, 0.95), kind) for kind in kinds]

    yes, no, open_ = "holds", "does not hold", "undecided"
    assert all_of(facts(yes, yes)).verdict == yes
    assert all_of(facts(yes, open_)).verdict == open_
    assert all_of(facts(open_, no)).verdict == no
    assert all_of([]).verdict == "no data"
    assert most_of(facts(yes, yes, no)).verdict == yes
    assert most_of(facts(yes, no)).verdict == no
    assert most_of(facts(yes, yes, no, open_)).verdict == open_


def test_claims_are_data():
    names = [claim.name for claim in report.CLAIMS]
    assert len(set(names)) == len(names) >= 45
    known = {name for algorithms in MEMBERS.values() for name in algorithms}
    for claim in report.CLAIMS:
        assert claim.text.endswith(".")
        assert claim.where.startswith(("section ", "appendix", "Patterson, Liao and White"))
        assert set(claim.experiments) <= set(NAMES)
        if isinstance(claim.decide, Question):
            assert set(claim.decide.algorithms) <= known
            assert set(claim.decide.domains) <= set(DOMAINS)
    table = report.claims_table(report.judge(Stored({"bakeoff": runs(["qrc"], n=1, points=2)})))
    assert table.columns == ["claim", "text", "where", "experiments", "verdict", "numbers"]
    assert table.height == len(names)


class Page(HTMLParser):
    """Checks that tags close in order; collects ids, links, images and what is fetched."""

    EMPTY = ("meta", "link", "img", "br")

    def __init__(self, text: str):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.fetched = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.images += [values] if tag == "img" else []
        self.fetched += [values[name] for name in ("src", "href", "srcset", "data") if name in values and tag != "a"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


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
    counts = {verdict: text.count(f'<td><span class="verdict {verdict}">') for verdict in ("undecided", "no-data")}
    found = [each.finding.verdict for each in whole.claims]
    assert counts == {"undecided": found.count("undecided"), "no-data": found.count("no data")}
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
