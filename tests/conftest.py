"""What every test can rely on."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from unittest import mock

import jax
import pytest

from gpbe.errors import InputError
from gpbe.interrupts import SIGNALS
from gpbe.process import single_threaded, with_cache

# Most of the time of tests that learn goes into compiling. So XLA optimizes less, unless told otherwise, and programs
# are kept on disk, where the workers of one run of the tests find each other's. Each worker has one thread.
CACHE = with_cache(os.environ | {"XDG_CACHE_HOME": str(Path(__file__).parents[1] / ".pytest_cache")})
os.environ.update(single_threaded(os.environ) | CACHE)
if "--xla_backend_optimization_level" not in os.environ["XLA_FLAGS"]:
    os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0"
for variable, value in CACHE.items():  # this process has imported JAX already
    kind = type(getattr(jax.config, variable.lower()))
    jax.config.update(variable.lower(), value if kind in (str, type(None)) else kind(value))
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(autouse=True)
def environment():
    """Commands set up this process's environment and path for themselves; the next test begins with its own."""
    with mock.patch.dict(os.environ), mock.patch.object(sys, "path", list(sys.path)):
        yield


@pytest.fixture
def as_on_a_terminal():
    """Let no signal be ignored, here and by children, as it may be where nohup or a script started the tests."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def run(capsys):
    """Run a command and return what it printed; as JSON if that was asked for."""
    from gpbe.cli import main

    def command(*arguments: str):
        main(list(arguments))
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return command


@pytest.fixture
def refuses():
    """Check that bad input is refused in one line, which says what is expected of it."""

    def check(call, message: str):
        with pytest.raises(InputError) as refusal:
            call()
        said = str(refusal.value)
        assert re.search(message, said), said
        assert "\n" not in said

    return check
