"""Sweeps on this machine: the same bits whatever is killed, nothing run twice, nothing left behind."""

import contextlib
import errno
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from gpbe import InputError, store
from gpbe.process import single_threaded
from gpbe.runner import Chunk, Counts, Event, Local, progress, run
from gpbe.runner.events import Report
from gpbe.runner.progress import Bar, Lines
from gpbe.runner.queue import Queue
from helpers.runners import DRAW, SPEC, alive, chunks, draw, hanging_chunks, parts, table, wait_until
from helpers.samples import few

N = 13
TWO = Local(2)


def expected(n: int = N, seconds: float = 0.0) -> pl.DataFrame:
    return pl.concat(draw(chunk.payload) for chunk in chunks(n, seconds))


@contextlib.contextmanager
def driver(folder: Path, n: int, seconds: float, **environment: str):
    """A driver in a process of its own."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    program = f"import helpers.runners; helpers.runners.drive({str(folder)!r}, {n}, {seconds})"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def children(pid: int) -> list[int]:
    """The worker processes of a driver."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def holding(hold: Path) -> list[int]:
    """Workers that are in the middle of a chunk."""
    return [int(file.suffix[1:]) for file in hold.parent.glob(f"{hold.name}.*") if alive(int(file.suffix[1:]))]


class Told(list):
    """A display that remembers."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self if event.kind == kind]


def test_ids_are_the_same_for_equal_content_everywhere():
    one = Chunk("g", 5, {"a": 1, "b": [0.1, 2]})
    assert one.id == Chunk("g", 9, {"b": (0.1, 2), "a": 1}).id
    assert one.id == "33d6b8b3f1b62c53"  # sha256sum of {"group":"g","payload":{"a":1,"b":[0.1,2]}}
    assert one.payload == {"a": 1, "b": [0.1, 2]}
    others = [Chunk("h", 5, one.payload), Chunk("g", 5, {"a": 1, "b": [0.1, 3]}), Chunk("g", 5, {"a": "1"})]
    assert len({one.id, *(chunk.id for chunk in others)}) == 4
    for payload, message in (
        ({"a": float("inf")}, "cannot be written as JSON"),
        ({"a": {1, 2}}, "set is not JSON serializable"),
    ):
        with pytest.raises(InputError, match=message):
            Chunk("g", 1, payload)
    with pytest.raises(InputError, match="has cost -1"):
        Chunk("g", -1, {})


def test_a_sweep_from_beginning_to_end_and_again(tmp_path):
    told = Told()
    report = run(tmp_path, SPEC, chunks(N), DRAW, executor=TWO, display=told)
    assert report.complete
    assert not report.interrupted
    assert table(tmp_path).equals(expected())
    assert [event.kind for event in told] == ["begin", *["done"] * N, "end"]
    assert {event.chunk for event in told.of("done")} == {chunk.id for chunk in chunks(N)}
    last = told[-1].counts
    assert (last.total, last.skipped, last.done, last.failed, last.retried) == (N, 0, N, 0, 0)
    assert last.steps_done == last.steps_total == sum(chunk.cost for chunk in chunks(N))
    assert last.rate > 0
    assert last.workers == 2
    stamps = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "parts").iterdir()}
    report = run(tmp_path, SPEC, chunks(N), DRAW, executor=NoExecutor())
    assert (report.counts.skipped, report.counts.done, report.complete) == (N, 0, True)
    assert stamps == {file.name: file.stat().st_mtime_ns for file in (tmp_path / "parts").iterdir()}


class NoExecutor:
    """Where nothing can run."""

    def start(self, job, at_most):
        raise AssertionError("there was nothing to do")


def test_only_what_is_missing_or_damaged_runs(tmp_path):
    run(tmp_path, SPEC, chunks(N), DRAW, executor=TWO)
    files = [tmp_path / "parts" / f"{chunk.id}.parquet" for chunk in chunks(N)]
    files[3].unlink()
    files[5].write_bytes(files[5].read_bytes()[:-1])
    told = Told()
    report = run(tmp_path, SPEC, iter_again(chunks(N)), DRAW, executor=TWO, display=told)
    assert {event.chunk for event in told.of("done")} == {chunks(N)[3].id, chunks(N)[5].id}
    assert (report.counts.skipped, report.counts.done, report.counts.set_aside) == (N - 2, 2, 1)
    (aside,) = told.of("set-aside")
    assert aside.chunk == files[5].name
    assert "cut short" in aside.message
    assert table(tmp_path).equals(expected())
    added = [*chunks(N), *(Chunk("more", 1, {**chunk.payload, "runs": 1}) for chunk in chunks(2))]
    assert run(tmp_path, {**SPEC, "more": True}, added, DRAW, executor=TWO).counts.done == 2


def iter_again(items: list):
    """What can be gone through twice without being a list."""
    return type("Again", (), {"__iter__": lambda self: iter(items)})()


@pytest.mark.slow
def test_a_failing_chunk_is_recorded_and_the_rest_is_done(tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_SEEN", str(tmp_path / "seen"))
    ways = [None, "raise", "die", None, "leave", "list", "once", None]
    bad = [Chunk("g", 10, {"k": k, "seed": k, "runs": 2, "seconds": 0, "how": how}) for k, how in enumerate(ways)]
    told = Told()
    report = run(tmp_path / "r", SPEC, bad, "helpers.runners:misbehave", executor=TWO, display=told)
    assert (report.counts.done, report.counts.failed, report.counts.retried) == (4, 4, 4 * 2 + 1)
    assert not report.complete
    assert report.counts.steps_given_up == 40
    errors = {event.chunk: event.message for event in told.of("failed")}
    for k, message in (
        (1, "ValueError: no such thing as 7"),
        (2, "ended by SIGKILL"),
        (4, "ended with exit code 3"),
        (5, "TypeError: runner 'helpers.runners:misbehave' returned list; it should be a polars.DataFrame"),
    ):
        assert message in errors[bad[k].id]
        record = json.loads((tmp_path / "r" / "failed" / f"{bad[k].id}.json").read_text())
        assert message in record["error"]
        assert record["attempts"] == 3
    assert store.status(tmp_path / "r").failed == 4
    again = run(tmp_path / "r", SPEC, bad, "helpers.runners:misbehave", executor=TWO, attempts=1)
    assert (again.counts.skipped, again.counts.failed, again.counts.retried) == (4, 4, 0)


@pytest.mark.slow
def test_a_chunk_that_hangs_is_tried_again_and_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_SEEN", str(tmp_path / "seen"))
    hung = hanging_chunks()
    told = Told()
    options = {"executor": TWO, "attempts": 2, "patience": 0.5}
    report = run(tmp_path / "r", SPEC, hung, "helpers.runners:misbehave", display=told, **options)
    assert (report.counts.done, report.counts.failed, report.counts.retried) == (3, 1, 2)
    assert {event.message for event in told.of("retried")} == {"it took longer than 0.5 seconds"}
    assert [event.chunk for event in told.of("failed")] == [hung[2].id]
    with pytest.raises(InputError, match="patience is 0; it should be more than 0 seconds"):
        run(tmp_path / "r", SPEC, hung, "helpers.runners:misbehave", patience=0.0)


def test_tables_of_another_kind_end_the_sweep(tmp_path):
    odd = [Chunk("g", 1, {"k": 0, "seed": 0, "runs": 2, "seconds": 0, "how": how}) for how in (None, "columns")]
    with pytest.raises(InputError, match="every chunk should have the same columns and types"):
        run(tmp_path, SPEC, odd, "helpers.runners:misbehave", executor=Local(1))
    assert store.status(tmp_path).done == 1


def test_a_worker_killed_in_the_middle_of_a_chunk(tmp_path, monkeypatch):
    hold = tmp_path / "hold"
    hold.touch()
    monkeypatch.setenv("SWEEP_HOLD", str(hold))
    killed = []

    def kill(event: Event) -> None:
        if event.kind == "retried":
            hold.unlink(missing_ok=True)
        told.append(event)

    told = Told()
    murder = subprocess.Popen([sys.executable, "-c", MURDER, str(hold)], stdout=subprocess.PIPE, text=True)
    with murder:
        report = run(tmp_path / "r", SPEC, chunks(N), DRAW, executor=TWO, display=kill)
        killed = murder.communicate()[0].split()
    assert len(killed) == 1
    assert report.complete
    assert report.counts.retried == 1
    (retried,) = told.of("retried")
    assert retried.message == f"the worker process {killed[0]} ended by SIGKILL"
    assert table(tmp_path / "r").equals(expected())


MURDER = """
import glob, os, signal, sys, time
while not (found := glob.glob(sys.argv[1] + ".*")):
    time.sleep(0.01)
