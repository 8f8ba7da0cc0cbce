"""Sweeps on a Ray cluster of several nodes on this machine: the same bits as local, whatever is killed."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest

from gpbe import InputError, evaluate, mdp, store
from gpbe.cli import main
from gpbe.experiments.sweep_file import read
from gpbe.runner import Chunk, Event, Local, Ray, cluster, run
from gpbe.runner.worker import Answer, Job
from helpers.machines import Machines
from helpers.runners import DRAW, LEARN, SPEC, alive, chunks, draw, hanging_chunks, parts, table, wait_until

# Ray forks to start a node, also in a process in which an earlier test has loaded JAX; the child runs Ray's program.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork", "ignore::ResourceWarning", "ignore::FutureWarning")

N = 24
PATIENCE = 200.0
"""Seconds to wait for what other processes do, on a machine that others use too."""


def expected(n: int, seconds: float) -> pl.DataFrame:
    return pl.concat(draw(chunk.payload) for chunk in chunks(n, seconds))


def test_without_ray_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"Ray is not installed \(.*\); pip install 'gpbe\[ray\]'") as error:
        run(tmp_path, SPEC, chunks(3), DRAW, executor=Ray())
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="workers is 0; it should be at least 1"):
        Ray(workers=0)


def test_an_actor_that_answers_just_before_it_is_ended_is_replaced(monkeypatch):
    """There is no news of its death then: nothing of it is awaited."""
    ray = mock.MagicMock()
    ray.is_initialized.return_value = True
    ray.cluster_resources.return_value = {"CPU": 1}
    ray.wait.side_effect = lambda references, **_: (references, [])
    ray.get.side_effect = [Answer("ready"), Answer("part", b"x"), Answer("ready")]
    monkeypatch.setattr(cluster, "_import_ray", lambda: ray)
    crew = Ray().start(Job(DRAW, "hash"), 1)
    try:
        assert [(reply.worker, reply.kind) for reply in crew.wait()] == [(1, "ready")]
        crew.send(1, chunks(1)[0])
        crew.dismiss(1, "it took too long")
        assert [(reply.worker, reply.kind) for reply in crew.wait()] == [(1, "part")]
        assert [(reply.worker, reply.kind) for reply in crew.wait()] == [(2, "ready")]
    finally:
        crew.close()


@pytest.fixture
def machines(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv("SWEEP_PIDS", str(tmp_path / "pids"))  # before the nodes start: workers inherit it
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    made = Machines(2, tmp_path / "pids")
    yield made
    made.cluster.shutdown()


def test_a_worker_and_a_node_killed_in_the_middle(machines, tmp_path):
    retried = []

    def disturb(event: Event) -> None:
        # Whoever is there has a chunk: a worker gets its next before the driver tells that the last is done.
        if event.kind == "done" and event.counts.done == 5:
            machines.kill_node(next(iter(machines.workers().values())))
        if event.kind == "done" and event.counts.done == 12:
            os.kill(next(iter(machines.workers())), signal.SIGKILL)
        if event.kind == "retried":
            retried.append(event.message)

    report = run(tmp_path / "ray", SPEC, chunks(N, 0.1), DRAW, executor=Ray(machines.cluster.address), display=disturb)
    assert report.complete, report
    assert len(retried) == 2, retried
    run(tmp_path / "local", SPEC, chunks(N, 0.1), DRAW, executor=Local(2))
    assert table(tmp_path / "ray").equals(table(tmp_path / "local"))
    assert table(tmp_path / "ray").equals(expected(N, 0.1))


@pytest.mark.slow
def test_a_cluster_that_is_started_here_listens_to_nobody_else(tmp_path, monkeypatch):
    """Who reaches a Ray cluster can run programs on it: all sockets are this machine's own, and no dashboard is up."""
    pytest.importorskip("ray")
    for name in ("RAY_ADDRESS", cluster._OPEN):
        monkeypatch.delenv(name, raising=False)
    with process_of(f"helpers.machines.tell_who_listens({str(tmp_path / 'here')!r})") as process:
        told = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert told.pop("complete")
    assert told.pop("as before")  # for others who use Ray in that process
    assert told.pop("dashboards") == [""]
    assert told.pop("others") == []
    assert len(told["loopback"]) >= 3, "the server of the cluster, its node and a worker"


