"""Signals that come at the worst time: they are put off and not lost, and handlers are as before afterwards."""

import signal

import pytest

from gpbe import interrupts
from gpbe.interrupts import SIGNALS, Interrupted, interruptible, uninterrupted

pytestmark = pytest.mark.usefixtures("as_on_a_terminal")


def handlers() -> list:
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_what_must_be_whole_is_finished_before_it_is_interrupted(number):
    before, done = handlers(), []

    def work():
        signal.raise_signal(number)
        done.append("all of it")

    with pytest.raises(Interrupted) as told, interruptible(), uninterrupted():
        work()
    assert done == ["all of it"]
    assert told.value.number == number
    assert handlers() == before


@pytest.mark.parametrize("change", range(6))
def test_a_signal_between_two_changes_of_handlers_leaves_none_of_them_changed(change, monkeypatch):
    """Three are changed at the beginning, and three at the end; at each of these a signal comes."""
    set_handler, calls = signal.signal, []

    def interfered(number, handler):
        calls.append(number)
        if len(calls) == change + 1:
            signal.raise_signal(signal.SIGTERM)
        return set_handler(number, handler)

    with interruptible():
        before, done = handlers(), []
        monkeypatch.setattr(interrupts.signal, "signal", interfered)
        with pytest.raises(Interrupted), uninterrupted():
            done.append("all of it")
        monkeypatch.undo()
        assert done == ["all of it"]
        assert len(calls) == 6
        assert handlers() == before
