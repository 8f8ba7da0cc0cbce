"""Seeds of the tests that learn: with GPBE_TEST_SEED in the environment all of them are others."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

import gpbe

OFFSET = int(os.environ.get("GPBE_TEST_SEED", "0"))


def seed(number: int = 0) -> int:
    """A seed of a test, moved by the environment's offset: what a test says holds for any."""
    return number + 1000 * OFFSET


@contextmanager
def moved() -> Iterator[None]:
    """Here `gpbe.predict` has another seed: for experiments, which do not let one choose it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpbe, "predict", partial(gpbe.predict, seed=seed()), raising=False)
        yield
