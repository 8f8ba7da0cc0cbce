"""Prediction problems that nobody should load."""

import contextlib
import io
import json
import tomllib
from pathlib import Path
from random import Random

import numpy as np

from fuzz import odd
from fuzz.cases import Case, Files, refusal


class Problems(Files):
    """Prediction problems, as TOML and as arrays."""

    corpus = "problems"

    def __init__(self, room: Path):
        from gpbe import mdp
        from gpbe.mdp.toml_writer import render

        super().__init__(room)
        self.texts = [tomllib.loads(render(mdp.find(name))) for name in ("baird", "aliased", "random-walk-5")]
        example = Path(__file__).parents[2] / "examples" / "three_state.toml"
        self.texts.append(tomllib.loads(example.read_text()))
        mdp.save(mdp.find("baird"), room / "whole.npz")
        self.packed = (room / "whole.npz").read_bytes()
        mdp.save(mdp.gridworld(3, knots=2), room / "sparse.npz")
        with np.load(room / "whole.npz") as dense, np.load(room / "sparse.npz") as sparse:
            self.arrays, self.lists = dict(dense), dict(sparse)

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
        arrays = dict(rng.choice((self.arrays, self.lists)))
        for key in rng.sample(sorted(arrays), rng.choice((1, 1, 2))):
            arrays[key] = odd.array(rng, arrays[key])
        if rng.random() < 0.1:
            arrays[rng.choice(("extra", "x/../y", "transition2", "feature_state"))] = np.zeros(3)
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
