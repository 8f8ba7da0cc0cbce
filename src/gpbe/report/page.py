"""The report as one HTML page that needs nothing else: no script, no fonts or pictures from elsewhere."""

from html import escape
from importlib import resources
from pathlib import Path

from gpbe.analysis.inference import FEW
from gpbe.envs.domains import DOMAINS, PAPER
from gpbe.experiments.evidence.levels import MARGIN, SOLVED
from gpbe.files.atomic import write_atomic
from gpbe.pages.html import document, pairs, slug
from gpbe.report import parts
from gpbe.report.claims import tally
from gpbe.report.model import Report


def write(path: Path | str, report: Report) -> Path:
    """Write a report as an HTML page. The file appears whole or not at all.

    >>> import tempfile
    >>> page = write(Path(tempfile.mkdtemp()) / "report.html", Report(title="A report"))
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, render(report).encode())
    return path


def render(report: Report) -> str:
    """The page as a text."""
    sections = _sections(report)
    css = resources.files("gpbe.report").joinpath("page.css").read_text(encoding="utf-8")
    contents = "\n".join(_entry(title, inner) for title, _, inner in sections)
    main = "\n".join(
        f'<section id="{slug(title)}">\n<h2>{escape(title)}</h2>\n{html}\n</section>' for title, html, _ in sections
    )
    about = ", ".join(filter(None, [f"{report.scale} scale" if report.scale else "", report.provenance.made]))
    body = f"""<header id="top">
<h1>{escape(report.title)}</h1>
{f'<p class="about">{escape(about[:1].upper() + about[1:])}</p>' if about else ""}
{f'<p class="tally">{parts.tally(report.claims)}</p>' if report.claims else ""}
{f'<p class="about"><strong>{escape(report.caveat)}.</strong></p>' if report.caveat and not report.claims else ""}
</header>
<nav aria-label="Contents">
<details open><summary>Contents</summary>
<ol>
{contents}
</ol>
</details>
</nav>
<main>
{main}
</main>"""
    return document(report.title, body, css)


Section = tuple[str, str, dict[str, str]]
"""A heading, its HTML, and the anchors in it with their names."""


def _sections(report: Report) -> list[Section]:
    sections: list[Section] = []
    if report.claims:
        solved = parts.solved(report.solved) if report.solved else ""
        said = f'<p class="about">{escape(tally(report.claims))}.</p>'
        sections.append(("Claims", f"{_how(report.caveat)}\n{said}\n{parts.claims(report.claims)}\n{solved}", {}))
    for group in dict.fromkeys(each.group for each in report.figures):
        mine = [each for each in report.figures if each.group == group]
        inner = {f"figure-{slug(each.name)}": each.name for each in mine}
        sections.append((group, "\n".join(map(parts.figure, mine)), inner))
    if report.tables:
        sections.append(("Tables", "\n".join(parts.titled(*each) for each in report.tables.items()), {}))
    if report.skipped:
        items = "".join(f"<li><b>{escape(k)}</b>: {escape(why)}</li>" for k, why in report.skipped.items())
        sections.append(("Not drawn", f"<ul>{items}</ul>", {}))
    if html := _provenance(report):
        sections.append(("How it was made", html, {}))
    return sections


def _provenance(report: Report) -> str:
    given, html = report.provenance, []
    if given.commands:
        html.append(f'<h3>Commands</h3>\n<pre tabindex="0">{escape(chr(10).join(given.commands))}</pre>')
    if given.costs:
        html.append(f"<h3>Cost</h3>\n{parts.cost(given.costs)}")
    if given.machine:
        html.append(f"<h3>Machine</h3>\n{pairs(given.machine)}")
    if given.versions:
        html.append(f"<h3>Versions</h3>\n{pairs(given.versions)}")
    return "\n".join(html)


def _how(caveat: str) -> str:
    """How verdicts are come by, for the reader of the table."""
    known = (DOMAINS[name] for name in PAPER)
    levels = "; ".join(f"{domain.title} {domain.random_return:.0f} to {domain.threshold:.0f}" for domain in known)
    return (
        "<p>A claim <em>holds</em> or <em>does not hold</em> where exact numbers say so, or tests that err in at most "
        "5 of 100 cases; otherwise it is <em>undecided</em>. Intervals are shown at level 95 %. Returns of runs are "
        "means over the last quarter of the steps, those of settings over all steps, as parts of the way to the "
        f"threshold. <strong>{escape(caveat)}</strong></p>\n"
        "<details><summary>How the verdicts are reached</summary>\n<ul>"
        "<li>“The way to the threshold” goes from the return of a random policy (0) to Gymnasium’s reward threshold "
        f"(1): {escape(levels)}. A domain is solved at {SOLVED:g} of it, differences up to {MARGIN:g} are small.</li>"
        "<li>The runs that choose settings never judge them: of the evidence, verdicts are about fresh runs; of a "
        "sweep, half of the runs choose and half judge.</li>"
        "<li>Means have limits that use the bounds of returns, which hold for every law. All of several facts hold if "
        "each does at the full level; that one of them fails is corrected for their number. Spreads over runs decide "
        f"nothing with fewer than {FEW} runs.</li>"
        "<li>The evidence is looked at twice, at levels 1 % and 4 %; docs/evidence.md says what is asked.</li>"
        "<li>A claim is undecided as long as one of its domains is missing.</li></ul></details>"
    )


def _entry(title: str, inner: dict[str, str]) -> str:
    entries = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name in inner.items())
    return f'<li><a href="#{slug(title)}">{escape(title)}</a>{f"<ul>{entries}</ul>" if entries else ""}</li>'
