"""Results folders: what is kept comes back, and what is damaged, foreign or locked is told, never lost."""

import contextlib
import errno
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gpbe import InputError, store
from gpbe.runner.worker import Job, perform
from gpbe.store import Results
from helpers.runners import DRAW, SPEC, chunks, draw

N = 7


@contextlib.contextmanager
def opened(folder: Path, n: int = N, spec: dict | None = None, **options):
    with Results(folder, SPEC if spec is None else spec, options.pop("runner", DRAW), chunks(n), **options) as results:
        yield results


def part_of(results: Results, k: int, n: int = N) -> bytes:
    answer = perform(draw, Job(DRAW, results.manifest.spec_hash), chunks(n)[k])
    assert answer.kind == "part", answer.error
    return answer.part


def fill(folder: Path, which=range(N), n: int = N, spec: dict | None = None) -> None:
    with opened(folder, n, spec) as results:
        for k in which:
            results.put(chunks(n)[k].id, part_of(results, k, n))


def file_of(folder: Path, k: int) -> Path:
    return folder / "parts" / f"{chunks(N)[k].id}.parquet"


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_parts_are_plain_parquet_with_their_provenance(tmp_path):
    fill(tmp_path)
    plain = pl.scan_parquet(tmp_path / "parts").collect()
    expected = pl.concat(draw(chunk.payload) for chunk in chunks(N))
    assert plain.sort("k", "run").equals(expected)
    assert store.scan(tmp_path).collect().equals(expected)  # in the order of the chunks
    about = json.loads(pl.read_parquet_metadata(file_of(tmp_path, 3))["gpbe"])
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert about["gpbe_part"] == manifest["schema"] == 1
    assert about["spec_hash"] == manifest["spec_hash"]
    assert (about["chunk"], about["seed"], about["steps"], about["rows"]) == (chunks(N)[3].id, 1003, 103, 3)
    assert about["seconds"] >= 0
    assert about["host"]
    assert about["versions"]["numpy"] == np.__version__
    assert about["versions"]["polars"] == pl.__version__
    assert set(about["versions"]) == {"python", *store.identity.LIBRARIES}
    assert (manifest["spec"], manifest["runner"], manifest["chunks"]) == (SPEC, DRAW, N)
    assert manifest["steps"] == sum(100 + k for k in range(N))


def test_any_flipped_bit_and_any_cut_is_found(tmp_path):
    with opened(tmp_path) as results:
        part = part_of(results, 0)
    assert store.check(part)["chunk"] == chunks(N)[0].id
    for place in range(len(part)):
        flipped = bytearray(part)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(store.Damaged):
            store.check(bytes(flipped))
    for length in range(len(part)):
        with pytest.raises(store.Damaged):
            store.check(part[:length])


