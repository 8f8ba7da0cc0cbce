"""A results folder in one file and back: nothing is lost, damage is told, and the sweep goes on from it."""

import json
from dataclasses import asdict

import polars as pl
import pytest

from gpbe import InputError, runner, store
from gpbe.store.packed import read_packed
from helpers.runners import DRAW, SPEC, chunks


def made(folder, n=7):
    runner.run(folder, SPEC, chunks(n), DRAW, executor=runner.Local(1))
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return made(tmp_path_factory.mktemp("results") / "whole")


@pytest.fixture(scope="module")
def packed(results, tmp_path_factory):
    return store.pack(results, tmp_path_factory.mktemp("packed") / "whole.parquet")


def test_a_packed_file_reads_like_the_folder(results, packed):
    assert store.scan(packed).collect().equals(store.scan(results).collect())
    assert store.spec(packed) == store.spec(results)
    packed_status, status = (asdict(store.status(path)) for path in (packed, results))
    assert packed_status == status | {"seconds": pytest.approx(status["seconds"])}
    about = json.loads(pl.read_parquet_metadata(packed)["gpbe"])
    assert [part["chunk"] for part in about["parts"]] == [chunk.id for chunk in chunks(7)]
    assert all(part["versions"] for part in about["parts"])


def test_unpacked_it_is_the_folder_again_and_nothing_is_left_to_run(results, packed, tmp_path):
    assert store.unpack(packed, tmp_path / "again") == 7
    assert store.status(tmp_path / "again", verify=True).done == store.status(results).total
    report = runner.run(tmp_path / "again", SPEC, chunks(7), DRAW, executor=runner.Local(1))
    assert (report.counts.skipped, report.counts.done) == (7, 0)
    assert store.scan(tmp_path / "again").collect().equals(store.scan(results).collect())


def test_an_incomplete_sweep_goes_on_from_its_packed_file(results, tmp_path):
    made(tmp_path / "part")
    for chunk in chunks(7)[2:5]:
        (tmp_path / "part" / "parts" / f"{chunk.id}.parquet").unlink()
    file = store.pack(tmp_path / "part", tmp_path / "part.parquet")
    assert (store.status(file).done, store.status(file).missing) == (4, 3)
    store.unpack(file, tmp_path / "elsewhere")
    report = runner.run(tmp_path / "elsewhere", SPEC, chunks(7), DRAW, executor=runner.Local(1))
    assert (report.counts.skipped, report.counts.done) == (4, 3)
    assert store.scan(tmp_path / "elsewhere").collect().equals(store.scan(results).collect())


def test_unpacking_adds_to_a_folder_of_the_same_sweep_only(packed, tmp_path):
    store.unpack(packed, tmp_path / "here")
    (tmp_path / "here" / "parts" / f"{chunks(7)[0].id}.parquet").unlink()
    assert store.unpack(packed, tmp_path / "here") == 1
    runner.run(tmp_path / "other", {**SPEC, "other": 1}, chunks(7), DRAW, executor=runner.Local(1))
    with pytest.raises(InputError, match="holds another sweep"):
        store.unpack(packed, tmp_path / "other")


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_flipped_bit_anywhere_is_told(packed, tmp_path, place):
    data = bytearray(packed.read_bytes())
    data[int(place * len(data))] ^= 1
    (tmp_path / "bad.parquet").write_bytes(data)
    for read in (store.scan, store.status, store.spec, read_packed):
        with pytest.raises(InputError, match=r"bad.parquet: is no packed results that can be used: "):
            read(tmp_path / "bad.parquet")


def test_what_is_no_packed_file_is_refused(results, tmp_path):
    part = next((results / "parts").iterdir())
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "plain.parquet")
    for path, reason in ((part, "it is one part"), (tmp_path / "plain.parquet", "gpbe did not write")):
        with pytest.raises(InputError, match=reason):
            store.scan(path)
    with pytest.raises(InputError, match="is not a results folder"):
        store.pack(tmp_path, tmp_path / "x.parquet")