def test_a_ray_that_listens_to_others_is_not_used(tmp_path, monkeypatch):
    ray = mock.MagicMock(__version__="9.9")
    ray.is_initialized.return_value = False
    ray.nodes.return_value = [{"NodeManagerAddress": "192.0.2.1"}]
    monkeypatch.setattr(cluster, "_import_ray", lambda: ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(InputError, match=r"Ray 9\.9 listens to other machines too; to have that, start"):
        run(tmp_path, SPEC, chunks(3), DRAW, executor=Ray())
    ray.shutdown.assert_called_once()


@pytest.mark.slow
def test_mistakes_and_failures_are_told_as_on_one_machine(machines, tmp_path):
    ray = Ray(machines.cluster.address)
    with pytest.raises(InputError, match="runner 'swep:draw' cannot be imported: No module named 'swep'"):
        run(tmp_path / "typo", SPEC, chunks(3), "swep:draw", executor=ray)
    bad = [Chunk("g", 1, {"k": 0, "seed": 0, "runs": 2, "seconds": 0, "how": how}) for how in ("raise", "die", None)]
    report = run(tmp_path / "bad", SPEC, bad, "helpers.runners:misbehave", executor=ray)
    assert (report.counts.done, report.counts.failed, report.counts.retried >= 4) == (1, 2, True)
    hung = [
        chunk for chunk in hanging_chunks() if chunk.payload["how"] != "hang once"
    ]  # it leaves a mark on one machine
    told: list[Event] = []
    options = {"executor": ray, "attempts": 2, "patience": 1.0, "display": told.append}
    report = run(tmp_path / "hung", SPEC, hung, "helpers.runners:misbehave", **options)
    assert (report.counts.done, report.counts.failed, report.counts.retried) == (2, 1, 1)
    assert {e.message for e in told if e.kind in ("retried", "failed")} == {"it took longer than 1 seconds"}
    one = [Chunk("g", 1, {"k": 0})]
    assert run(tmp_path / "threads", SPEC, one, "helpers.runners:threads", executor=ray).complete
    row = table(tmp_path / "threads").row(0, named=True)
    assert (row["polars"], row["OMP_NUM_THREADS"]) == (1, "1")
    assert "--xla_cpu_multi_thread_eigen=false" in row["XLA_FLAGS"]


@contextlib.contextmanager
def process_of(call: str):
    """A call of one of the helpers in a process of its own, which is gone afterwards."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    command = [sys.executable, "-c", f"import {call.partition('(')[0].rpartition('.')[0]}; {call}"]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def driver(folder: Path, n: int, seconds: float, address: str, log: str = os.devnull):
    """A driver in a process of its own."""
    return process_of(f"helpers.runners.drive({str(folder)!r}, {n}, {seconds}, 2, {address!r}, {log!r})")


def wait_for_parts(folder: Path, more: int) -> None:
    enough = len(parts(folder)) + more
    wait_until(lambda: len(parts(folder)) >= enough, PATIENCE)


@pytest.mark.slow
def test_a_killed_driver_leaves_no_workers_and_the_rest_can_run_anywhere(machines, tmp_path):
    folder = tmp_path / "ray"
    with driver(folder, N, 0.2, machines.cluster.address) as process:
        wait_for_parts(folder, 6)
        process.kill()
    wait_until(lambda: not machines.left(), PATIENCE)
    done = store.status(folder, verify=True)
    assert 5 < done.done < N
    assert done.invalid == 0
    assert run(folder, SPEC, chunks(N, 0.2), DRAW, executor=Local(2)).counts.skipped == done.done
    assert table(folder).equals(expected(N, 0.2))


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "")
    with pytest.raises(InputError, match="no Ray cluster at auto: ") as error:
        run(tmp_path, SPEC, chunks(3), DRAW, executor=Ray("auto"))
    assert "\n" not in str(error.value)


VICTIMS = (
    *[("worker", how) for how in (signal.SIGKILL, signal.SIGTERM) for _ in range(4)],
    *[("driver", how) for how in (signal.SIGKILL, signal.SIGTERM) for _ in range(3)],
    *[("node", signal.SIGKILL)] * 6,
)


@pytest.mark.slow
def test_twenty_kills_of_workers_drivers_and_nodes(machines, tmp_path):
    """SIGKILL and SIGTERM at random moments, twenty times over one sweep: complete, none twice, the same bits."""
    n, seconds, folder, log = 400, 0.1, tmp_path / "ray", tmp_path / "log"
    rng = random.Random(1)
    victims = rng.sample(VICTIMS, len(VICTIMS))
    killed, written = Counter(), {}
    machines.add_node()
    started = time.perf_counter()
    while True:
        with driver(folder, n, seconds, machines.cluster.address, str(log)) as process:
            while victims:
                wait_for_parts(folder, rng.randrange(1, 13))
                time.sleep(rng.uniform(0, seconds))
                assert process.poll() is None
                written = parts(folder) | written
                victim, how = victims.pop()
                killed[victim, how] += 1
                if victim == "driver":
                    process.send_signal(how)
                    assert process.communicate(timeout=PATIENCE)[0][:11] == (
                        "interrupted" if how == signal.SIGTERM else ""
                    )
                    break
                kill(victim, how, machines, rng)
            else:
                assert process.communicate(timeout=PATIENCE)[0].startswith("complete")
                break
        wait_until(lambda: not machines.left(), PATIENCE)
    wait_until(lambda: not machines.left(), PATIENCE)
    complaints = log.read_text().splitlines()
    print(f"killed {dict(killed)}, {len(complaints)} retried, {time.perf_counter() - started:.0f} s")
    assert killed == Counter(VICTIMS)
    assert 7 <= len(complaints) <= 14  # some die unheard, just before their driver
    assert all(line.startswith("retried") for line in complaints)
    told = store.status(folder, verify=True)
    assert (told.done, told.failed, told.missing, told.invalid) == (n, 0, 0, 0)
    assert sorted(parts(folder)) == sorted(f"{chunk.id}.parquet" for chunk in chunks(n, seconds))
    assert written.items() <= parts(folder).items()  # what was done has not been done again
    run(tmp_path / "local", SPEC, chunks(n, seconds), DRAW, executor=Local(2))
    assert table(folder).equals(table(tmp_path / "local"))


def kill(victim: str, how: signal.Signals, machines: Machines, rng: random.Random) -> None:
    """Kill a worker in the middle of its work, or its whole node, which is then replaced."""
    wait_until(machines.workers, PATIENCE)
    pid, node = rng.choice(list(machines.workers().items()))
    if victim == "node":
        machines.kill_node(node)
        machines.add_node()
    else:
        os.kill(pid, how)
    wait_until(lambda: not alive(pid), PATIENCE)


CONTROL = """
domains = ["CartPole-v1"]
runs = 5
steps = 1000
every = 100

[options]
hidden = [5]

[algorithms.qrc]
step_size = [0.001, 0.01, 0.1, 1.0]

[algorithms.tdrc-pg]
step_size = [0.001, 0.01, 0.1, 1.0]
"""


@pytest.mark.slow
def test_control_gives_the_same_bits_as_on_one_machine(machines, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file, address, retried = tmp_path / "own.toml", machines.cluster.address, []
    file.write_text(CONTROL)

    def on_the_command_line(on: str) -> pl.DataFrame:
        with mock.patch.dict(os.environ):  # which the command line sets up for itself
            main(["run", str(file), "--on", on, "--workers", "2", "--out", str(tmp_path / on), "--json"])
        (report,) = json.loads(capsys.readouterr().out)
        assert report["done"] == report["total"] == 6
        return table(Path(report["folder"]))

    def disturb(event: Event) -> None:
        if event.kind == "done" and event.counts.done == 2:
            os.kill(next(iter(machines.workers())), signal.SIGKILL)
        if event.kind == "retried":
            retried.append(event.message)

    local = on_the_command_line("local")
    assert local.height == 2 * 4 * 5
    assert local["returns"].n_unique() == 2 * 4 * 5
    assert on_the_command_line(f"ray:{address}").equals(local)
    sweep = read(file)
    report = run(tmp_path / "killed", sweep.spec(), sweep.chunks(), LEARN, executor=Ray(address), display=disturb)
    assert report.complete, report
    assert len(retried) == 1, retried
    assert table(tmp_path / "killed").equals(local)


def write_log(folder: Path, files: int) -> str:
    """A log in several files, of which each has other episodes."""
    for number in range(files):
        log = mdp.Log.simulate(mdp.problem("boyan"), 300 + 50 * number, seed=number)
        log.write(folder / f"{number}.parquet")
    return str(folder / "*.parquet")


@pytest.mark.slow
def test_sums_over_files_are_those_of_one_process_to_the_last_bit(tmp_path):
    pytest.importorskip("ray")
    log, names = write_log(tmp_path, 5), ("lstd", "mis", "wpdis")
    ours, alone = (evaluate(log, names, lam=0.5, workers=workers) for workers in (Ray("local", 2), 1))
    assert ours.as_dict() == alone.as_dict()
    np.testing.assert_array_equal(ours["lstd"].weights, alone["lstd"].weights)


@pytest.mark.slow
def test_a_wrong_row_is_named_by_its_file_also_from_a_cluster(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray")
    write_log(tmp_path, 3)
    wrong = pl.read_parquet(tmp_path / "1.parquet").with_columns(reward=pl.lit(float("nan")))
    wrong.write_parquet(tmp_path / "1.parquet")
    monkeypatch.chdir(tmp_path)  # names of files begin where the command was given
    with pytest.raises(SystemExit):
        main(["evaluate", "0.parquet", "1.parquet", "2.parquet", "--by", "lstd", "--on", "ray:local", "--workers", "1"])
    assert re.fullmatch(r"gpbe: 1\.parquet: reward\[row 0\] is nan; .*\n", capsys.readouterr().err)
