"""Sweeps that nobody should declare."""

import json
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from fuzz import odd
from fuzz.cases import Case, Files, refusal

WHOLE: dict[str, Any] = {
    "name": "mine",
    "domains": ["CartPole-v1", "Acrobot-v1"],
    "runs": 3,
    "steps": 1000,
    "every": 500,
    "seed": 1,
    "first_run": 2,
    "options": {"hidden": [8, 8], "batch": 16, "buffer": 500, "optimizer": "adam", "gamma": 0.9, "target_every": 5},
    "algorithms": {
        "qrc": {"step_size": [0.1, 0.2], "tau": [0.0]},
        "q-learning": {},
        "tdrc-pg": {"settings": [{"step_size": 0.1}, {"step_size": 0.2}]},
        "qrc-sep": {"width": [0.5, 1.0]},
    },
}


class Specs(Files):
    """Sweeps in TOML."""

    corpus = "specs"

    def __init__(self, room: Path):
        super().__init__(room)
        self.check(self.written(".toml", odd.as_toml(WHOLE, Random(0)).encode()))  # imports take seconds

    def make(self, rng: Random) -> Case:
        tree = WHOLE
        if rng.random() < 0.9:
            for _ in range(rng.choice((1, 1, 2, 3))):
                tree = odd.changed(tree, rng) if rng.random() < 0.6 else odd.nudged(tree, rng)
            return self.written(".toml", odd.as_toml(tree, rng).encode(errors="replace"))
        return self.written(".toml", odd.spoiled(odd.as_toml(tree, Random(0)).encode(), rng))

    def check(self, case: Case) -> str:
        from gpbe import experiments
        from gpbe.algorithms.control import find_algorithm
        from gpbe.envs import find
        from gpbe.learn.control.reading import Asked, numbers_and_choices, read_options, read_settings

        found, refused = refusal(lambda: experiments.read(case.path))
        if refused:
            return "refused"
        (sweep,) = found
        json.dumps(sweep.spec(), allow_nan=False)
        if sweep.runs > 10**5:
            return "read"
        for chunk in islice(sweep.chunks(), 3):  # all that a worker does before it learns
            payload = chunk.payload
            fixed, options = numbers_and_choices(payload["options"])
            swept, shape = numbers_and_choices(payload["hyperparameters"][0])
            record = find_algorithm(payload["algorithm"]).varied(**shape)
            read_settings(record, fixed | swept)
            asked = Asked(**options, every=payload["every"])
            refusal(partial(read_options, record.make(), find(payload["domain"]), payload["steps"], asked))
        return "read"
