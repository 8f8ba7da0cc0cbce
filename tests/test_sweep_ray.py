"""Sweeps on a Ray cluster of several nodes on this machine: the same bits as local, whatever is killed."""

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
from gpbe.sweep import Chunk, Event, Local, Ray, run
from sweep_runners import DRAW, SPEC, alive, chunks, draw, table, wait_until

N = 24


def expected(n: int, seconds: float) -> pl.DataFrame:
    return pl.concat(draw(chunk.payload) for chunk in chunks(n, seconds))


def test_without_ray_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"Ray is not installed \(.*\); pip install 'gpbe\[ray\]'") as error:
        run(tmp_path, SPEC, chunks(3), DRAW, executor=Ray())
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="workers is 0; it should be at least 1"):
        Ray(workers=0)


class Machines:
    """A cluster of nodes with one CPU each; the head has none, so that every worker's node can be killed."""

    def __init__(self, nodes: int, pids: Path):
        from ray.cluster_utils import Cluster

        self.pids = pids
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self.nodes = [self.cluster.add_node(num_cpus=1) for _ in range(nodes)]

    def kill_node(self, which: int) -> None:
        """Kill -9 of a machine's Ray, and so of its workers."""
        self.cluster.remove_node(self.nodes.pop(which), allow_graceful=False)

    def workers(self) -> dict[int, int]:
        """Processes in which the runner ran, each with its node; one whose node is dead will be so in a moment."""
        nodes = {node.all_processes["raylet"][0].process.pid: k for k, node in enumerate(self.nodes)}
        parents = {pid: parent(pid) for pid in map(int, os.listdir(self.pids)) if alive(pid)}
        return {pid: nodes[above] for pid, above in parents.items() if above in nodes}


def parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@pytest.fixture
def machines(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv("SWEEP_PIDS", str(tmp_path / "pids"))  # before the nodes start: workers inherit it
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    made = Machines(2, tmp_path / "pids")
    yield made
    made.cluster.shutdown()


pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


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
def test_mistakes_and_failures_are_told_as_on_one_machine(machines, tmp_path):
    ray = Ray(machines.cluster.address)
    with pytest.raises(InputError, match="runner 'swep:draw' cannot be imported: No module named 'swep'"):
        run(tmp_path / "typo", SPEC, chunks(3), "swep:draw", executor=ray)
    bad = [Chunk("g", 1, {"k": 0, "seed": 0, "runs": 2, "seconds": 0, "how": how}) for how in ("raise", "die", None)]
    report = run(tmp_path / "bad", SPEC, bad, "sweep_runners:misbehave", executor=ray)
    assert (report.counts.done, report.counts.failed, report.counts.retried >= 4) == (1, 2, True)
    one = [Chunk("g", 1, {"k": 0})]
    assert run(tmp_path / "threads", SPEC, one, "sweep_runners:threads", executor=ray).complete
    row = table(tmp_path / "threads").row(0, named=True)
    assert (row["polars"], row["OMP_NUM_THREADS"]) == (1, "1")
    assert "--xla_cpu_multi_thread_eigen=false" in row["XLA_FLAGS"]


@pytest.mark.slow
def test_a_killed_driver_leaves_no_workers_and_the_rest_can_run_anywhere(machines, tmp_path):
    folder, address = tmp_path / "ray", machines.cluster.address
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    program = f"import sweep_runners; sweep_runners.drive({str(folder)!r}, {N}, 0.2, address={address!r})"
    with subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}) as process:
        wait_until(lambda: len(list((folder / "parts").glob("*"))) > 5, 60)
        process.kill()
        process.wait()
    wait_until(lambda: not any(alive(int(pid)) for pid in os.listdir(machines.pids)), 20)
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


@pytest.mark.slow
def test_twenty_kills_of_nodes_and_workers(machines, tmp_path):
    """Kill -9 at random moments of nodes, which are then replaced, and of workers: the same bits as undisturbed."""
    n, seconds = 400, 0.1
    rng = random.Random(1)
    kills = {"node": 0, "worker": 0}
    due = sorted(rng.sample(range(10, n - 20), 20))
    started = time.perf_counter()

    def disturb(event: Event) -> None:
        if event.kind != "done" or not due or event.counts.done < due[0]:
            return
        workers = machines.workers()
        if rng.random() < 0.5 or not workers:
            machines.kill_node(rng.randrange(len(machines.nodes)))
            machines.nodes.append(machines.cluster.add_node(num_cpus=1, wait=False))
            kills["node"] += 1
        else:
            os.kill(rng.choice(list(workers)), signal.SIGKILL)
            kills["worker"] += 1
        due.pop(0)

    report = run(
        tmp_path / "ray", SPEC, chunks(n, seconds), DRAW, executor=Ray(machines.cluster.address), display=disturb
    )
    print(f"kills {kills}, {report.counts.retried} retried, {time.perf_counter() - started:.0f} s")
    assert sum(kills.values()) == 20
    assert report.complete, report
    run(tmp_path / "local", SPEC, chunks(n, seconds), DRAW, executor=Local(2))
    assert table(tmp_path / "ray").equals(table(tmp_path / "local"))
    assert table(tmp_path / "ray").height == 3 * n
    assert store.status(tmp_path / "ray", verify=True).invalid == 0
