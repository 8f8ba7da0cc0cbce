"""A diagnosis as a page that stands alone, or as a picture."""

from html import escape
from importlib import resources
from pathlib import Path

from gpbe.analysis.diagnosis import MOST, Tables, tables_of
from gpbe.errors import InputError
from gpbe.exact.bounds.table import BOUNDS, all_bounds
from gpbe.exact.diagnose import Diagnosis
from gpbe.files.atomic import write_atomic
from gpbe.look.tables import block, bounds_table, symbols
from gpbe.pages.diagnosis import METHOD, advice, blocks, heading
from gpbe.pages.html import document

KINDS = (".html", ".png", ".pdf")
SIGN = {"converges": "✓", "diverges": "✗", "undecided": "?"}
CAPTION = {
    "values": "the values at the minimum of each objective, beside v_pi",
    "visits": "how often the policies are in each state, and what emphatic TD weights it by",
    "eigenvalues": "TD converges for small steps if all eigenvalues of its A are right of 0",
    "lambdas": "what TD(lambda) converges to, and how far that is from v_pi",
}


def write(diagnosis: Diagnosis, path: Path) -> Path:
    """Write a diagnosis as a page (.html) or as a picture (.png, .pdf), as the name ends.

    >>> import tempfile
    >>> from gpbe import exact, mdp
    >>> write(exact.diagnose(mdp.kolter()), Path(tempfile.mkdtemp()) / "kolter.html").stat().st_size < 300_000
    True
    """
    check_kind(path)
    if path.suffix == ".html":
        write_atomic(path, page(diagnosis).encode())
        return path
    from gpbe.figures import style
    from gpbe.figures.diagnosis import draw

    return style.save_as(draw(tables_of(diagnosis), heading(diagnosis)), path)


def check_kind(path: Path) -> None:
    """Refuse the name of a file that cannot be written.

    >>> check_kind(Path("page.html"))
    """
    if path.suffix not in KINDS:
        raise InputError(f"--out {path} should end in .html for a page, or in .png or .pdf for a picture")


def page(diagnosis: Diagnosis) -> str:
    """The page: what to do, four figures, and every number behind them.

    >>> from gpbe import exact, mdp
    >>> "Recommended: TDRC" in page(exact.diagnose(mdp.baird()))
    True
    """
    name = diagnosis.problem.name
    css = resources.files("gpbe.look").joinpath("diagnosis.css").read_text(encoding="utf-8")
    sections = "\n".join(
        f"<section>\n<h2>{escape(each.title)}</h2>\n{block(each)}\n</section>" for each in blocks(diagnosis, MOST)
    )
    body = f"""<header>
<h1>{escape(name)}</h1>
<p class="about">{symbols(heading(diagnosis).removeprefix(f"{name}: "))}</p>
<p class="tally">{verdicts(diagnosis)}</p>
{advised(diagnosis)}
</header>
<main>
<div class="figures">
{pictures(tables_of(diagnosis))}
</div>
{sections}
<section>
<h2>Bounds</h2>
{_bounds(diagnosis)}
</section>
</main>"""
    return document(f"{name}: a diagnosis", body, css)


def verdicts(diagnosis: Diagnosis) -> str:
    """Whether each kind of TD converges, told by sign, word and color."""
    return " ".join(
        f'<span class="verdict {s.verdict}"><b aria-hidden="true">{SIGN[s.verdict]}</b> {METHOD[w]}: {s.verdict}</span>'
        for w, s in diagnosis.stability.items()
    )


def advised(diagnosis: Diagnosis) -> str:
    """What to use and why, as paragraphs."""
    what, why, warnings = advice(diagnosis)
    minds = "".join(f"\n<p><b>Mind:</b> {symbols(warning[0].upper() + warning[1:])}</p>" for warning in warnings)
    return f'<p class="advice"><b>Recommended: {escape(what)}.</b> {symbols(why)}</p>{minds}'


def pictures(tables: Tables) -> str:
    """The four figures, drawn within the page."""
    from gpbe.figures.diagnosis import draw_each
    from gpbe.figures.inline import svg

    return "\n".join(
        f'<figure id="{name}">{svg(fig, CAPTION[name])}\n'
        f"<figcaption>{symbols(CAPTION[name][0].upper() + CAPTION[name][1:])}.</figcaption></figure>"
        for name, fig in draw_each(tables).items()
    )


def _bounds(diagnosis: Diagnosis) -> str:
    """Every bound on the problem, under d_b, behind a fold; those of large problems are left out."""
    if diagnosis.problem.mdp.n_states > MOST:
        return "<p>They are left out, for there are many states.</p>"
    found = all_bounds(diagnosis.problem, diagnosis.weightings["behavior"])
    return (
        f"<p>{symbols('What theorems say of the minimum under d_b, with both sides computed.')}</p>\n"
        f"<details><summary>All {len(found)} bounds</summary>\n{bounds_table(found, BOUNDS)}\n</details>"
    )
