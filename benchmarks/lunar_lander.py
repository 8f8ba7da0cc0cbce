"""How much faster than Gymnasium's is the lean Lunar Lander, alone and under QRC?

Run with nothing else on the machine: `python benchmarks/lunar_lander.py`. On one pinned core, in one run. The two take
turns, so that what else the machine does meets both, and ratios are medians over turns. Random actions; every episode
is seeded, as in `gpbe.train`. Box2D's own part of a step is the same for both, and is the least that a step can cost.
"""

import os
import time
from collections.abc import Callable

os.sched_setaffinity(0, {0})
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import gymnasium
import numpy as np

import gpbe
from gpbe.envs.lunar_lander import LunarLander, make_lunar_lander

TURNS, STEPS = 40, 1000
TRAIN_TURNS, TRAIN_STEPS, RUNS = 5, 1500, 8


def gymnasiums() -> gymnasium.Env:
    return gymnasium.make("LunarLander-v3")


class InBox2D(LunarLander):
    """The lean one, which notes the seconds inside Box2D."""

    seconds = 0.0

    def reset(self, **kwargs):
        reset, advance = super().reset(**kwargs), self._advance

        def timed(*args):
            started = time.perf_counter()
            advance(*args)
            self.seconds += time.perf_counter() - started

        self._advance = timed
        return reset


def turn(env: gymnasium.Env, seed: int) -> tuple[float, float, float]:
    """Microseconds of a step, of a reset, and of a step with its share of the resets."""
    stepping = resetting = resets = 0.0
    env.reset(seed=seed)
    for t, action in enumerate(np.random.default_rng(seed).integers(4, size=STEPS).tolist()):
        started = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(action)
        stepping += time.perf_counter() - started
        if terminated or truncated:
            started = time.perf_counter()
            env.reset(seed=t)
            resetting += time.perf_counter() - started
            resets += 1
    return 1e6 * stepping / STEPS, 1e6 * resetting / max(resets, 1), 1e6 * (stepping + resetting) / STEPS


def train(make: Callable[[], gymnasium.Env]) -> float:
    """Steps a second of QRC, all runs together."""
    started = time.perf_counter()
    gpbe.train(make, "qrc", steps=TRAIN_STEPS, runs=RUNS, hidden=(64, 64), every=500)
    return RUNS * TRAIN_STEPS / (time.perf_counter() - started)


def main() -> None:
    original, lean, inside = gymnasiums(), make_lunar_lander(), InBox2D()
    turns = np.array([(turn(original, k), turn(lean, k)) for k in range(TURNS)])
    for k in range(TURNS):
        turn(inside, k)
    medians, ratios = np.median(turns, 0), np.median(turns[:, 0] / turns[:, 1], 0)
    for part, name in enumerate(["a step", "a reset", "a step with resets"]):
        print(
            f"{name:20} {medians[0, part]:7.1f} us  lean {medians[1, part]:7.1f} us  {ratios[part]:.2f} times as fast"
        )
    print(f"{'inside Box2D':20} {1e6 * inside.seconds / TURNS / STEPS:7.1f} us")

    rates = np.array([(train(gymnasiums), train(make_lunar_lander)) for _ in range(1 + TRAIN_TURNS)])[1:]
    (theirs, ours), ratio = np.median(rates, 0), np.median(rates[:, 1] / rates[:, 0])
    print(f"{'QRC, steps a second':20} {theirs:7.0f}     lean {ours:7.0f}     {ratio:.2f} times as fast")


if __name__ == "__main__":
    main()
