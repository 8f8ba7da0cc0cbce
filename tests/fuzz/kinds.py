"""What can be given to gpbe, kind by kind: how a case is made, and what must be true of it."""

import contextlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fuzz import odd
from gpbe.errors import LONGEST, InputError


class Case(NamedTuple):
    """A file, and what must come out of it if it is read at all (None: anything whole)."""

    path: Path
    expected: Any = None


def refusal(call: Callable[[], Any]) -> tuple[Any, bool]:
    """What a call returns, or that it was refused, in one line."""
    try:
        return call(), False
    except InputError as error:
        said = str(error)
        assert said.isprintable(), said
        assert 0 < len(said) <= LONGEST, len(said)
        return None, True


class Files:
    """Cases that are files, one after the other under one name."""

    patience = 5.0
    suffixes: tuple[str, ...] = ()

    def __init__(self, room: Path):
        self.room = room

    def written(self, suffix: str, data: bytes, expected: Any = None) -> Case:
        path = self.room / f"case{suffix}"
        path.write_bytes(data)
        return Case(path, expected)

    def kept(self, file: Path) -> Case:
        return self.written(file.suffix, file.read_bytes())

    def keep(self, case: Case, folder: Path) -> str:
        folder.mkdir(exist_ok=True)
        target = folder / f"{type(self).__name__.lower()}-{len(list(folder.iterdir()))}{case.path.suffix}"
        shutil.copyfile(case.path, target)
        return str(target)

    def make(self, rng: Random) -> Case:
        raise NotImplementedError

    def check(self, case: Case) -> str:
        raise NotImplementedError


class Problems(Files):
    """Prediction problems, as TOML and as arrays."""

    def __init__(self, room: Path):
        from gpbe import mdp
        from gpbe.mdp.toml_writer import render

        super().__init__(room)
        import tomllib

        self.texts = [tomllib.loads(render(mdp.find(name))) for name in ("baird", "aliased", "random-walk-5")]
        example = Path(__file__).parents[2] / "examples" / "three_state.toml"
        self.texts.append(tomllib.loads(example.read_text()))
        mdp.save(mdp.find("baird"), room / "whole.npz")
        self.packed = (room / "whole.npz").read_bytes()
        with np.load(room / "whole.npz") as file:
            self.arrays = dict(file)

    def make(self, rng: Random) -> Case:
        act = rng.random()
        if act < 0.45:
            tree = rng.choice(self.texts)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                tree = odd.changed(tree, rng) if rng.random() < 0.6 else odd.nudged(tree, rng)
            return self.written(".toml", odd.as_toml(tree, rng).encode(errors="replace"))
        if act < 0.55:
            return self.written(".toml", odd.spoiled(odd.as_toml(rng.choice(self.texts), Random(0)).encode(), rng))
        if act < 0.7:  # an archive has sums of its own: what is still read has not changed
            return self.written(".npz", odd.spoiled(self.packed, rng), expected=self.arrays)
        arrays = dict(self.arrays)
        for key in rng.sample(sorted(arrays), rng.choice((1, 1, 2))):
            arrays[key] = odd.array(rng, arrays[key])
        if rng.random() < 0.1:
            arrays[rng.choice(("extra", "x/../y", "transition2"))] = np.zeros(3)
        return self.written(".npz", odd.npz({k: odd.npy(v, rng) for k, v in arrays.items()}, rng))

    def check(self, case: Case) -> str:
        from gpbe import exact, mdp

        problem, refused = refusal(lambda: mdp.load(case.path))
        if refused:
            return "refused"
        if case.expected is not None:
            for key in ("target", "behavior", "features"):
                np.testing.assert_array_equal(getattr(problem, key), case.expected[key])
            np.testing.assert_array_equal(problem.mdp.transition, case.expected["transition"])
        if problem.batch_shape or problem.mdp.n_states > 40:
            return "read"
        page, refused = refusal(lambda: exact.diagnose(problem))
        if not refused:
            from gpbe.cli.terminal import console

            with contextlib.redirect_stdout(io.StringIO()) as out:
                console().print(page)
            shown = [name for name in problem.mdp.state_names if 0 < len(name) < 12]
            assert all(name in out.getvalue() for name in shown[:12] if name.strip() == name), shown
            json.dumps(page.as_dict(), allow_nan=False)
        return "read"


class Agents(Files):
    """Agents and checkpoints."""

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


