"""Environments that are compiled into the learning loop, above all gymnax's with the paper's cutoffs.

gymnax's MountainCar-v0, CartPole-v1 and Acrobot-v1 take the same steps as Gymnasium's, up to single precision, pay the
same rewards and start alike (tests/envs/test_envs.py compares them): they are used as they are. What is changed here:

- Only `reset_env` and `step_env` are called: gymnax's own `step` would split a key and compute a reset at every step.
- A step that terminates is not truncated too, though it be the last that the cutoff allows.
- An observation that is only a label (FrozenLake-misc) becomes a one-hot vector.

gymnax's MinAtar games get the benchmark's sticky actions and cutoffs (`domains`): gymnax itself has none of the first,
and cuts off all games after 1000 steps (Freeway: 2500). Its other environments keep their own cutoffs.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from gpbe.envs.domains import domain_of
from gpbe.errors import InputError


class Stepped(NamedTuple):
    """What a step of one lane leads to."""

    observation: Float[Array, "..."]
    """The one that was reached, also where the episode ends with it."""
    state: Any
    reward: Float[Array, ""]
    terminated: Bool[Array, ""]
    """The episode has ended: nothing follows, and values are not bootstrapped."""
    truncated: Bool[Array, ""]
    """The episode was cut off: a new one begins, but this transition is like any other."""


@runtime_checkable
class CompiledEnv(Protocol):
    """What the compiled loop needs of an environment. It never resets itself: that is the loop's business.

    `reset` and `step` are pure functions that JAX can trace, for one lane; a state is a tree of arrays whose shapes
    and types never change. Two objects are two environments: keep one to compile once.
    """

    @property
    def name(self) -> str: ...

    @property
    def observation(self) -> tuple[int, ...]:
        """The shape of an observation; it has at least one axis."""
        ...

    @property
    def actions(self) -> int:
        """How many there are."""
        ...

    def reset(self, key: PRNGKeyArray) -> tuple[Float[Array, "..."], Any]: ...

    def step(self, key: PRNGKeyArray, state: Any, action: Int[Array, ""]) -> Stepped: ...


class Stuck(NamedTuple):
    """A state, and the action that led to it."""

    state: Any
    action: Int[Array, ""]


# No equality by value: some of gymnax's parameters are arrays, which cannot be hashed, and JAX hashes what is static.
@dataclass(frozen=True, eq=False)
class GymnaxEnv:
    """A gymnax environment, or one written to its interface."""

    name: str
    env: Any
    params: Any
    observation: tuple[int, ...]
    actions: int
    labels: int = 0
    """How many observations there are, where they are only labels."""
    sticky: float = 0.0
    """The probability that the last action that was carried out is carried out again; the first is 0."""

    def reset(self, key: PRNGKeyArray) -> tuple[Float[Array, "..."], Any]:
        observation, state = self.env.reset_env(key, self.params)
        strong = _strong(state)
        return self._encode(observation), Stuck(strong, jnp.int32(0)) if self.sticky else strong

    def step(self, key: PRNGKeyArray, state: Any, action: Int[Array, ""]) -> Stepped:
        if not self.sticky:
            return self._step(key, state, action)
        key_sticks, key = jax.random.split(key)
        sticks = jax.random.uniform(key_sticks) < self.sticky
        carried_out = jnp.where(sticks, state.action, action).astype(jnp.int32)
        stepped = self._step(key, state.state, carried_out)
        return stepped._replace(state=Stuck(stepped.state, carried_out))

    def _step(self, key: PRNGKeyArray, state: Any, action: Int[Array, ""]) -> Stepped:
        if domain_of(self.name).noiseless:
            key = jax.random.key(0)
        observation, state, reward, terminated, _ = self.env.step_env(key, state, action, self.params)
        terminated = jnp.asarray(terminated, bool)
        truncated = self.env.is_truncated(state, self.params) & ~terminated
        reward = jnp.asarray(reward, jnp.float32)
        return Stepped(self._encode(observation), _strong(state), reward, terminated, truncated)

    def _encode(self, observation: Array) -> Float[Array, "..."]:
        if self.labels:
            return jax.nn.one_hot(observation, self.labels)
        return jnp.asarray(observation, jnp.float32).reshape(self.observation)


def _strong(state: Any) -> Any:
    """Python numbers, which some environments start with, become arrays of the type that later steps give them."""
    return jax.tree.map(lambda x: jnp.asarray(x, jnp.result_type(x)), state)


def find_compiled(name: str, sticky: float | None = None) -> GymnaxEnv | None:
    """The gymnax environment of that name, if there is one; with the domain's sticky actions, if nothing else is said.

    >>> env = find_compiled("MountainCar-v0")
    >>> env.observation, env.actions, env.params.max_steps_in_episode
    ((2,), 3, 1000)
    >>> find_compiled("Breakout-MinAtar").sticky, find_compiled("Breakout-MinAtar", sticky=0.0).sticky
    (0.1, 0.0)
    """
    import gymnax

    sticky = domain_of(name).sticky if sticky is None else sticky
    return _make(name, sticky) if name in gymnax.registered_envs else None


@cache
def _make(name: str, sticky: float) -> GymnaxEnv:
    import gymnax

    try:
        env, params = gymnax.make(name)
    except OSError as error:  # MNISTBandit-bsuite downloads its images
        raise InputError(f"gymnax could not make {name}: {error}") from error
    if cutoff := domain_of(name).cutoff:
        params = params.replace(max_steps_in_episode=cutoff)
    return from_gymnax(env, params, name, sticky)


def from_gymnax(env: Any, params: Any = None, name: str | None = None, sticky: float = 0.0) -> GymnaxEnv:
    """Any environment with gymnax's interface (`reset_env`, `step_env`, `is_truncated`, spaces) and discrete actions.

    >>> from gymnax.environments.classic_control.cartpole import CartPole
    >>> short = from_gymnax(CartPole(), CartPole().default_params.replace(max_steps_in_episode=100))
    >>> short.name, short.observation, short.actions
    ('CartPole-v1', (4,), 2)
    """
    from gymnax.environments import spaces

    name = str(env.name) if name is None else name
    params = env.default_params if params is None else params
    space = env.action_space(params)
    if not isinstance(space, spaces.Discrete):
        raise InputError(f"{name} has {type(space).__name__} actions; gpbe learns the values of Discrete ones")
    observation, _ = jax.eval_shape(lambda key: env.reset_env(key, params), jax.random.key(0))
    if not isinstance(observation, jax.ShapeDtypeStruct):
        raise InputError(f"{name} shows a {type(observation).__name__}; its observations should be single arrays")
    shown = env.observation_space(params)
    if not 0 <= sticky <= 1:
        raise InputError(f"sticky is {sticky:g}; it should be in [0, 1]")
    if isinstance(shown, spaces.Discrete):
        return GymnaxEnv(name, env, params, (int(shown.n),), int(space.n), labels=int(shown.n), sticky=sticky)
    return GymnaxEnv(name, env, params, observation.shape or (1,), int(space.n), sticky=sticky)
