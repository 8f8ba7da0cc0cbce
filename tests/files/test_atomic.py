"""Files that are there whole or not at all; and what is there and is no file stays."""

import os
import resource
from pathlib import Path

import numpy as np
import pytest

from gpbe.callbacks import CSV, Stretch, TensorBoard
from gpbe.errors import InputError
from gpbe.files.atomic import append, write_atomic
from gpbe.store.lock import Lock


def test_what_is_no_file_stays(tmp_path):
    """A rename would put a file into the place of a pipe or a device, of /dev/null for who may."""
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(pipe)
    for target, kind in ((pipe, "no regular file"), (folder, "a folder"), (link, "no regular file")):
        with pytest.raises(InputError, match=f"^{target}: cannot be written: it is {kind}; name a file$"):
            write_atomic(target, b"x")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [folder, link, pipe]


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "other").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to("other")
    write_atomic(tmp_path / "link", b"ours")
    assert (tmp_path / "link").read_bytes() == b"ours"
    assert (tmp_path / "other").read_bytes() == b"theirs"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 300, "nowhere/x"])
def test_names_that_no_file_can_have_are_refused(name, tmp_path, refuses):
    refuses(lambda: write_atomic(tmp_path / name, b"x"), "cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_finished_is_not_begun(tmp_path, monkeypatch, refuses):
    (tmp_path / "x").write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    refuses(lambda: write_atomic(tmp_path / "x", b"after"), "x: the disk is full")
    assert [(p.name, Path(p).read_bytes()) for p in tmp_path.iterdir()] == [("x", b"before")]


@pytest.fixture
def at_most():
    """No file of this process may get longer than a mebibyte: what is beyond is refused in the middle of writing."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, before[1]))
    yield 2**20
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_cannot_be_written_to_the_end_leaves_a_file_as_it_was(tmp_path, at_most, refuses):
    log = tmp_path / "log"
    append(log, b"header\n", anew=True)
    append(log, b"row\n")
    refuses(lambda: append(log, bytes(at_most)), "log: the file is too large; nothing half-written was left")
    refuses(lambda: write_atomic(log, bytes(at_most + 1)), "log: the file is too large; nothing half-written was left")
    assert log.read_bytes() == b"header\nrow\n"
    assert list(tmp_path.iterdir()) == [log]


def test_logs_of_a_training_name_themselves(tmp_path, refuses):
    """A pipe that nobody reads would be waited for without end."""
    none, first = np.full(1, -1), np.zeros(1, int)
    told = Stretch("CartPole-v1", "qrc", 100, 200, first, first, {}, none, {"return": np.ones(1)}, None)
    os.mkfifo(tmp_path / "log.csv")
    refuses(lambda: CSV(tmp_path / "log.csv")(told), "log.csv: cannot be written: it is no regular file; name a file")
    (tmp_path / "run 0").touch()
    refuses(lambda: TensorBoard(tmp_path)(told), "run 0: cannot be written: File exists")


def test_a_lock_that_cannot_be_signed_is_let_go(tmp_path, monkeypatch, refuses):
    with monkeypatch.context() as full:
        full.setattr(os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        refuses(lambda: Lock(tmp_path), "lock: the disk is full")
    Lock(tmp_path).release()
