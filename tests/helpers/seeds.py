"""Seeds of the tests that learn: with GPBE_TEST_SEED in the environment all of them are others."""

import os

OFFSET = int(os.environ.get("GPBE_TEST_SEED", "0"))


def seed(number: int = 0) -> int:
    """A seed of a test, moved by the environment's offset: what a test says holds for any."""
    return number + 1000 * OFFSET
