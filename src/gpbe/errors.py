"""The one error that a user's input can cause, and what is only said."""

LONGEST = 400
"""Characters in a message: what a file says may be a million long, and is not repeated whole."""


class InputError(ValueError):
    r"""Something given to gpbe is wrong; the message says what, where, and what would be right.

    It is one line that can be printed anywhere, whatever was quoted in it.

    >>> print(InputError("state 'a\x1b[2J' is unknown;\nit should be 'a'"))
    state 'a\x1b[2J' is unknown; it should be 'a'
    """

    def __init__(self, message: object = ""):
        super().__init__(one_line(str(message)))


class SeedWarning(UserWarning):
    """An environment does not do as its seed says, so that what is learned there cannot be repeated."""


def one_line(text: str) -> str:
    r"""A text without line breaks and control characters, and without its middle if it is very long.

    >>> one_line("a\tb\n c\x00"), len(one_line("x" * 10**6))
    ('a b c\\x00', 400)
    """
    head, tail = text[: 4 * LONGEST], text[-4 * LONGEST :]  # enough, however much of it is white space
    shown = _visible(text if len(text) <= 4 * LONGEST else head)
    if len(text) <= 4 * LONGEST and len(shown) <= LONGEST:
        return shown
    last = _visible(tail)[-(LONGEST // 2 - 25) :]
    return f"{shown[: LONGEST // 2 + 20]} ... {last}"


def _visible(text: str) -> str:
    words = " ".join(text.split())
    return words if words.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in words)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