class Specs(Files):
    """Sweeps in TOML."""

    WHOLE: Any = {
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

    def __init__(self, room: Path):
        super().__init__(room)
        self.check(self.written(".toml", odd.as_toml(self.WHOLE, Random(0)).encode()))  # imports take seconds

    def make(self, rng: Random) -> Case:
        tree = self.WHOLE
        if rng.random() < 0.9:
            for _ in range(rng.choice((1, 1, 2, 3))):
                tree = odd.changed(tree, rng) if rng.random() < 0.6 else odd.nudged(tree, rng)
            return self.written(".toml", odd.as_toml(tree, rng).encode(errors="replace"))
        return self.written(".toml", odd.spoiled(odd.as_toml(tree, Random(0)).encode(), rng))

    def check(self, case: Case) -> str:
        from itertools import islice

        from gpbe import experiments
        from gpbe.algorithms.control import find_algorithm
        from gpbe.envs import find
        from gpbe.learn.control.learning import Learning
        from gpbe.learn.control.reading import numbers_and_choices, read_options, read_settings

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
            hidden = options.pop("hidden", None)
            learning = Learning(**options, every=payload["every"])
            _, refused = refusal(
                lambda: read_options(record.make(), find(payload["domain"]), payload["steps"], learning, hidden)
            )
        return "read"


class Logs(Files):
    """Recorded transitions in Parquet files, of gpbe's own and of others."""

    def __init__(self, room: Path):
        from gpbe import mdp

        super().__init__(room)
        self.log = mdp.Log.simulate(mdp.find("boyan"), 40)
        self.log.write(room / "whole.parquet")
        self.sealed = (room / "whole.parquet").read_bytes()
        self.frame = pl.read_parquet(room / "whole.parquet")
        file = io.BytesIO()
        self.frame.write_parquet(file)
        self.foreign = file.getvalue()

    def make(self, rng: Random) -> Case:
        act = rng.random()
        if act < 0.5:
            return self.written(".parquet", odd.spoiled(self.sealed, rng), expected="same")
        if act < 0.7:
            return self.written(".parquet", odd.spoiled(self.foreign, rng))
        from gpbe.files.sealed import seal

        frame = self.frame
        for _ in range(rng.choice((1, 1, 2))):
            frame = self._changed(frame, rng)
        return self.written(".parquet", seal(frame, {}))

    @staticmethod
    def _changed(frame: pl.DataFrame, rng: Random) -> pl.DataFrame:
        if not frame.columns:
            return frame
        name, rows = rng.choice(frame.columns), frame.height
        act = rng.randrange(8)
        if act == 0:
            return frame.drop(name)
        if act == 1:
            return frame.rename(
                {name: rng.choice(("x_0", "x_1", "next_x_0", "next_x_5", "state", "a\nb"))}, strict=False
            )
        if act == 2:
            return frame.head(rng.choice((0, 1, 2)))
        odd_columns: list[Any] = [
            pl.Series([str(k) for k in range(rows)]),
            pl.Series([None] * rows),
            pl.Series(np.arange(rows).astype("M8[ms]")),
            pl.Series([[float(k)] * (k % 3) for k in range(rows)], dtype=pl.List(pl.Float64)),
            pl.Series([[]] * rows, dtype=pl.List(pl.Float64)),
            pl.Series([[str(k)] for k in range(rows)], dtype=pl.List(pl.String)),
            pl.Series([[[1.0]]] * rows),
            pl.Series([rng.choice([n for n in odd.NUMBERS if isinstance(n, float)])] * rows, dtype=pl.Float64),
            pl.Series([True] * rows),
            pl.Series([b"x"] * rows),
            pl.Series([0] * rows, dtype=pl.Int8),
            pl.Series([{"a": 1.0}] * rows),
            pl.Series(["a"] * rows, dtype=pl.Categorical),
        ]
        return frame.with_columns(rng.choice(odd_columns).alias(name))

    def check(self, case: Case) -> str:
        from gpbe import mdp

        log, refused = refusal(lambda: mdp.Log.read(case.path))
        if refused:
            return "refused"
        if case.expected is not None:
            for name in ("features", "next_features", "reward", "discount", "target", "behavior"):
                np.testing.assert_array_equal(getattr(log, name), getattr(self.log, name))
        assert len(log) == len(log.continues) == len(log.breaks)
        return "read"


class Results(Files):
    """Results folders and packed files: parts, manifests, lists, what is remembered of them."""

    N = 5

    def __init__(self, room: Path):
        from gpbe import store
        from gpbe.runner.worker import Job, perform
        from helpers.runners import DRAW, SPEC, chunks, draw

        super().__init__(room)
        self.folder = room / "results"
        with store.Results(self.folder, SPEC, DRAW, chunks(self.N)) as results:
            for chunk in chunks(self.N):
                results.put(chunk.id, perform(draw, Job(DRAW, results.manifest.spec_hash), chunk).part)
        store.status(self.folder)
        store.pack(self.folder, room / "packed.parquet")
        self.table = store.scan(self.folder).collect()
        self.contents = {p: p.read_bytes() for p in sorted(self.folder.rglob("*")) if p.is_file() and p.name != "lock"}
        self.packed = (room / "packed.parquet").read_bytes()

    def _reset(self) -> None:
        for path, data in self.contents.items():
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def make(self, rng: Random) -> Case:
        self._reset()
        if rng.random() < 0.2:
            return self.written(".parquet", odd.spoiled(self.packed, rng))
        path = rng.choice([p for p in self.contents if rng.random() < 0.5 or p.suffix == ".json"] or [*self.contents])
        data = self.contents[path]
        if path.name == "manifest.json" and rng.random() < 0.7:
            path.write_text(json.dumps(odd.changed(json.loads(data), rng), default=str), errors="replace")
        else:
            path.write_bytes(odd.spoiled(data, rng))
        return Case(path)

    def kept(self, file: Path) -> Case:
        self._reset()
        target = next((p for p in self.contents if p.name == file.name.partition("-")[2]), None)
        if target is None:
            return super().kept(file)
        shutil.copyfile(file, target)
        return Case(target)

    def check(self, case: Case) -> str:
        from gpbe import store

        source = self.folder if case.path.is_relative_to(self.folder) else case.path
        told, refused = refusal(lambda: store.status(source))
        table, unread = refusal(lambda: store.scan(source).collect())
        refusal(lambda: store.spec(source))
        if refused or unread:
            return "refused"
        whole = self.table.filter(
            pl.struct("k", "run").is_in(table.select(pl.struct("k", "run")).to_series().implode())
        )
        assert table.equals(whole), "a number has changed"
        assert told.done * 3 == table.height, "rows are missing without a word"
        assert told.done + told.invalid == self.N or source != self.folder
        return "read"


from fuzz.commands import Commands  # noqa: E402

KINDS: dict[str, Callable[[Path], Any]] = {
    "problems": Problems,
    "agents": Agents,
    "specs": Specs,
    "logs": Logs,
    "results": Results,
    "commands": Commands,
}
