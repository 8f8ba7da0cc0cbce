"""Ctrl-C at the wrong moment."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C for a moment, so that a second one cannot stop the clearing up after the first."""
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
