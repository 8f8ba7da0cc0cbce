"""An environment from what a user gives: a name, an instance, a function that makes one."""

import difflib
from typing import Any

from gpbe.envs.compiled import CompiledEnv, find_compiled, from_gymnax
from gpbe.envs.host import HostEnv
from gpbe.envs.making import find_host
from gpbe.errors import InputError


def find(env: Any, imports: bool = True) -> CompiledEnv | HostEnv:
    """A name is looked up in gymnax first, then in Gymnasium; everything of Gymnasium's runs on the host.

    So "CartPole-v1" is compiled; for Gymnasium's, give `gymnasium.make("CartPole-v1")` or a function that makes it.
    A name "module:Name-v0" imports the module first, which registers its environments with Gymnasium; the module may
    be a file in the current folder. Without `imports` nothing is imported, for names that come from a file; the
    environment is found if it is registered already.

    >>> find("Breakout-MinAtar").observation
    (10, 10, 4)
    >>> find("mountaincar")
    Traceback (most recent call last):
    gpbe.errors.InputError: environment 'mountaincar' is in neither gymnax nor Gymnasium; did you mean ...
    """
    import gymnasium

    if isinstance(env, str):
        return find_compiled(env) or find_host(_known(env, imports))
    if isinstance(env, HostEnv) or (isinstance(env, CompiledEnv) and not isinstance(env, type | gymnasium.Env)):
        return env
    if hasattr(env, "step_env") and not isinstance(env, type):
        return from_gymnax(env)
    if isinstance(env, gymnasium.Env | gymnasium.vector.VectorEnv) or callable(env):
        return find_host(env)
    raise InputError(
        f"a {type(env).__name__!r} is no environment; it should be a name, a gymnasium.Env or a function that makes one"
    )


def _known(name: str, imports: bool) -> str:
    import gymnasium
    import gymnax

    module, _, own = name.rpartition(":")
    if name in gymnasium.registry or (module and imports):
        return name
    if module:
        if own in gymnasium.registry:
            return own
        raise InputError(
            f"environment {name!r} is in a module that is not imported because a file names it; import {module} first, "
            "or name the environment yourself"
        )
    names = {known.casefold(): known for known in (*gymnax.registered_envs, *gymnasium.registry)}
    close = [names[match] for match in difflib.get_close_matches(name.casefold(), names, n=2, cutoff=0.4)]
    instead = f"did you mean {' or '.join(map(repr, close))}?" if close else "MountainCar-v0 is one that there is"
    raise InputError(f"environment {name!r} is in neither gymnax nor Gymnasium; {instead}")
