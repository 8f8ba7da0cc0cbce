"""A Ray cluster of several nodes on one machine, which can be killed one by one."""

import json
import os
from pathlib import Path

from gpbe.runner import Event, Ray, cluster, run
from helpers.runners import DRAW, SPEC, alive, chunks
from helpers.sockets import descendants, listening


class Machines:
    """A cluster of nodes with one CPU each; the head has none, so that every worker's node can be killed."""

    def __init__(self, nodes: int, pids: Path):
        from ray.cluster_utils import Cluster

        self.pids = pids
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self.nodes = []
        for _ in range(nodes):
            self.add_node()
        self.cluster.wait_for_nodes()

    def add_node(self) -> None:
        self.nodes.append(self.cluster.add_node(num_cpus=1, wait=False))

    def kill_node(self, which: int) -> None:
        """Kill -9 of a machine's Ray, and so of its workers."""
        self.cluster.remove_node(self.nodes.pop(which), allow_graceful=False)

    def workers(self) -> dict[int, int]:
        """Processes in which the runner ran, each with its node; one whose node is dead will be so in a moment."""
        nodes = {node.all_processes["raylet"][0].process.pid: k for k, node in enumerate(self.nodes)}
        parents = {pid: parent(pid) for pid in self.left()}
        return {pid: nodes[above] for pid, above in parents.items() if above in nodes}

    def left(self) -> list[int]:
        """All processes in which the runner ran that are still there, also those without a node."""
        return [pid for pid in map(int, os.listdir(self.pids)) if alive(pid)]


def parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def tell_who_listens(folder: str) -> None:
    """Run a sweep on a cluster that is started here, for a process of its own, since Ray keeps its ways in one."""
    import ray

    init, begun, seen = ray.init, [], {}
    ray.init = lambda **options: begun.append(init(**options))

    def look(event: Event) -> None:
        if event.kind == "done":  # so that all of it is up, and at work
            seen.update(listening(descendants(os.getpid())))

    report = run(folder, SPEC, chunks(2), DRAW, executor=Ray(workers=1), display=look)
    told = {
        "complete": report.complete,
        "dashboards": [context.dashboard_url or "" for context in begun],
        "loopback": [str(address) for address, _ in seen if address.is_loopback],
        "others": [str(address) for address, _ in seen if not address.is_loopback],
        "as before": cluster._OPEN not in os.environ and ray._private.ray_constants.ENABLE_RAY_CLUSTER,
    }
    print(json.dumps(told))