def damage(folder: Path) -> dict[str, str]:
    """Spoil six of seven parts and add two strangers; why each is wrong."""
    whole = {k: file_of(folder, k).read_bytes() for k in range(N)}
    middle = bytearray(whole[1])
    middle[len(middle) // 4] ^= 16
    file_of(folder, 0).write_bytes(whole[0][:-100])
    file_of(folder, 1).write_bytes(middle)
    file_of(folder, 2).write_bytes(whole[6])
    file_of(folder, 3).write_bytes(b"")
    pl.DataFrame({"k": [1]}).write_parquet(file_of(folder, 4))
    other = folder.parent / "other"
    fill(other, [5], spec={"name": "another sweep"})
    file_of(folder, 5).write_bytes(file_of(other, 5).read_bytes())
    stranger = folder / "parts" / "0123456789abcdef.parquet"
    stranger.write_bytes(whole[6])
    (folder / "parts" / "notes.txt").write_text("buy milk")
    return {
        file_of(folder, 0).name: "cut short",
        file_of(folder, 1).name: "checksum does not fit",
        file_of(folder, 2).name: f"it is of chunk {chunks(N)[6].id}, and its name says another",
        file_of(folder, 3).name: "cut short",
        file_of(folder, 4).name: "a Parquet file that gpbe did not write",
        file_of(folder, 5).name: "of another spec",
        stranger.name: "of no chunk of this sweep",
        "notes.txt": "its name is not that of a part",
    }


def test_wrong_parts_are_reported_and_set_aside_and_never_lost(tmp_path):
    folder = tmp_path / "results"
    fill(folder)
    for time in (1, 2):
        reasons = damage(folder)
        spoiled = {name: (folder / "parts" / name).read_bytes() for name in reasons}
        told = store.status(folder, verify=True)
        assert (told.done, told.missing, told.invalid) == (1, 6, 8)
        assert store.scan(folder).collect()["k"].unique().to_list() == [6]
        with opened(folder) as results:
            assert results.have.to_list() == [False] * 6 + [True]
            assert {file.name for file in results.set_aside} == set(reasons)
            for file in results.set_aside:
                assert reasons[file.name] in file.reason
                assert file.where.read_bytes() == spoiled[file.name]
                assert file.where.parent == folder / "set-aside"
                assert file.reason in Path(f"{file.where}.txt").read_text()
            for k in range(6):
                results.put(chunks(N)[k].id, part_of(results, k))
        assert len(list((folder / "set-aside").iterdir())) == 16 * time  # none replaced another
        assert store.status(folder, verify=True).complete


def flip(path: Path, place: float = 0.25) -> None:
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 16
    path.write_bytes(data)


def test_what_was_found_whole_is_read_again_only_when_it_changes(tmp_path, monkeypatch):
    from gpbe.store import verified

    fill(tmp_path)
    read = []
    monkeypatch.setattr(verified, "check", lambda data: read.append(len(data)) or store.check(data))
    assert store.status(tmp_path).complete
    assert len(read) == N
    store.scan(tmp_path).collect()
    assert len(read) == N
    assert store.status(tmp_path, verify=True).complete
    assert len(read) == 2 * N
    file = file_of(tmp_path, 3)
    before = os.stat(file)
    flip(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a careless copy would
    assert (store.status(tmp_path).done, store.status(tmp_path).invalid) == (N - 1, 1)
    assert store.scan(tmp_path).collect()["k"].unique().to_list() == [0, 1, 2, 4, 5, 6]
    assert store.status(tmp_path).invalid == 1
    with opened(tmp_path, verify=False) as results:
        assert [each.name for each in results.set_aside] == [file.name]


@pytest.mark.parametrize("memory", [b"", b"{", b"[]", b'{"a": 1}', b"\xff", None])
def test_what_is_remembered_of_parts_may_be_lost_or_wrong(memory, tmp_path):
    fill(tmp_path)
    flip(file_of(tmp_path, 2))
    known = tmp_path / ".verified.json"
    known.unlink(missing_ok=True) if memory is None else known.write_bytes(memory)
    assert (store.status(tmp_path).done, store.status(tmp_path).invalid) == (N - 1, 1)


def test_a_list_of_chunks_that_was_cut_or_edited_is_refused(tmp_path):
    fill(tmp_path)
    (file,) = tmp_path.glob("chunks-*.parquet")
    whole = pl.read_parquet(file)
    more = whole.with_columns(steps=pl.col("steps") + 1)
    for edited, said in (
        (whole[:4], "lists other chunks"),
        (more, "and manifest.json says"),
        (whole.drop("id"), "col"),
    ):
        edited.write_parquet(file)
        for ask in (store.status, store.scan):
            with pytest.raises(InputError, match=said):
                ask(tmp_path)
    file.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputError, match=r"chunks-.*is not a Parquet file that can be read.*written anew"):
        store.status(tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"spec": {"runs": 4}}, {"index": "../../x.parquet"}, {"runner": "a:b"}, {"chunks": "7"}, {"history": [1]}],
)
def test_an_edited_manifest_is_refused(change, tmp_path):
    fill(tmp_path)
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    for ask in (store.status, store.scan, store.spec, fill):
        with pytest.raises(InputError, match=r"is not a manifest, or was edited"):
            ask(tmp_path)


def test_a_lock_that_is_a_link_is_left_alone(tmp_path):
    fill(tmp_path / "r")
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("...")
    (tmp_path / "r" / "lock").unlink()
    (tmp_path / "r" / "lock").symlink_to(thesis)
    with pytest.raises(InputError, match="cannot be locked"):
        fill(tmp_path / "r")
    assert thesis.read_text() == "..."


