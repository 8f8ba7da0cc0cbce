"""Files that are there whole or not at all; and what is there and is no file stays."""

import os
from pathlib import Path

import pytest

from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic


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
