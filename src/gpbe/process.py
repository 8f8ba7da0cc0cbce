"""How a process that learns is set up before JAX is loaded: the command line and the workers of sweeps do it."""

import os
import platform
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON")
_XLA_FLAGS = ("--xla_cpu_multi_thread_eigen=false",)


def single_threaded(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that keep a process to one thread; flags that the user has set for XLA stay in force.

    >>> single_threaded({"XLA_FLAGS": "--xla_cpu_max_isa=AVX"})["XLA_FLAGS"]
    '--xla_cpu_max_isa=AVX --xla_cpu_multi_thread_eigen=false'
    >>> single_threaded({"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=true"})["XLA_FLAGS"]
    '--xla_cpu_multi_thread_eigen=true'
    """
    flags = environment.get("XLA_FLAGS", "").split()
    taken = {flag.partition("=")[0] for flag in flags}
    flags += [flag for flag in _XLA_FLAGS if flag.partition("=")[0] not in taken]
    return {
        "XLA_FLAGS": " ".join(flags),
        "POLARS_MAX_THREADS": "1",
        "VECLIB_MAXIMUM_THREADS": "1",
        **{f"{library}_NUM_THREADS": "1" for library in _THREADS},
    }


def thin_products(environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that keeps products of thin matrices, such as a log's pieces, to one thread: a second one costs
    more than it brings. It counts if NumPy is not loaded yet; what the user has set stays in force.

    >>> thin_products({}), thin_products({"OPENBLAS_NUM_THREADS": "8"})
    ({'OPENBLAS_NUM_THREADS': '1'}, {'OPENBLAS_NUM_THREADS': '8'})
    """
    return {"OPENBLAS_NUM_THREADS": environment.get("OPENBLAS_NUM_THREADS", "1")}


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where things are kept that can be had again."""
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpbe"


def with_cache(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that keep compiled programs on disk between processes; what the user has set stays in force."""
    wanted = {
        "JAX_COMPILATION_CACHE_DIR": str(cache_folder(environment) / "compiled" / _processor()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }
    return wanted | {k: environment[k] for k in wanted if k in environment}


def _processor() -> str:
    """A name for what this machine's processor can do: programs that were compiled for another may not run here."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:  # not Linux
        lines = []
    features = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return f"{platform.machine()}-{zlib.crc32(features.encode()):08x}"


def environment() -> dict[str, str]:
    """One thread, since small products gain nothing from more, and the cache of compiled programs."""
    return single_threaded(os.environ) | with_cache(os.environ)


def search_path() -> str:
    """Where this process finds modules, for another one: a runner may be in a script's folder or in tests."""
    return os.pathsep.join(path or os.getcwd() for path in sys.path)


def prepare() -> None:
    """This process; to be called before anything imports JAX."""
    os.environ.update(environment())
