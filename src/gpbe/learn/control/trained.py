"""What training leaves: an agent that acts, can be judged, saved and loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from gpbe.algorithms.control import ALGORITHMS, Agent, ControlAlgorithm, Spec
from gpbe.checks import check_at_least, check_given, check_known, check_seed
from gpbe.envs import as_observation, find
from gpbe.errors import InputError
from gpbe.files import arrays as arrays_file
from gpbe.learn.control.header import Header, check_scale, check_weights
from gpbe.learn.control.playing import Evaluation, play, preferences_program
from gpbe.learn.control.state import Shape, shape_of
from gpbe.nets import MakeBody, Style
from gpbe.shapes import Array
from gpbe.wording import counted

KIND, VERSION, OLDEST = "gpbe-agent", 2, 1
MOST_EPISODES = 10**6
"""Episodes of one evaluation, all of which a compiled environment plays side by side, in memory."""


@dataclass(frozen=True, eq=False)
class TrainedAgent:
    """One run's networks, and how they were made."""

    env: str
    record: ControlAlgorithm
    spec: Spec
    weights: Array
    hyperparameters: Mapping[str, float] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    """The choices on the algorithm's axes, where they differ from its usual ones."""
    env_object: Any = None
    """What it was trained on, if it was trained in this process."""
    scale: Array | None = None
    """(2, numbers): mean and deviation by which observations are normalized; None if they are not."""

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self.record.name

    def __repr__(self) -> str:
        seen = "x".join(map(str, self.spec.observation))
        layers = "layers of one's own" if self.spec.body is not None else f"layers {self.spec.hidden}"
        size = f"observations {seen}, {counted(self.spec.actions, 'action')}, {layers}"
        return f"<TrainedAgent by {self.algorithm} for {self.env}: {size}, {counted(len(self.weights), 'weight')}>"

    @cached_property
    def _agent(self) -> Agent:
        return self.record.varied(**self.choices).make()

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self._agent, self.spec)

    @cached_property
    def _preferences(self) -> Any:
        return preferences_program(self._agent, self.spec)

    @cached_property
    def networks(self) -> Any:
        """The networks as Equinox modules, for those who want to look inside."""
        return self._shape.layout.tree(jnp.asarray(self.weights))

    def preferences(self, observations: Any) -> Array:
        """Values of all actions (or logits, if it has a policy), for one observation or several."""
        shape = self.spec.observation
        try:
            given = as_observation(observations)
        except (TypeError, ValueError):
            raise InputError(f"the observation is not an array of numbers of shape {shape}") from None
        if given.shape != shape and given.shape[1:] != shape:
            raise InputError(f"the observation has shape {given.shape}; an agent for {self.env} needs {shape}")
        if not np.isfinite(given).all():
            raise InputError("the observation should have numbers that are finite in 32 bits; it has others")
        out = np.asarray(self._preferences(self.weights, self.scale, given.reshape(-1, *shape)))
        return out[0] if given.shape == shape else out

    def act(self, observation: Any) -> int | Array:
        """The greedy action; of several observations, along a first axis, an array of actions."""
        best = self.preferences(observation).argmax(-1)
        return best if best.ndim else int(best)

    def evaluate(self, env: Any = None, episodes: int = 10, seed: int = 0, sample: bool = False) -> Evaluation:
        """Whole episodes with greedy actions; or, where there is a policy, with actions that it samples.

        `env` is what `gpbe.train` takes; where it was trained, if left out. The name of that may come from a file, so
        it imports nothing.
        """
        check_given(episodes=episodes)
        check_at_least(1, episodes=episodes)
        if episodes > MOST_EPISODES:
            raise InputError(f"episodes is {episodes:,}; take {MOST_EPISODES:,} at most")
        check_seed(seed)
        given = self.env_object if env is None else env
        found = find(self.env, imports=False) if given is None else find(given)
        if (found.observation, found.actions) != self.spec[:2]:
            has = f"observations {found.observation} and {found.actions} actions"
            needs = f"observations {self.spec.observation} and {self.spec.actions} actions"
            raise InputError(f"{found.name} has {has}; this agent for {self.env} needs {needs}")
        return play(self._agent, self.spec, self.weights, self.scale, found, episodes, seed, sample)

    def save(self, path: str | Path) -> Path:
        """One file. An algorithm or a body of one's own is not in it: `load` asks for them."""
        header = Header(
            env=self.env,
            algorithm=self.algorithm,
            own_algorithm=self.record != ALGORITHMS.get(self.algorithm),
            choices=dict(self.choices),
            observation=self.spec.observation,
            actions=self.spec.actions,
            hidden=self.spec.hidden,
            own_body=self.spec.body is not None,
            style=self.spec.style._asdict(),
            hyperparameters={k: float(v) for k, v in self.hyperparameters.items()},
        )
        arrays = {"weights": np.asarray(self.weights)}
        arrays |= {} if self.scale is None else {"scale": np.asarray(self.scale)}
        arrays_file.write(Path(path), KIND, VERSION, header._asdict(), arrays)
        return Path(path)


def load(path: str | Path, body: MakeBody | None = None, algorithm: ControlAlgorithm | None = None) -> TrainedAgent:
    """An agent from its file; `body` and `algorithm` as they were given to `gpbe.train`, if they are one's own.

    Nothing is imported or run because a file says so.

    >>> load("pyproject.toml")
    Traceback (most recent call last):
    gpbe.errors.InputError: pyproject.toml is not an agent saved by gpbe: it is not an .npz archive ...
    """
    path = Path(path)
    header, arrays = arrays_file.read(path, KIND, VERSION, "an agent", OLDEST)
    try:
        read = Header.read(header)
        _check_own("body", read.own_body, body)
        _check_own("algorithm", read.own_algorithm, algorithm)
        check_known(read.algorithm, ALGORITHMS if algorithm is None else (algorithm.name,), "control algorithm")
        record = ALGORITHMS[read.algorithm] if algorithm is None else algorithm
        spec = Spec(read.observation, read.actions, read.hidden, body, Style(**read.style))
        weights = check_weights(record.varied(**read.choices).make(), spec, arrays)
        scale = check_scale(spec, arrays.get("scale"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return TrainedAgent(read.env, record, spec, weights, read.hyperparameters, read.choices, scale=scale)


def _check_own(what: str, needed: bool, given: Any) -> None:
    """Insist on the user's own body or algorithm where a file was made with one: code is not stored in files."""
    if needed and given is None:
        raise InputError(f"was trained with the user's own {what}; give it: gpbe.load(path, {what}=...)")
    if given is not None and not needed:
        raise InputError(f"was not trained with a user's own {what}; leave it out")
