"""Being told to stop: Ctrl-C by people, SIGTERM by schedulers, SIGHUP by terminals. What is under way ends well."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_received: list[int] = []
"""Signals that came while the process was `interruptible`, the last one last."""


class Interrupted(KeyboardInterrupt):
    """Somebody or something wants this process to stop."""

    def __init__(self, number: int = signal.SIGINT):
        super().__init__()
        self.number = number


def number_of(error: KeyboardInterrupt) -> int:
    """The signal that an interruption came from; Python's own has none, and is Ctrl-C.

    >>> number_of(KeyboardInterrupt())
    2
    """
    return error.number if isinstance(error, Interrupted) else int(signal.SIGINT)


def interruption_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that an error came after, if there is one: a closed terminal also refuses our last words."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error


def received() -> int | None:
    """The last signal that interrupted this process, though something may have made another error of it."""
    return _received[-1] if _received else None


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Have the signals raise `Interrupted`, unless the program has its own ways with them.

    A shell script starts what it puts into the background with SIGINT ignored; that can be interrupted too. What nohup
    starts with SIGHUP ignored is to go on.
    """
    _received.clear()
    usual = (signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler)
    found = {number: signal.getsignal(number) for number in SIGNALS if _here()}
    taken = [number for number, handler in found.items() if handler in usual]
    if found.get(signal.SIGHUP) is signal.SIG_IGN:
        taken.remove(signal.SIGHUP)
    before = {number: signal.signal(number, _raise) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off the signals to the end of what must be done as a whole: a part kept and counted, workers ended."""
    if not _here():
        yield
        return
    came: list[int] = []
    with _blocked():
        before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in SIGNALS}
    try:
        yield
    finally:
        with _blocked():
            for number, handler in before.items():
                signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Whatever a library does to the handlers of the signals here, they are as before afterwards.

    >>> before = signal.getsignal(signal.SIGTERM)
    >>> with undisturbed():
    ...     _ = signal.signal(signal.SIGTERM, lambda *_: None)
    >>> signal.getsignal(signal.SIGTERM) == before
    True
    """
    before = {number: signal.getsignal(number) for number in SIGNALS} if _here() else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Let signals wait while handlers change: one that came in between would leave the others changed for good."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _here() -> bool:
    """Do signals arrive in this thread?"""
    return threading.current_thread() is threading.main_thread()


def _raise(number: int, _: FrameType | None) -> None:
    _received.append(number)
    raise Interrupted(number)
