"""Steps a second on MinAtar's Breakout, by streams and with replay, beside stable-baselines3's DQN if it is installed.

One core, one process for each figure, the same network (16 filters of 3 x 3, 128 units), sticky actions on. DQN plays
gymnax's Breakout through a thin Gymnasium wrapper, whose own share of the time is told: it is what a host environment
costs, and it is taken off DQN's time before the ratio is made.

    python benchmarks/minatar.py [--seconds 8]
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time

STREAMS = ("qrc-lambda", "q-lambda", "stream-q")
REPLAYED = ("qrc", "q-learning")


def ours(algorithm: str, seconds: float) -> dict[str, float]:
    """Steps a second of eight runs side by side."""
    from gpbe.bench.control import ours as measured
    from gpbe.learn.control.learning import STREAMING

    options = dict(STREAMING) if algorithm in STREAMS else {}
    return {"steps_per_second": measured("Breakout-MinAtar", algorithm, seconds=seconds, **options)}


def dqn(steps: int = 1500) -> dict[str, float]:
    """stable-baselines3's DQN, one update a step from a mini-batch of 32, and the environment alone."""
    import gymnasium
    import jax
    import numpy as np
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from gpbe.bench.control import LIKE_OURS
    from gpbe.envs import find

    env = find("Breakout-MinAtar")

    class Breakout(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0.0, 1.0, (4, 10, 10), np.float32)
        action_space = gymnasium.spaces.Discrete(3)

        def __init__(self):
            wrap = jax.random.wrap_key_data
            self._reset = jax.jit(lambda key: env.reset(wrap(key)))
            self._step = jax.jit(lambda key, state, action: env.step(wrap(key), state, action))
            self._keys, self._at = np.asarray(jax.random.key_data(jax.random.split(jax.random.key(0), 100_000))), 0

        def _key(self):
            self._at += 1
            return self._keys[self._at]

        def reset(self, *, seed=None, options=None):
            observation, self._state = self._reset(self._key())
            return np.asarray(observation).transpose(2, 0, 1), {}

        def step(self, action):
            s = self._step(self._key(), self._state, int(action))
            self._state = s.state
            seen = np.asarray(s.observation).transpose(2, 0, 1)
            return seen, float(s.reward), bool(s.terminated), bool(s.truncated), {}

    class Filters(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, 128)
            convolution = [torch.nn.Conv2d(4, 16, 3), torch.nn.ReLU(), torch.nn.Flatten()]
            self.layers = torch.nn.Sequential(*convolution, torch.nn.Linear(1024, 128), torch.nn.ReLU())

        def forward(self, x):
            return self.layers(x)

    torch.set_num_threads(1)
    kwargs = {"features_extractor_class": Filters, "net_arch": [], "normalize_images": False}
    model = DQN("CnnPolicy", Breakout(), policy_kwargs=kwargs, **LIKE_OURS)
    model.learn(200)
    started = time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    whole = time.perf_counter() - started
    alone = Breakout()
    alone.reset()
    started = time.perf_counter()
    for k in range(steps):
        *_, terminated, truncated, _ = alone.step(k % 3)
        if terminated or truncated:
            alone.reset()
    host = time.perf_counter() - started
    return {"steps_per_second": steps / whole, "without_environment": steps / (whole - host)}


def child(*arguments: str) -> dict[str, float]:
    """What a process of its own measured, on one core."""
    from gpbe.process import environment

    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, env=os.environ | environment(), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--child", default=None)
    given = parser.parse_args()
    if given.child:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(json.dumps(dqn() if given.child == "dqn" else ours(given.child, given.seconds)))
        return
    base = None
    if importlib.util.find_spec("stable_baselines3"):
        found = child("dqn")
        base = found["without_environment"]
        print(f"{'stable-baselines3 DQN':<24}{found['steps_per_second']:>10,.0f} steps/s, {base:,.0f} without its host")
    for algorithm in (*STREAMS, *REPLAYED):
        rate = child(algorithm, "--seconds", str(given.seconds))["steps_per_second"]
        ratio = f"  {rate / base:.1f} x DQN" if base else ""
        print(f"{algorithm:<24}{rate:>10,.0f} steps/s{ratio}", flush=True)


if __name__ == "__main__":
    main()
