"""Environments: gymnax's run inside the compiled loop, Gymnasium's on the host. `domains` can be read without JAX."""

from typing import TYPE_CHECKING

from gpbe.lazy import all_names, imported_when_used

if TYPE_CHECKING:
    from gpbe.envs.compiled import CompiledEnv, GymnaxEnv, Stepped, find_compiled, from_gymnax
    from gpbe.envs.host import HostEnv, HostEnvs, HostStepped, Snapshot
    from gpbe.envs.lookup import find
    from gpbe.envs.making import find_host
    from gpbe.envs.spaces import as_observation

__all__ = [
    "CompiledEnv",
    "GymnaxEnv",
    "HostEnv",
    "HostEnvs",
    "HostStepped",
    "Snapshot",
    "Stepped",
    "as_observation",
    "find",
    "find_compiled",
    "find_host",
    "from_gymnax",
]

_HOST = ("HostEnv", "HostEnvs", "HostStepped", "Snapshot")
_COMPILED = ("CompiledEnv", "GymnaxEnv", "Stepped", "find_compiled", "from_gymnax")
__getattr__ = imported_when_used(
    __name__,
    dict.fromkeys(_HOST, "gpbe.envs.host")
    | dict.fromkeys(_COMPILED, "gpbe.envs.compiled")
    | {
        "as_observation": "gpbe.envs.spaces",
        "find": "gpbe.envs.lookup",
        "find_host": "gpbe.envs.making",
    },
)
__dir__ = all_names(__name__)
