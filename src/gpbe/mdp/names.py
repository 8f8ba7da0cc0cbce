"""Names that people type: looked up, with a hint when they are misspelt."""

import difflib
from collections.abc import Iterable, Sequence

from gpbe.errors import InputError


def hint(name: str, known: Iterable[str]) -> str:
    """What would be right instead of `name`.

    >>> hint("lefft", ["left", "right"])
    "did you mean 'left'?"
    >>> hint("north", ["left", "right"])
    'it should be one of left, right'
    """
    known = list(known)
    close = difflib.get_close_matches(name, known)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(known[:16]) + (", ..." if len(known) > 16 else "")
    return f"it should be one of {shown}" if known else "there should be none"


def position(name: object, known: Sequence[str], what: str) -> int:
    """Where `name` stands among the known ones; `what` says what it is, and where it was read."""
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{what} {name!r} is unknown; {hint(str(name), known)}")
    return known.index(name)


def check_keys(given: Iterable[str], required: Sequence[str], optional: Sequence[str], what: str) -> None:
    """Nothing missing, and nothing unknown that would be silently ignored."""
    given = list(given)
    missing = [key for key in required if key not in given]
    unknown = [key for key in given if key not in (*required, *optional)]
    if unknown:
        raise InputError(f"{what} {unknown[0]!r} is unknown; {hint(unknown[0], missing or (*required, *optional))}")
    if missing:
        raise InputError(f"{what} {missing[0]!r} is missing; there should be {', '.join(required)}")
