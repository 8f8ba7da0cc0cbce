"""How a process that learns is set up before JAX is loaded: the command line and the workers of sweeps do it."""

import os
from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def environment() -> dict[str, str]:
    """One thread, since small products gain nothing from more; compiled programs are kept on disk between processes.

    What the user has set already stays as it is.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    flags = os.environ.get("XLA_FLAGS", "")
    wanted = {
        "XLA_FLAGS": flags if "multi_thread_eigen" in flags else f"{flags} {ONE_THREAD}".strip(),
        "JAX_COMPILATION_CACHE_DIR": str(home / "gpbe" / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return {k: v if k == "XLA_FLAGS" else os.environ.get(k, v) for k, v in wanted.items()}


def prepare() -> None:
    """This process; to be called before anything imports JAX."""
    os.environ.update(environment())