pid = int(found[0].rpartition(".")[2])
os.kill(pid, signal.SIGKILL)
print(pid)
"""


def test_a_killed_driver_leaves_no_workers_and_whole_results(tmp_path):
    hold, folder = tmp_path / "hold", tmp_path / "r"
    with driver(folder, N, 0.01, SWEEP_HOLD=str(hold)) as process:
        wait_until(lambda: len(list((folder / "parts").glob("*"))) > 3)
        hold.touch()
        wait_until(lambda: len(holding(hold)) == 2)
        workers = children(process.pid)
        assert set(workers) == set(holding(hold))
        process.kill()
        process.wait()
        wait_until(lambda: not any(alive(pid) for pid in workers), 5)
    hold.unlink()
    done = store.status(folder, verify=True)
    assert 3 < done.done < N
    assert done.invalid == 0
    report = run(folder, SPEC, chunks(N, 0.01), DRAW, executor=TWO)
    assert report.counts.skipped == done.done
    assert report.complete
    assert table(folder).equals(expected(N, 0.01))


@pytest.mark.parametrize("how", few(["stopped", "holds Python's lock"], ["stopped"]))
def test_a_worker_that_cannot_listen_dies_with_its_driver_too(how, tmp_path):
    hold, folder = tmp_path / "hold", tmp_path / "r"
    hold.touch()
    deaf = {"SWEEP_DEAF": "1"} if how != "stopped" else {}
    with driver(folder, N, 0.01, SWEEP_HOLD=str(hold), **deaf) as process:
        wait_until(lambda: len(holding(hold)) == 2)
        workers = children(process.pid)
        if how == "stopped":
            for pid in workers:
                os.kill(pid, signal.SIGSTOP)
        process.kill()
        process.wait()
        wait_until(lambda: not any(alive(pid) for pid in workers), 5)


@pytest.mark.parametrize(
    ("which", "times"),
    few([(signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGINT, 1), (signal.SIGINT, 2)], [signal.SIGTERM]),
)
@pytest.mark.usefixtures("as_on_a_terminal")
def test_a_signal_drops_what_is_in_flight_and_says_so(which, times, tmp_path):
    hold, folder = tmp_path / "hold", tmp_path / "r"
    with driver(folder, N, 0.01, SWEEP_HOLD=str(hold)) as process:
        wait_until(lambda: len(list((folder / "parts").glob("*"))) > 3)
        hold.touch()
        wait_until(lambda: len(holding(hold)) == 2)
        workers = holding(hold)
        for _ in range(times):
            process.send_signal(which)
            time.sleep(0.002)
        out, err = process.communicate(timeout=60)
        wait_until(lambda: not any(alive(pid) for pid in workers), 5)
    assert "Traceback" not in err or times == 2  # the second may come after the sweep has ended
    if times == 1:
        done = store.status(folder, verify=True).done
        assert out.split() == ["interrupted", str(done), "0"]
        hold.unlink()
        assert run(folder, SPEC, chunks(N, 0.01), DRAW, executor=TWO).complete


@pytest.mark.parametrize("which", few([signal.SIGINT, signal.SIGTERM], []))
def test_a_sweep_in_the_background_of_a_script_ends_with_how_to_go_on(which, tmp_path):
    """A shell script starts background commands with SIGINT ignored."""
    (tmp_path / "mine.toml").write_text(
        'domains = ["CartPole-v1"]\nruns = 400\nsteps = 100000\n[algorithms.qrc]\nstep_size = 0.001'
    )
    command = f"{sys.executable} -m gpbe run mine.toml & echo $!; wait $!; echo $?"
    path = os.pathsep.join(filter(None, sys.path))
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        wait_until(lambda: len(children(pid)) == 2, 60)
        workers = children(pid)
        os.kill(pid, which)
        out, err = process.communicate(timeout=60)
    assert out.split() == [str(128 + which)]
    assert err.splitlines()[-1] == "gpbe: interrupted; the same command goes on from out/results/mine"
    assert "Traceback" not in err
    wait_until(lambda: not any(alive(pid) for pid in workers), 5)


def test_ctrl_c_while_a_part_is_being_kept_waits_until_it_is_counted(tmp_path, monkeypatch):
    put, kept = store.Results.put, []

    def interrupt_after(self: store.Results, *args) -> None:
        put(self, *args)
        kept.append(args)
        if len(kept) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(store.Results, "put", interrupt_after)
    report = run(tmp_path, SPEC, chunks(N), DRAW, executor=TWO)
    assert report.interrupted
    assert report.counts.done == store.status(tmp_path).done == 3


def test_a_full_disk_ends_the_sweep_in_one_line(tmp_path, monkeypatch):
    written = []

    def fsync(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) > 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(InputError, match="the disk is full; nothing half-written was left") as error:
            run(tmp_path, SPEC, chunks(N), DRAW, executor=TWO)
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "tmp").iterdir())
    assert 0 < store.status(tmp_path, verify=True).done < N
    assert store.status(tmp_path, verify=True).invalid == 0
    assert not children(os.getpid())  # no worker is left
    assert run(tmp_path, SPEC, chunks(N), DRAW, executor=TWO).complete
    assert table(tmp_path).equals(expected())


def test_workers_are_single_threaded_and_bound_to_a_core(tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=1")
    cores = sorted(os.sched_getaffinity(0))
    some = [Chunk("g", 1, {"k": k}) for k in range(5 * len(cores))]
    run(tmp_path / "all", SPEC, some, "helpers.runners:threads")
    rows = table(tmp_path / "all")
    assert rows["pid"].n_unique() <= len(cores)  # workers are used again
    assert all(len(bound) == 1 for bound in rows["cores"])
    assert rows["polars"].unique().to_list() == [1]
    assert rows["OMP_NUM_THREADS"].unique().to_list() == ["1"]
    (flags,) = rows["XLA_FLAGS"].unique()
    assert flags.startswith("--xla_force_host_platform_device_count=1 --xla_cpu_multi_thread_eigen=false")
    assert os.environ["XLA_FLAGS"] == "--xla_force_host_platform_device_count=1"
    if len(cores) > 1:  # fewer workers than cores are left free
        run(tmp_path / "one", SPEC, some[:2], "helpers.runners:threads", executor=Local(1))
        assert table(tmp_path / "one")["cores"][0].to_list() == cores
    assert single_threaded({})["XLA_FLAGS"] == "--xla_cpu_multi_thread_eigen=false"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"runner": "helpers.draw"},
            "runner 'helpers.draw' should be written as package.module:function",
        ),
        (
            {"runner": "helpers.runners:dwar"},
            "runner 'helpers.runners:dwar' cannot be imported: module 'helpers.runners' has",
        ),
        ({"runner": "swep:draw"}, "runner 'swep:draw' cannot be imported: No module named 'swep'"),
        ({"runner": "helpers.runners:SPEC"}, "runner 'helpers.runners:SPEC' is not a function"),
        ({"chunks": iter([])}, "chunks can be gone through only once"),
        ({"chunks": []}, "the sweep has no chunks"),
        ({"attempts": 0}, "attempts is 0; it should be at least 1"),
    ],
)
def test_mistakes_end_in_one_line(change, message, tmp_path):
    with pytest.raises(InputError) as error:
        run(**{"folder": tmp_path, "spec": SPEC, "chunks": chunks(3), "runner": DRAW, "executor": Local(1), **change})
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_workers_that_cannot_start(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(InputError, match="workers end with exit code 1 before they have started"):
        run(tmp_path, SPEC, chunks(3), DRAW, executor=TWO)
    with pytest.raises(InputError, match="workers is 0; it should be at least 1"):
        Local(0)


def test_a_queue_keeps_workers_to_their_groups_and_starves_none():
    drawn = []
    source = (drawn.append(k) or Chunk(f"g{k // 10}", 1, {"k": k}) for k in range(40))
    queue = Queue(source, window=25)
    first = queue.take(None, [])
    assert len(drawn) == 25  # no further than the window
    assert first is not None
    assert first.group == "g0"
    taken = [first]
    last: dict[str, str | None] = {"a": "g0", "b": None}
    while queue:
        for worker, other in (("b", "a"), ("a", "b")):
            chunk = queue.take(last[worker], [g for g in [last[other]] if g])
            if chunk is not None:
                taken.append(chunk)
                last[worker] = chunk.group
    assert len(set(taken)) == len(taken) == 40
    switches = sum(one.group != other.group for one, other in zip(taken[1::2], taken[3::2], strict=False))
    assert switches <= 3
    queue.put_back(first)
    assert queue.take("g7", ["g0"]) is first  # rather another's group than nothing
    assert queue.take("g0", []) is None


@pytest.mark.parametrize(("slow", "expected"), [(46.0, ["slow", "slow", "quick"]), (25.0, ["quick", "quick", "slow"])])
def test_long_chunks_are_not_left_for_the_end(slow, expected):
    chunks = [Chunk(group, 1, {"k": k}) for group, n in (("slow", 3), ("quick", 2)) for k in range(n)]
    queue = Queue(iter(chunks))
    for group, seconds in (("slow", slow + 9), ("slow", slow), ("quick", 19.0)):  # the first one had to compile
        queue.took(Chunk(group, 1, {}), seconds)
    first = queue.take("slow", ["quick"], workers=2)
    assert first is not None
    assert first.group == "slow"
    # 2 x 46 + 2 x 19 seconds are left for two workers, so the one at quick chunks should now take a slow one.
    taken = [queue.take("quick", ["slow"], workers=2) for _ in range(3)]
    assert [chunk.group for chunk in taken if chunk] == expected


def test_a_group_that_is_not_known_yet_is_not_left_for_the_end():
    queue = Queue(iter([Chunk("known", 1, {"k": 0}), Chunk("unknown", 1, {"k": 1})]))
    queue.took(Chunk("known", 1, {}), 60.0)
    chunk = queue.take(None, ["known"], workers=2)
    assert chunk is not None
    assert chunk.group == "unknown"


def test_a_worker_stays_with_its_group_while_much_is_left():
    chunks = [Chunk(group, 1, {"k": k}) for group in ("slow", "quick") for k in range(20)]
    queue = Queue(iter(chunks))
    queue.took(chunks[0], 46.0)
    queue.took(chunks[-1], 19.0)
    chunk = queue.take("quick", ["slow"], workers=2)
    assert chunk is not None
    assert chunk.group == "quick"


def counts(**changes) -> Counts:
    known = {"total": 400, "skipped": 100, "done": 0, "failed": 0, "retried": 0, "set_aside": 0, "workers": 2}
    steps = {"steps_total": 4000, "steps_done": 1000, "steps_given_up": 0, "rate": 0.0, "seconds": 1.0}
    return Counts(**{**known, **steps, **changes})


def test_lines_are_few_and_complete(tmp_path):
    with open(tmp_path / "log", "w") as stream:
        lines = progress("walk", stream)
        assert isinstance(lines, Lines)
        lines(Event("begin", counts()))
        lines(Event("failed", counts(failed=1), "abc", "ValueError: no"))
        for done in range(1, 100):
            lines(Event("done", counts(done=done, failed=1, rate=123456.7), "abc"))
        lines(Event("end", counts(done=299, failed=1, steps_done=3990, steps_given_up=10, rate=50.0)))
    assert (tmp_path / "log").read_text().splitlines() == [
        "walk: 100/400 chunks",
        "walk: 399/400 chunks, 50 steps/s, 1 failed; failed abc: ValueError: no",
    ]


def test_the_bar_shows_rate_time_left_and_failures():
    from rich.console import Console

    stream = io.StringIO()
    bar = Bar("walk", Console(file=stream, force_terminal=True, width=120, color_system=None))
    bar(Event("begin", counts()))
    bar(Event("failed", counts(failed=1), "abc", "ValueError: [no]"))
    bar(Event("done", counts(done=100, steps_done=2000, rate=10.0), "abc"))
    bar(Event("end", counts(done=100, steps_done=2000, rate=10.0)))
    shown = stream.getvalue()
    assert "failed abc: ValueError: [no]" in shown
    assert "walk: 200/400 chunks, 10 steps/s, 0:03:20 left" in shown


def test_a_report_knows_whether_all_is_done():
    assert Report(counts(done=300), False).complete
    assert not Report(counts(done=299, failed=1), False).complete


KILLS = 25
"""Of each sort."""
VICTIMS = [(who, how) for who in ("worker", "driver") for how in (signal.SIGKILL, signal.SIGTERM)] * KILLS


@pytest.mark.slow
def test_a_hundred_kills_of_workers_and_driver(tmp_path):
    """SIGKILL and SIGTERM at random moments, a hundred times over one sweep: complete, none twice, the same bits."""
    n, seconds, folder = 1200, 0.05, tmp_path / "r"
    rng = random.Random(0)
    victims, starts, written = rng.sample(VICTIMS, len(VICTIMS)), 0, {}
    while victims or not store.status(folder).complete:
        starts += 1
        with driver(folder, n, seconds) as process:
            while victims:
                more = len(parts(folder)) + rng.randrange(1, 9)  # by progress: the sweep must not end before them
                wait_until(lambda more=more: len(parts(folder)) >= more, 200)
                time.sleep(rng.uniform(0, 2 * seconds))
                workers, (who, how) = list(filter(alive, children(process.pid))), victims.pop()
                written = parts(folder) | written
                if who == "driver":
                    process.send_signal(how)
                    out = process.communicate(timeout=200)[0]
                    assert out.startswith("interrupted" if how == signal.SIGTERM else ""), out
                    wait_until(lambda workers=workers: not any(alive(pid) for pid in workers), 60)
                    break
                os.kill(rng.choice(workers), how)
            else:
                assert process.communicate(timeout=600)[0].startswith("complete")
        told = store.status(folder, verify=True)
        assert (told.failed, told.invalid) == (0, 0)
    print(f"{len(VICTIMS)} kills, {starts} starts of the driver, {told.done} chunks")
    assert not (folder / "set-aside").exists()
    assert written.items() <= parts(folder).items()  # what was done has not been done again
    run(tmp_path / "undisturbed", SPEC, chunks(n, seconds), DRAW, executor=TWO)
    assert table(folder).equals(table(tmp_path / "undisturbed"))
    assert table(folder).height == 3 * n
    assert sorted(parts(folder)) == sorted(f"{chunk.id}.parquet" for chunk in chunks(n, seconds))


class TenThousand:
    """Ten thousand chunks, never in memory together."""

    def __iter__(self):
        return (Chunk(f"g{k // 500}", 1000, {"k": k, "seed": k, "runs": 8, "seconds": 0}) for k in range(10_000))


def memory(pid: str | int) -> float:
    """Resident megabytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_chunks(tmp_path):
    seen: dict[int, tuple[float, list[float]]] = {}

    def measure(event: Event) -> None:
        if event.kind == "done" and event.counts.done in (1000, 10_000):
            seen[event.counts.done] = memory("self"), [memory(pid) for pid in children(os.getpid())]

    started = time.perf_counter()
    assert run(tmp_path, SPEC, TenThousand(), DRAW, executor=TWO, display=measure).complete
    print(f"10,000 chunks in {time.perf_counter() - started:.1f} s; driver and workers in MB: {seen}")
    assert seen[10_000][0] <= 1.2 * seen[1000][0]
    assert max(seen[10_000][1]) <= 1.2 * max(seen[1000][1])
    assert store.scan(tmp_path).select(pl.len()).collect().item() == 80_000
