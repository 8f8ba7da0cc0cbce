"""Tables in Parquet files: a checksum where gpbe wrote them, another process where it did not."""

import polars as pl
import pytest

from gpbe.files import tables
from gpbe.files.atomic import write_table
from gpbe.files.tables import check_table, first_unreadable, read_table

FRAME = pl.DataFrame({"x": [1.5, 2.5, None], "y": [[1], [2, 3], []], "z": ["a", "b", "c"]})


def test_own_and_foreign_tables_come_back(tmp_path, monkeypatch):
    FRAME.write_parquet(tmp_path / "foreign.parquet")
    assert read_table(tmp_path / "foreign.parquet").equals(FRAME)
    write_table(tmp_path / "own.parquet", FRAME)
    monkeypatch.setattr(tables, "_try_apart", None)  # its checksum is enough
    assert read_table(tmp_path / "own.parquet").equals(FRAME)
    assert pl.read_parquet(tmp_path / "own.parquet").equals(FRAME)  # a plain Parquet file to everybody else


def test_a_flipped_bit_is_told(tmp_path, refuses):
    data = bytearray(write_table(tmp_path / "own.parquet", FRAME).read_bytes())
    data[12] ^= 1
    (tmp_path / "own.parquet").write_bytes(data)
    refuses(lambda: read_table(tmp_path / "own.parquet"), "is damaged: its checksum does not fit its content")


def test_what_brings_a_reader_down_does_not_bring_this_process_down(tmp_path, monkeypatch, refuses, capfd):
    FRAME.write_parquet(tmp_path / "foreign.parquet")
    for program in ("import os; os.abort()", "x = bytearray(10**13)", "import os; os.kill(os.getpid(), 9)"):
        monkeypatch.setattr(tables, "_TRY", program)
        refuses(lambda: check_table(tmp_path / "foreign.parquet"), "is not a Parquet file that can be read")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("together", [1, 2, 9])
def test_of_several_files_the_first_that_cannot_be_read_is_named(together, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_TOGETHER", together)
    files = [tmp_path / f"{k}.parquet" for k in range(5)]
    for file in files:
        FRAME.write_parquet(file)
    assert first_unreadable(files) is None
    assert first_unreadable([]) is None
    for broken in (3, 4):
        data = files[broken].read_bytes()
        files[broken].write_bytes(data[: len(data) // 2])
    found, error = first_unreadable(files)
    assert found == files[3]
    assert str(error).startswith("is not a Parquet file that can be read: ")


def test_a_file_that_brings_the_reader_of_several_down_is_named(tmp_path, monkeypatch):
    files = [tmp_path / f"{k}.parquet" for k in range(3)]
    for file in files:
        FRAME.write_parquet(file)
    dies = "        import os; os.abort() if k == 1 else None\n"
    monkeypatch.setattr(tables, "_TRY", tables._TRY.replace("        rows =", dies + "        rows ="))
    found, error = first_unreadable(files)
    assert (found, str(error)) == (files[1], "is not a Parquet file that can be read: it makes its reader fail")


@pytest.mark.slow
def test_a_reader_may_take_its_time_of_the_processor_and_no_more(tmp_path, monkeypatch, refuses):
    FRAME.write_parquet(tmp_path / "foreign.parquet")
    monkeypatch.setattr(tables, "_PATIENCE", 1.5)  # rounded up to whole seconds
    monkeypatch.setattr(
        tables, "_TRY", tables._TRY.replace("import polars", "import time; time.sleep(2.2); import polars")
    )
    check_table(tmp_path / "foreign.parquet")  # waiting is free
    monkeypatch.setattr(tables, "_TRY", tables._TRY.replace("time.sleep(2.2)", "exec('while True: pass')"))
    refuses(lambda: check_table(tmp_path / "foreign.parquet"), "can be read: that takes too long")


@pytest.mark.parametrize("name", ["folder", "pipe", "nothing"])
def test_what_is_no_file_is_refused_at_once(name, tmp_path, refuses):
    import os

    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    said = {"folder": "is a folder", "pipe": "is not a regular file", "nothing": "No such file"}[name]
    refuses(lambda: read_table(tmp_path / name), said)