def test_status_adds_up(tmp_path):
    fill(tmp_path, [0, 2, 3])
    with opened(tmp_path) as results:
        results.fail(chunks(N)[1].id, "group 0", "ValueError: no", 3)
        results.fail(chunks(N)[2].id, "group 0", "an old failure of what is done now", 3)
        told = store.status(tmp_path)  # also while a driver holds the folder
    table = pl.concat(draw(chunks(N)[k].payload) for k in (0, 2, 3))
    assert (told.total, told.done, told.failed, told.missing, told.invalid) == (7, 3, 1, 3, 0)
    assert told.diverged == (table["diverged_at"] >= 0).sum() > 0
    assert (told.steps_done, told.steps_total) == (305, 721)
    assert told.seconds > 0
    assert not told.complete
    record = json.loads((tmp_path / "failed" / f"{chunks(N)[1].id}.json").read_text())
    assert (record["error"], record["attempts"], record["group"]) == ("ValueError: no", 3, "group 0")
    fill(tmp_path, [1, 2])
    assert not list((tmp_path / "failed").iterdir())  # done after all
    assert store.status(tmp_path).failed == 0


def test_one_driver_a_folder(tmp_path):
    with opened(tmp_path):
        with pytest.raises(InputError, match=f"in use by process {os.getpid()} on .* since 20.*; wait for it") as error:
            Results(tmp_path, SPEC, DRAW, chunks(N))
        assert "\n" not in str(error.value)
    with opened(tmp_path):  # it was let go
        pass


def test_the_lock_of_a_killed_driver_is_free(tmp_path):
    hold = f"""
        from helpers.runners import *
        results = store.Results({str(tmp_path)!r}, SPEC, DRAW, chunks({N}))
        print("held", flush=True)
        time.sleep(60)
    """
    with python(hold) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"in use by process {holder.pid} on"):
            Results(tmp_path, SPEC, DRAW, chunks(N))
        holder.kill()
        holder.wait()
    with opened(tmp_path):
        pass


@contextlib.contextmanager
def python(program: str):
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_changed_spec_is_refused_and_nothing_is_touched(tmp_path):
    fill(tmp_path)
    before = content(tmp_path)
    for spec, n, runner, message in (
        ({**SPEC, "runs": 2}, 5, DRAW, "holds another spec (runs is 2, was 3): "),
        ({"name": SPEC["name"]}, 5, DRAW, "holds another spec (runs is gone): "),
        ({**SPEC, "tau": 0}, 5, DRAW, "holds another spec (tau is new): "),
        (SPEC, 5, DRAW, "holds another spec (the same words made other chunks): "),
        (
            SPEC,
            N,
            "helpers:other",
            f"was computed by {DRAW!r}, not 'helpers:other'; use another folder",
        ),
    ):
        with pytest.raises(InputError) as error, opened(tmp_path, n, spec, runner=runner):
            pass
        assert str(error.value).startswith(f"{tmp_path}: {message}")
        assert "\n" not in str(error.value)
        assert {**content(tmp_path), "lock": before["lock"]} == before


def test_a_spec_that_only_adds_is_accepted_and_the_old_one_kept(tmp_path):
    few = chunks(N)[:4]
    with Results(tmp_path, SPEC, DRAW, few) as results:
        old = results.manifest
        for k in range(4):
            results.put(few[k].id, part_of(results, k))
    more = {**SPEC, "grid": 7}
    with opened(tmp_path, spec=more) as results:
        assert results.have.to_list() == [True] * 4 + [False] * 3
        assert not results.set_aside
        results.put(chunks(N)[5].id, part_of(results, 5))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["spec"], manifest["chunks"]) == (more, 7)
    assert [entry["spec_hash"] for entry in manifest["history"]] == [old.spec_hash]
    assert manifest["history"][0]["spec"] == SPEC
    with opened(tmp_path, spec=more) as results:  # and the same again changes nothing
        assert len(results.manifest.history) == 1
    assert store.scan(tmp_path).collect()["k"].unique().to_list() == [0, 1, 2, 3, 5]
    with pytest.raises(InputError, match="only adds"), Results(tmp_path, SPEC, DRAW, few):
        pass


