"""Agents and checkpoints that nobody should load."""

import contextlib
import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz import odd
from fuzz.cases import Case, Files, refusal


class Agents(Files):
    """Agents and checkpoints."""

    corpus = "agents"

    def __init__(self, room: Path):
        from gpbe.algorithms.control import ALGORITHMS, Spec
        from gpbe.learn.control.header import count_weights
        from gpbe.learn.control.trained import TrainedAgent

        super().__init__(room)
        record, spec = ALGORITHMS["qrc"], Spec((4,), 2, (3, 2), None)
        weights = np.random.default_rng(0).normal(size=count_weights(record.make(), spec)).astype(np.float32)
        self.agent = TrainedAgent("CartPole-v1", record, spec, weights, {"step_size": 0.1}, {})
        self.agent.save(room / "agent.npz")
        self._checkpoint(room / "checkpoint.npz").keep(0, 2, *self._state(), finished=True)
        self.sources = {name: (room / f"{name}.npz").read_bytes() for name in ("agent", "checkpoint")}
        self.actions = self.agent.preferences(np.ones(4))

    @staticmethod
    def _checkpoint(path: Path) -> Any:
        from gpbe.learn.control.checkpoint import Checkpoint

        return Checkpoint(path, {"env": "CartPole-v1", "seed": 3, "step_size": [0.5, 0.25]})

    @staticmethod
    def _state(fresh: bool = False) -> tuple[Any, Any, Any]:
        import jax

        from gpbe.learn.control.loop import Record

        members, rng = np.arange(3), np.random.default_rng(1)
        records = Record(*(np.full((3, 4), np.nan, np.float32) for _ in range(3)))
        if not fresh:
            for whole in records:
                whole[:] = rng.normal(size=whole.shape)
        draw = (lambda *shape: np.zeros(shape, np.float32)) if fresh else (lambda *s: rng.normal(size=s).astype("f4"))
        actions = np.zeros((3, 0 if fresh else 5), np.int32)
        state = {"key": jax.random.split(jax.random.key(1), 3), "buffer": draw(3, 7, 5), "w": draw(3, 6), "a": actions}
        return members, records, state

    def make(self, rng: Random) -> Case:
        from gpbe.files import arrays as arrays_file

        which = rng.choice(("agent", "agent", "checkpoint"))
        source, path = self.sources[which], self.room / f"case.{which}.npz"
        act = rng.random()
        if act < 0.3:
            path.write_bytes(odd.spoiled(source, rng))
            return Case(path, "same")
        with np.load(io.BytesIO(source)) as file:
            members = dict(file)
        header = json.loads(bytes(members.pop("header")))
        if act < 0.6:  # a checksum that fits what was changed
            header = {k: v for k, v in header.items() if k not in ("sha256",)}
            arrays = dict(members)
            if rng.random() < 0.7:
                header = odd.changed(header, rng)
            else:
                key = rng.choice(sorted(arrays))
                arrays[key] = odd.array(rng, arrays[key])
            header = header if isinstance(header, dict) else {"header": header}
            with contextlib.suppress(ValueError, TypeError, RecursionError, OverflowError):  # what cannot be written
                arrays_file.write(path, f"gpbe-{which}", 2, header, arrays)
                return Case(path)
        text = json.dumps(odd.changed(header, rng), default=str) if rng.random() < 0.7 else "[" * 20000
        arrays = {k: odd.array(rng, v) if rng.random() < 0.2 else v for k, v in members.items()}
        content = {"header": np.frombuffer(text.encode(errors="replace"), np.uint8), **arrays}
        if rng.random() < 0.1:
            del content[rng.choice(sorted(content))]
        path.write_bytes(odd.npz({k: odd.npy(v, rng) for k, v in content.items()}, rng))
        return Case(path)

    def kept(self, file: Path) -> Case:
        which = "checkpoint" if "checkpoint" in file.name else "agent"
        path = self.room / f"case.{which}.npz"
        shutil.copyfile(file, path)
        return Case(path)

    def check(self, case: Case) -> str:
        return self._check_checkpoint(case) if "checkpoint" in case.path.name else self._check_agent(case)

    def _check_agent(self, case: Case) -> str:
        import gpbe

        agent, refused = refusal(lambda: gpbe.load(case.path))
        if refused:
            return "refused"
        if case.expected is not None:
            np.testing.assert_array_equal(agent.weights, self.agent.weights)
            assert (agent.env, agent.spec) == (self.agent.env, self.agent.spec)
        refusal(lambda: agent.act(np.ones(agent.spec.observation)))
        if agent.env != "CartPole-v1":
            _, refused = refusal(lambda: agent.evaluate(episodes=1))
        return "read"

    def _check_checkpoint(self, case: Case) -> str:
        members, records, fresh = self._state(fresh=True)
        kept, refused = refusal(lambda: self._checkpoint(case.path))
        if refused:
            return "refused"
        found, refused = refusal(lambda: kept.begin(0, lambda: fresh, members, records))
        if refused:
            return "refused"
        if case.expected is not None and found[1]:
            _, whole, state = self._state()
            for mine, theirs in zip(whole, records, strict=True):
                np.testing.assert_array_equal(mine[:, :2], theirs[:, :2])
            for key in ("buffer", "w"):
                np.testing.assert_array_equal(found[0][key], state[key])
        return "read"
