"""`gpbe claims`, `gpbe figure --from` and `gpbe report --from`: verdicts and drawings of packed results."""

from pathlib import Path

import pytest

from gpbe import experiments
from gpbe.cli import main
from gpbe.experiments.evidence import names
from gpbe.experiments.evidence.design import PLAN
from gpbe.experiments.evidence.replication import replication
from gpbe.report import markdown
from helpers import evidence_runs, packed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Packed results: the stages that choose, a verdict of which there is more to come, and an exact study."""
    folder = tmp_path_factory.mktemp("results")
    tables = evidence_runs.chosen_stages(PLAN)
    for name, table in tables.items():
        packed.pack(name, table, folder)
    packed.pack("kolter-smoke", experiments.find("kolter", "smoke").rows(), folder, steps=1)
    return folder


def test_every_claim_has_a_verdict_numbers_and_where_it_was_decided(results, run):
    told = run("claims", "--from", str(results), "--json")
    assert len(told) >= 65
    assert all({"claim", "verdict", "numbers", "where"} <= set(each) for each in told)
    assert {each["verdict"] for each in told} <= {"holds", "does not hold", "undecided"}
    by_name = {each["name"]: each for each in told}
    assert by_name["kolters-pbe-explodes"]["verdict"] == "holds"
    settings = by_name["sbeedq-worse-than-qrc"]
    assert settings["verdict"] == "holds"  # true by construction, and decided by the screening alone
    assert settings["where"] == "evidence-screen (2 runs)"
    assert all(number["low"] > 0 for number in settings["numbers"])
    fresh = by_name["qrc-among-the-best"]
    assert (fresh["verdict"], fresh["numbers"]) == ("undecided", [])
    assert fresh["missing"] == "evidence-verdict is missing; first: gpbe run evidence"


@pytest.mark.slow
def test_claims_for_people_and_as_a_page(results, run, tmp_path):
    page = tmp_path / "results.md"
    said = run("claims", "--from", str(results), "--page", str(page))
    assert "hold," in said
    assert "✓ holds" in said
    assert "[/]" not in said  # nor any other markup
    text = page.read_text()
    assert text.startswith(markdown.TITLE)
    assert "✓ holds" in text
    assert markdown.fingerprint(experiments.packed_files(results)) in text
    assert "3.27e+08" not in text  # not rounded where it is counted
    assert "327,200,000 steps" in text


def test_what_somebody_else_has_written_is_not_overwritten(results, capsys, tmp_path):
    thesis, picture = tmp_path / "thesis.md", tmp_path / "picture.md"
    thesis.write_text("# My thesis\n")
    picture.write_bytes(bytes(range(256)))
    for page, complaint in ((thesis, "is not a page of verdicts, and has no table"), (picture, "is no text in UTF-8")):
        before = page.read_bytes()
        with pytest.raises(SystemExit) as stop:
            main(["claims", "--from", str(results), "--page", str(page)])
        assert stop.value.code == 2
        assert complaint in capsys.readouterr().err
        assert page.read_bytes() == before


def test_a_page_with_a_table_of_claims_gets_that_made_and_nothing_else(results, run, tmp_path):
    page = tmp_path / "mine.md"
    page.write_text(
        "# Mine\n<!-- claims: be-no-advantage,\nkolters-pbe-explodes -->\nold\n<!-- end of claims -->\nlast\n"
    )
    run("claims", "--from", str(results), "--page", str(page))
    first, *_, last = lines = page.read_text().splitlines()
    assert (first, last) == ("# Mine", "last")
    assert "old" not in lines
    assert [line.split(" | ")[1] for line in lines if "Kolter" in line] == ["✓ holds"]
    assert markdown.fingerprint(experiments.packed_files(results)) in lines


def test_a_table_of_claims_with_an_unknown_one_is_told_in_a_line(refuses):
    page = "<!-- claims: kolters-pbe-explode -->\n<!-- end of claims -->\n"
    refuses(lambda: markdown.with_table(page, (), {}), "there is no claim 'kolters-pbe-explode'")


def test_results_that_are_not_there_are_told_in_a_line(tmp_path, refuses):
    refuses(lambda: experiments.open_packed(tmp_path / "nowhere"), "there is no such folder")
    refuses(lambda: experiments.open_packed(tmp_path), "has no packed results")


def test_figures_are_drawn_from_packed_results(results, run, tmp_path):
    (row,) = run("figure", "evidence-settings", "--from", str(results), "--out", str(tmp_path), "--json")
    assert row["from"] == "327,200,000 steps"
    assert (tmp_path / "evidence-settings.png").stat().st_size > 10_000


def test_with_chosen_settings_the_paper_is_its_studies_and_a_replication(results, tmp_path):
    """What `make paper` does once settings are chosen: the plan is the studies and a replication, no sweeps."""
    planned = [each.name for each, _ in experiments.planned("all", "quick", tmp_path, results)]
    assert planned[-1] == names.REPLICATION
    assert "bakeoff" not in planned
    assert "kolter" in planned
    assert "bakeoff" in [each.name for each, _ in experiments.planned("all", "quick", tmp_path, tmp_path)]


@pytest.mark.slow
def test_a_replication_is_judged_beside_the_evidence(results):
    from gpbe.analysis.stored import Stored
    from gpbe.report import judge

    stored = experiments.open_packed(results)
    sweep = replication([stored.stages[name] for name in names.CHOOSING], PLAN)
    own = Stored(stages={names.REPLICATION: evidence_runs.of_sweep(sweep, spread=0.01)})
    again = {each.claim.name: each.replicated for each in judge(stored, own)}
    assert again["qcll-poor-in-hard-domains"].where == "replication (4 to 10 runs)"
    assert again["only-qrc-solves-mountain-car"].facts
    assert again["qrc-lowest-spread-over-settings"].missing


def test_the_page_in_the_documentation_is_made_from_the_stored_results():
    """After new results: gpbe claims --from results --page docs/results.md README.md"""
    made_from = markdown.fingerprint(experiments.packed_files(ROOT / "results"))
    for page in ("docs/results.md", "README.md"):
        assert made_from in (ROOT / page).read_text(), page


@pytest.mark.slow
def test_the_page_in_the_documentation_is_current(run, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    copy = tmp_path / "README.md"
    copy.write_text((ROOT / "README.md").read_text())
    run("claims", "--page", str(tmp_path / "results.md"), str(copy))
    assert (tmp_path / "results.md").read_text() == (ROOT / "docs" / "results.md").read_text()
    assert copy.read_text() == (ROOT / "README.md").read_text()
