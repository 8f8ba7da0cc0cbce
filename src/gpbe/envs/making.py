"""Gymnasium environments from what a user gives: an id, an instance, a function, single or in vectors."""

import contextlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from gpbe.envs.host import HostEnv
from gpbe.envs.spaces import action_count, observation_shape
from gpbe.errors import InputError


def find_host(env: Any) -> HostEnv:
    """The environment behind a registered id, an instance, or a function that makes one.

    An instance is one lane. More are made from its `spec`, which Gymnasium keeps for environments from `make`. A vector
    environment is as many lanes as it has, stepped at once; a function of one argument, how many, makes those.

    >>> env = find_host("LunarLander-v3")
    >>> env.name, env.observation, env.actions
    ('LunarLander-v3', (8,), 4)
    """
    import gymnasium

    if isinstance(env, gymnasium.vector.VectorEnv):
        return _vector(env, _name_of(env), _no_copies(_name_of(env)), given=env)
    if isinstance(env, gymnasium.Env):
        return _single(env, _name_of(env), partial(_copy, env, _name_of(env)), given=env)
    name = env if isinstance(env, str) else getattr(env, "__name__", type(env).__name__)
    vectors = not isinstance(env, str) and _takes_a_number(env)
    make: Any = partial(_make_vector if vectors else _make, env, name)
    sample = make(1) if vectors else make()
    try:
        return (_vector if vectors else _single)(sample, name, make)
    finally:
        sample.close()


def _single(env: Any, name: str, make: Callable[..., Any], given: Any = None) -> HostEnv:
    shape, actions = observation_shape(env.observation_space, name), action_count(env.action_space, name)
    return HostEnv(name, shape, actions, make, given)


def _vector(env: Any, name: str, make: Callable[..., Any], given: Any = None) -> HostEnv:
    from gymnasium.vector import AutoresetMode

    shape = observation_shape(env.single_observation_space, name)
    actions = action_count(env.single_action_space, name)
    if (mode := env.metadata.get("autoreset_mode")) != AutoresetMode.DISABLED:
        has = "no autoreset_mode" if mode is None else f"autoreset_mode {getattr(mode, 'value', mode)}"
        should = "make it with gymnasium.vector.AutoresetMode.DISABLED: gpbe begins and seeds every episode itself"
        raise InputError(f"{name} has {has}; {should}")
    return HostEnv(name, shape, actions, make, given, together=True)


def _name_of(env: Any) -> str:
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


def _takes_a_number(make: Any) -> bool:
    """Does a function ask for the number of copies, and so make vector environments?"""
    try:
        asked = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [each for each in asked if each.default is each.empty and each.kind in (0, 1)]
    return len(needed) == 1


def _make_vector(make: Callable[[int], Any], name: str, lanes: int) -> Any:
    import gymnasium

    made = make(lanes)
    if not isinstance(made, gymnasium.vector.VectorEnv):
        kind = type(made).__name__
        raise InputError(f"{name} takes a number and gave a {kind}; it should make a gymnasium.vector.VectorEnv")
    return made


def _no_copies(name: str) -> Callable[[int], Any]:
    def refuse(lanes: int) -> Any:
        raise InputError(f"{name} is in use, and an instance has no copies; give a function from a number to one")

    return refuse


def _make(env: Any, name: str) -> Any:
    import gymnasium

    make = partial(_by_id, env) if isinstance(env, str) else env
    with warnings.catch_warnings():
        # Box2D's types warn when they are first imported; where warnings are errors, that kills the process.
        warnings.filterwarnings("ignore", "builtin type .* has no __module__", DeprecationWarning)
        try:
            made = make()
        except (gymnasium.error.Error, ImportError) as error:
            raise InputError(f"Gymnasium could not make {name}: {_one_line(error)}") from error
        except Exception as error:
            if not isinstance(env, str):  # a function of the user's, who wants to see where it went wrong
                raise
            raise InputError(f"Gymnasium could not make {name}: {_one_line(error)}") from error
    if not isinstance(made, gymnasium.Env):
        raise InputError(f"{name} gave a {type(made).__name__}; it should make a gymnasium.Env")
    return made


def _by_id(name: str) -> Any:
    """A registered environment. The lean Lunar Lander has the same numbers as Gymnasium's, and takes half the time."""
    import gymnasium

    if name == "LunarLander-v3":
        with contextlib.suppress(ImportError):  # then Gymnasium says what is missing
            from gpbe.envs.lunar_lander import make_lunar_lander

            return make_lunar_lander()
    if ":" in name and os.getcwd() not in sys.path:  # a module beside the user, which commands do not find otherwise
        sys.path.insert(0, os.getcwd())
    return gymnasium.make(name)


def _copy(env: Any, name: str) -> Any:
    import gymnasium

    instead = "give a function that makes one for several runs or settings"
    if env.spec is None:
        raise InputError(f"{name}, given as an instance without a spec, is one lane only; {instead}")
    try:
        return gymnasium.make(env.spec)
    except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
        raise InputError(f"{name} could not be copied from its spec ({_one_line(error)}); {instead}") from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
