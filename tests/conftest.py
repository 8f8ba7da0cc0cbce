"""What every test can rely on."""

import json
import os
import re
import sys
from unittest import mock

import pytest

from gpbe.errors import InputError


@pytest.fixture(autouse=True)
def environment():
    """Commands set up this process's environment and path for themselves; the next test begins with its own."""
    with mock.patch.dict(os.environ), mock.patch.object(sys, "path", list(sys.path)):
        yield


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
