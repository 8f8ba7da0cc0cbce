"""Standard output and error may be closed, full, unread, or unable to write our letters; signals end commands well."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpbe import store
from gpbe.cli import main
from gpbe.cli.streams import open_streams
from gpbe.interrupts import Interrupted, interruptible
from helpers.samples import few

LIST = [sys.executable, "-m", "gpbe", "list", "problems"]
ON_ITS_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gpbe.cli import main
main()
"""
PATH = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_ends_a_command_as_sigpipe_would(unbuffered):
    ours, theirs = os.pipe()
    os.close(ours)
    env = os.environ | PATH | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(LIST, env=env, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", [[], ["--help"]])
def test_output_without_room_is_one_line(words):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            LIST + words, env=os.environ | PATH, stdout=full, stderr=subprocess.PIPE, check=False, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "gpbe: standard output cannot be written: No space left on device\n"


def test_closed_streams_lead_nowhere_and_no_file_gets_their_numbers(tmp_path):
    code = "from gpbe.cli import main; main(['list']); import os; os.write(1, b'stray'); print(open('x', 'w').fileno())"
    shell = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", f"{code}; open('done', 'w')"]
    assert subprocess.run(shell, env=os.environ | PATH, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "done").exists()
    assert (tmp_path / "x").read_bytes() == b""


@pytest.mark.parametrize(("encoding", "errors"), [("ascii", "surrogateescape"), ("latin-1", "strict")])
def test_letters_that_a_terminal_does_not_have_are_written_as_their_codes(encoding, errors, monkeypatch):
    """These are the encodings under LC_ALL=C, and of a locale older than Unicode."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding, errors))
    open_streams()
    print("→ λ \udcff", flush=True)
    assert written.getvalue() == rb"\u2192 \u03bb \udcff" + b"\n"


def test_a_null_byte_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["run", "kolter", "--out", "a\0b"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("gpbe: an argument has a null byte in it; ")


@pytest.mark.usefixtures("as_on_a_terminal")
def test_a_terminal_that_closes_interrupts_unless_nohup_says_otherwise():
    with interruptible(), pytest.raises(Interrupted) as told:
        signal.raise_signal(signal.SIGHUP)
    assert told.value.number == signal.SIGHUP
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("command", "of_the_bar"),
    few([("run mine.toml", b"chunks"), ("train CartPole-v1 qrc --steps 10000000", b"steps")], ["run mine.toml"]),
)
@pytest.mark.usefixtures("as_on_a_terminal")
def test_work_whose_terminal_closes_ends_as_sighup_would(command, of_the_bar, tmp_path):
    """Neither the bar nor how to go on can be shown any more; what was done is kept."""
    (tmp_path / "mine.toml").write_text(
        'domains = ["CartPole-v1"]\nruns = 400\nsteps = 100000\n[algorithms.qrc]\nstep_size = 0.001'
    )
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ON_ITS_TERMINAL, *command.split()],
        env=os.environ | PATH,
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    with process:
        shown = b""
        while of_the_bar not in shown:
            shown += os.read(ours, 1000)
        os.close(ours)
        assert process.wait(60) == 128 + signal.SIGHUP
    if command.startswith("run"):
        assert store.status(tmp_path / "out/results/mine", verify=True).invalid == 0


def test_an_interruption_that_a_library_makes_an_error_of_is_one_still(monkeypatch, capsys, as_on_a_terminal):
    """JAX makes an ImportError of a Ctrl-C that comes while it is imported."""

    def imported(_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initializing the extension") from None

    monkeypatch.setattr("gpbe.cli._run", imported)
    with pytest.raises(SystemExit) as stop:
        main(["list"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "gpbe: interrupted; files written are whole\n"


def test_an_error_of_its_own_is_not_hidden(monkeypatch):
    def broken(_):
        raise ImportError("a defect")

    monkeypatch.setattr("gpbe.cli._run", broken)
    with pytest.raises(ImportError, match="a defect"):
        main(["list"])
