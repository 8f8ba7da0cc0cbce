"""Environments: gymnax's run inside the compiled loop, Gymnasium's on the host."""

from gpbe.envs.compiled import CompiledEnv, GymnaxEnv, Stepped, find_compiled, from_gymnax
from gpbe.envs.host import HostEnv, HostEnvs, HostStepped, Snapshot, find_host
from gpbe.envs.lookup import find

__all__ = [
    "CompiledEnv",
    "GymnaxEnv",
    "HostEnv",
    "HostEnvs",
    "HostStepped",
    "Snapshot",
    "Stepped",
    "find",
    "find_compiled",
    "find_host",
    "from_gymnax",
]
