"""What every test can rely on."""

import os
from unittest import mock

import pytest


@pytest.fixture(autouse=True)
def environment():
    """Commands set up this process's environment for themselves; the next test begins with its own."""
    with mock.patch.dict(os.environ):
        yield
