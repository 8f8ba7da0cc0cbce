"""The page of a diagnosis: it stands alone, and its numbers are those of the exact side."""

import json
import re

import numpy as np
import polars as pl
import pytest

from gpbe import exact, look, mdp
from gpbe.analysis import diagnosis as tables
from gpbe.figures import diagnosis as figures
from gpbe.figures.inline import svg
from helpers import chromium
from helpers.html_page import Page
from helpers.samples import few


@pytest.fixture(scope="module")
def star():
    return exact.diagnose(mdp.baird())


@pytest.fixture(scope="module")
def text(star):
    return look.page(star)


def test_tables_hold_the_exact_numbers():
    """Kolter's problem, by its closed forms: d_b is (p, 1 - p), and A of off-policy TD is one number."""
    p, problem = 0.6, mdp.kolter(p=0.6)
    found = tables.tables_of(exact.diagnose(problem))
    d_b = found.visits.filter(weighting="behavior")["share"].to_numpy()
    np.testing.assert_allclose(d_b, [p, 1 - p])
    x, transition = problem.features[:, 0], problem.discounted_transition
    a = x @ np.diag(d_b) @ (x - transition @ x)
    (eigenvalue,) = found.eigenvalues.filter(weighting="behavior")["real"]
    assert eigenvalue == pytest.approx(a)
    w = x @ np.diag(d_b) @ problem.expected_reward / a
    td = found.values.filter(objective="pbe", weighting="behavior")["value"].to_numpy()
    np.testing.assert_allclose(td, w * x)
    error = np.sqrt(d_b @ (w * x - problem.values) ** 2)
    at_0 = found.lambdas.filter(pl.col("lambda") == 0, weighting="behavior")["error"][0]
    assert at_0 == pytest.approx(error)


def test_with_lambda_1_the_error_is_the_best_possible():
    """TD(1) under d_b minimizes the VE when the policies are one (Tsitsiklis and Van Roy 1997)."""
    walk = mdp.problem("random-walk-5")
    found = tables.tables_of(exact.diagnose(walk.replace(target=walk.behavior)))
    last = found.lambdas.filter(pl.col("lambda") == 1, weighting="behavior").row(0, named=True)
    assert last["error"] == pytest.approx(last["best"])
    assert last["converges"]


def test_many_states_are_thinned_out():
    problem = mdp.find("grid-31x17")
    problem = problem.with_features(np.random.default_rng(3).standard_normal((problem.mdp.n_states, 5)))
    found = tables.tables_of(exact.diagnose(problem))
    shown = found.visits.filter(weighting="target")["state"]
    assert len(shown) == min(problem.mdp.n_states, tables.MOST)
    assert (shown[0], shown[-1]) == (0, problem.mdp.n_states - 1)


def test_the_page_stands_alone_and_says_what_to_do(star, text):
    page = Page(text)
    assert all(each.startswith(("#", "data:")) for each in page.fetched)
    assert len(page.ids) == len(set(page.ids))
    assert {"values", "visits", "eigenvalues", "lambdas"} <= set(page.ids)
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "Recommended: TDRC (a gradient method)." in text
    assert text.count('<span class="verdict diverges">') == 2, "in the heading and in the table"
    assert f"{star.mismatch:.4g}, attained in state" in text


def test_names_are_text_and_not_markup():
    walk = mdp.problem("random-walk-5")
    names = ["<script>alert(1)</script>", "$x^2$", "a & b", "d_b", "\\frac"]
    m = mdp.FiniteMDP(
        *(getattr(walk.mdp, key) for key in ("transition", "reward", "discount", "start")), state_names=names
    )
    text = look.page(exact.diagnose(mdp.PredictionProblem(m, walk.target, walk.behavior, name="<b>&")))
    Page(text)
    assert "<script>" not in text
    assert "<td>a &amp; b</td>" in text
    assert "<td>d_b</td>" in text
    assert "<h1>&lt;b&gt;&amp;</h1>" in text


def test_figures_take_the_colors_of_the_page(star):
    drawn = figures.draw_each(tables.tables_of(star))
    for name, fig in drawn.items():
        text = svg(fig, name)
        assert "currentColor" in text
        assert not re.search(r"#000000|<style|font-family", text)
        assert not re.search(r"(?<!, )#0072b2", text), "blue is the page's, if it has one"


def test_the_same_diagnosis_is_the_same_page(text):
    assert look.page(exact.diagnose(mdp.baird())) == text


@pytest.mark.parametrize("ending", few(["html", "png", "pdf"], ["html"]))
def test_the_command_writes_what_the_name_says(ending, tmp_path, run):
    path = tmp_path / "new" / f"kolter.{ending}"
    found = json.loads(json.dumps(run("diagnose", "kolter", "--out", str(path), "--json")))
    assert found["file"] == str(path)
    begins = {"html": b"<!DOCTYPE html>", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(begins)


def test_another_ending_is_refused_in_one_line(tmp_path, run, capsys):
    with pytest.raises(SystemExit):
        run("diagnose", "kolter", "--out", str(tmp_path / "kolter.txt"))
    said = capsys.readouterr().err
    assert "should end in .html for a page, or in .png or .pdf for a picture" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium on this machine; name one with CHROMIUM=/path/to/it")
def test_the_page_in_a_browser(star, tmp_path):
    path = look.write(star, tmp_path / "baird.html")
    browser = chromium.Browser(str(chromium.find()))
    try:
        for width, scheme in ((420, "dark"), (1280, "light")):
            browser.open(path.as_uri(), width, scheme=scheme)
            browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            letters = """Math.min(...[...document.querySelectorAll('svg text')].map(
                t => parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b)))"""
            assert browser.evaluate(letters) > 6, "letters of figures can be read"
            ink = browser.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
            assert ink == browser.evaluate("getComputedStyle(document.body).color")
            assert browser.messages == []
    finally:
        browser.close()