def test_a_lost_manifest_is_written_anew(tmp_path):
    fill(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with (
        pytest.raises(InputError, match=r"manifest.json: is not a manifest, or was edited; move it away"),
        opened(tmp_path),
    ):
        pass
    (tmp_path / "manifest.json").unlink()
    with opened(tmp_path) as results:
        assert results.have.all()


def test_folders_that_hold_something_else(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(InputError, match=r"is not a results folder \(it has thesis.tex and no manifest.json\)"):
        fill(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    for ask in (store.status, store.scan):
        with pytest.raises(InputError, match=r"is not a results folder \(it has no manifest.json\)"):
            ask(tmp_path)
        with pytest.raises(InputError, match="there is no such folder"):
            ask(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"thesis.tex: cannot be written: Not a directory|File exists"):
        fill(tmp_path / "thesis.tex")
    with opened(tmp_path / "new"):
        pass
    with pytest.raises(InputError, match="no chunk is finished yet"):
        store.scan(tmp_path / "new")


def test_results_of_a_later_version_are_left_alone(tmp_path):
    fill(tmp_path)
    text = (tmp_path / "manifest.json").read_text()
    (tmp_path / "manifest.json").write_text(text.replace('"schema": 1', '"schema": 2'))
    with pytest.raises(InputError, match="has schema version 2; this gpbe reads version 1"), opened(tmp_path):
        pass


def test_all_chunks_have_the_same_columns(tmp_path):
    with opened(tmp_path) as results:
        results.put(chunks(N)[0].id, part_of(results, 0))
        odd = store.encode(pl.DataFrame({"k": [0.5]}), {"chunk": chunks(N)[1].id})
        with pytest.raises(InputError, match=r"has columns k \(Float64\), and others have k \(Int64\), run"):
            results.put(chunks(N)[1].id, odd)
        assert not file_of(tmp_path, 1).exists()


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing_half_written(broken, tmp_path, monkeypatch):
    fill(tmp_path, [0])

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with opened(tmp_path) as results:
        before = content(tmp_path)
        part = part_of(results, 1)
        with monkeypatch.context() as patch:
            patch.setattr(os, broken, full)
            with pytest.raises(InputError, match="the disk is full; nothing half-written was left, so make room"):
                results.put(chunks(N)[1].id, part)
        assert content(tmp_path) == before
        results.put(chunks(N)[1].id, part)


def test_a_write_that_the_system_cuts_off(tmp_path):
    """For real: the operating system stops the write after 1500 bytes."""
    program = f"""
        import resource
        from store.test_store import *
        folder = Path({str(tmp_path)!r})
        with opened(folder) as results:
            part = part_of(results, 0)
            assert len(part) > 1500
            resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
            try:
                results.put(chunks(N)[0].id, part)
            except InputError as error:
                print(error)
    """
    with python(program) as process:
        said = process.communicate()[0]
    assert said.count("\n") == 1
    assert "the file is too large; nothing half-written was left" in said
    assert not list((tmp_path / "parts").iterdir())
    assert not list((tmp_path / "tmp").iterdir())


def test_what_a_crash_left_in_tmp_is_removed(tmp_path):
    fill(tmp_path)
    (tmp_path / "tmp" / f"{chunks(N)[0].id}.parquet.999").write_bytes(b"half")
    with opened(tmp_path) as results:
        assert results.have.all()
    assert not list((tmp_path / "tmp").iterdir())


def test_two_chunks_alike_and_no_chunks_are_refused(tmp_path):
    with pytest.raises(InputError, match="of group 'group 0' is in the sweep more than once"):
        Results(tmp_path / "twice", SPEC, DRAW, [*chunks(5), chunks(5)[0]])
    with pytest.raises(InputError, match="the sweep has no chunks"):
        Results(tmp_path / "none", SPEC, DRAW, [])
    with pytest.raises(InputError, match="the spec cannot be written as JSON"):
        Results(tmp_path / "nan", {"tau": float("nan")}, DRAW, chunks(2))


@pytest.mark.slow
def test_status_of_many_parts_is_quick(tmp_path):
    """A hundred thousand parts in under a minute."""
    import time

    from gpbe.runner import Chunk

    many = [Chunk("group", 10, {"k": k}) for k in range(100_000)]
    with Results(tmp_path, SPEC, DRAW, many) as results:
        about = {"spec_hash": results.manifest.spec_hash, "seconds": 1.0, "steps": 10}
        frame = pl.DataFrame({"x": [0.5], "diverged_at": [3]})
        for chunk in many:
            (tmp_path / "parts" / f"{chunk.id}.parquet").write_bytes(store.encode(frame, {"chunk": chunk.id, **about}))
    for verify in (False, True):
        started = time.perf_counter()
        told = store.status(tmp_path, verify=verify)
        seconds = time.perf_counter() - started
        print(f"status of 100,000 parts, verify={verify}: {seconds:.1f} s")
        assert told.complete
        assert told.diverged == 100_000
        assert seconds < 60


def test_a_column_of_text_that_is_called_diverged_at_counts_nothing():
    table = pl.DataFrame({"diverged_at": ["never", "at once"]})
    assert store.check(store.encode(table, {}))["diverged"] == 0
