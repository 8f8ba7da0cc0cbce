"""Cases of which a few are tried at every run of the tests, and all with `make test-slow`."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Cases for `parametrize`: those in `quick` as they are, the others marked as slow; a tuple goes by its first."""
    return [_case(each, _first(each) in quick) for each in cases]


def _first(case: Any) -> Any:
    return case[0] if isinstance(case, tuple) else case


def _case(case: Any, quick: bool) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=() if quick else pytest.mark.slow)
