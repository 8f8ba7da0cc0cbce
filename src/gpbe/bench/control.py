"""Steps a second of deep control on one pinned core; beside stable-baselines3's DQN, if that is installed.

A step is one environment step, one action and one update from a mini-batch of 32, with returns recorded. Every figure
comes from a process of its own, bound to one core, that measures after a warm-up; nothing else should run meanwhile.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from gpbe.envs.domains import domain_of
from gpbe.errors import InputError
from gpbe.runner.local import available_cores

SECONDS = 8.0
RUNS = 8
LIKE_OURS: dict[str, Any] = {
    "learning_rate": 2.0**-10,
    "buffer_size": 4000,
    "learning_starts": 32,
    "batch_size": 32,
    "train_freq": 1,
    "gradient_steps": 1,
    "target_update_interval": 10_000,
    "exploration_initial_eps": 0.1,
    "exploration_final_eps": 0.1,
}
"""Options of stable-baselines3's DQN: batch, buffer and one update a step as here; no target network to speak of."""


def ours(domain: str, algorithm: str, runs: int = RUNS, seconds: float = SECONDS, **options: Any) -> float:
    """Steps a second of `runs` runs side by side in this process."""
    import gpbe

    every = 500
    args: dict[str, Any] = {"runs": runs, "every": every} | options
    if algorithm.startswith("sbeed"):
        args["tau"] = 0.01
    gpbe.train(domain, algorithm, steps=every, **args)
    started = time.perf_counter()
    gpbe.train(domain, algorithm, steps=every, **args)
    pilot = time.perf_counter() - started
    stretches = max(2, round(seconds / pilot))
    started = time.perf_counter()
    gpbe.train(domain, algorithm, steps=stretches * every, **args)
    return runs * stretches * every / (time.perf_counter() - started)


def stable_baselines(domain: str, steps: int = 4000) -> float:
    """The same for DQN, with a network of the same sizes."""
    import gymnasium
    import torch  # pyright: ignore[reportMissingImports]
    from stable_baselines3 import DQN  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        gymnasium.make(domain),
        policy_kwargs={"net_arch": list(domain_of(domain).hidden)},
        **LIKE_OURS,
    )
    model.learn(500)
    started = time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    return steps / (time.perf_counter() - started)


def _child(core: int, *arguments: str) -> subprocess.Popen[str]:
    from gpbe.process import environment

    command = [sys.executable, "-m", "gpbe.bench.control", str(core), *arguments]
    return subprocess.Popen(command, env=os.environ | environment(), stdout=subprocess.PIPE, text=True)


def _answer(child: subprocess.Popen[str]) -> float:
    out, _ = child.communicate()
    if child.returncode:
        raise InputError(f"the benchmark's process ended with code {child.returncode}")
    return float(json.loads(out.splitlines()[-1]))


def measure(
    domains: Sequence[str], algorithms: Sequence[str], say: Callable[[dict[str, Any]], None] = lambda row: None
) -> list[dict[str, Any]]:
    """QRC on every domain, beside DQN; the other algorithms on the first domain; two processes at once."""
    cores, rows = available_cores(), []
    core = cores[0]

    def add(what: str, domain: str, rate: float, than: str, ratio: float | None) -> None:
        row = {"what": what, "domain": domain, "steps_per_second": round(rate), "than": than, "ratio": ratio}
        rows.append(row)
        say(row)

    with_dqn = importlib.util.find_spec("stable_baselines3") is not None
    for domain in domains:
        dqn = _answer(_child(core, "dqn", domain)) if with_dqn else None
        rate = _answer(_child(core, "ours", domain, "qrc"))
        if dqn is not None:
            add("stable-baselines3 DQN", domain, dqn, "", None)
        add("qrc", domain, rate, "DQN" if dqn else "", round(rate / dqn, 1) if dqn else None)
    first = domains[0]
    qrc = next(row["steps_per_second"] for row in rows if row["what"] == "qrc" and row["domain"] == first)
    for algorithm in algorithms:
        if algorithm != "qrc":
            rate = _answer(_child(core, "ours", first, algorithm))
            add(algorithm, first, rate, "qrc", round(rate / qrc, 2))
    if len(cores) > 1:
        both = [_child(core, "ours", first, "qrc") for core in cores[:2]]
        rate = sum(map(_answer, both))
        add("qrc, two processes", first, rate, "one", round(rate / qrc, 2))
    return rows


def main(core: str, what: str, domain: str, algorithm: str = "") -> None:
    """Measure one case and print it as JSON; this is all that a child process runs, pinned to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    print(json.dumps(stable_baselines(domain) if what == "dqn" else ours(domain, algorithm)))


if __name__ == "__main__":
    main(*sys.argv[1:])
