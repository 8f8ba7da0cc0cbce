"""Ctrl-C at the wrong moment."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C to the end of what must be done as a whole: a part kept and counted, workers ended."""
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)
