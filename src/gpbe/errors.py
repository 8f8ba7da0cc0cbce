"""The one error that a user's input can cause."""


class InputError(ValueError):
    """Something given to gpbe is wrong; the message says what, where, and what would be right."""
