"""`gpbe pack`: results folders in one file each."""

import polars as pl
import pytest

from gpbe import store
from gpbe.cli import main
from helpers import packed


def test_a_stage_that_has_just_begun_does_not_keep_others_from_being_packed(tmp_path, run):
    file = packed.pack("b", pl.DataFrame({"x": [1.0, 2.0]}), tmp_path)
    store.unpack(file, tmp_path / "results" / "b")
    packed.begin("a", tmp_path / "results" / "a")
    said = run("pack", str(tmp_path), str(tmp_path / "out"))
    assert "results/a: left out, since no chunk is finished yet" in said.replace("\n", "")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.parquet"]
    assert store.scan(tmp_path / "out" / "b.parquet").collect()["x"].to_list() == [1.0, 2.0]


def test_nothing_at_all_is_told_in_a_line(tmp_path, capsys):
    packed.begin("a", tmp_path / "results" / "a")
    with pytest.raises(SystemExit) as stop:
        main(["pack", str(tmp_path), str(tmp_path / "out")])
    assert stop.value.code == 2
    assert "no chunk is finished yet" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
