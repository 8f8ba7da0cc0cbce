"""The site as people see it: it is built strictly, needs no network, and fits a phone."""

import inspect
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gpbe
from helpers import chromium

pytest.importorskip("material", reason="make docs installs what builds the site")
pytest.importorskip("mkdocstrings")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return folder


def test_no_page_fetches_anything(site):
    for page in site.rglob("*.html"):
        text = re.sub(r"<a [^>]*>", "", page.read_text())  # people may follow links
        fetched = set(re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']*""", text))
        assert not fetched, page.name


def test_mathematics_is_rendered(site):
    assert "<math" in (site / "theory.html").read_text()
    assert not [page.name for page in site.rglob("*.html") if 'class="arithmatex"' in page.read_text()]


def test_hyperparameters_are_in_the_reference(site):
    told = (site / "reference" / "algorithms.html").read_text()
    assert "by how much steps that could overshoot are shortened" in told


def test_defaults_in_the_reference_are_numbers(site):
    """The reference shows the value that a function has as its default, not the name that the source gives it."""
    told = re.sub(r"<[^>]*>", "", (site / "reference" / "gpbe.html").read_text())
    default = inspect.signature(gpbe.train).parameters["buffer"].default
    assert f"buffer: int = {default}" in " ".join(told.split())
    assert "DEFAULTS" not in told


def test_pictures_open(site):
    """Where a phone shows them small, a touch shows them large."""
    page = (site / "figures.html").read_text()
    shown = re.findall(r'<img [^>]*src="(img/[^"]+)"', page)
    assert len(shown) > 10
    assert shown == re.findall(r'<a class="picture" href="(img/[^"]+)"', page)


@pytest.mark.skipif(chromium.find() is None, reason="needs a browser")
def test_examples_are_copied_without_prompts_and_outputs(site):
    browser = chromium.Browser(chromium.find())
    copied = """(() => { const code = document.querySelector('pre > code:has(.gp)');
        code.setAttribute('data-md-copying', ''); return code.innerText; })()"""  # as the theme's button does
    try:
        browser.open((site / "start" / "five-minutes.html").as_uri(), 1280)
        assert browser.evaluate(copied).startswith("from gpbe import")
        assert ">>>" not in browser.evaluate(copied)
    finally:
        browser.close()


@pytest.mark.skipif(chromium.find() is None, reason="needs a browser")
@pytest.mark.parametrize("width", [420, 1280])
def test_pages_fit_and_complain_of_nothing(site, width):
    browser = chromium.Browser(chromium.find())
    try:
        for page in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # which a server shows, from its root
            browser.open(page.as_uri(), width)
            assert browser.evaluate("document.documentElement.scrollWidth") <= width, page.name
            assert browser.messages == [], page.name
    finally:
        browser.close()


@pytest.mark.skipif(chromium.find() is None, reason="needs a browser")
def test_search_works_from_the_disk(site):
    browser = chromium.Browser(chromium.find())
    titles = "[...document.querySelectorAll('.md-search-result__link h1')].map((title) => title.innerText)"
    where = "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
    try:
        browser.open((site / "index.html").as_uri(), 1280)
        x, y = browser.evaluate(f"{where}(document.querySelector('.md-search__input').getBoundingClientRect())")
        for what in ("mousePressed", "mouseReleased"):
            browser.call("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)
        browser.call("Input.insertText", text="emphati")
        end = time.monotonic() + 60
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="c", text="c")
        browser.call("Input.dispatchKeyEvent", type="keyUp", key="c")
        while not (found := browser.evaluate(titles)) and time.monotonic() < end:
            time.sleep(0.2)
        assert "Symbols" in found
    finally:
        browser.close()
