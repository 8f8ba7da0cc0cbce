"""A progress bar from Python: on a terminal, and only there."""

import contextlib
import io

import numpy as np

import gpbe
from gpbe import bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def a_terminal():
    """Standard error as a terminal would be; pytest has its own until a test is called."""
    with contextlib.redirect_stderr(Terminal()) as stream:
        yield stream


def test_a_bar_tells_how_many_are_done_and_the_last_return():
    with a_terminal() as seen, bars.training_progress("qrc on Somewhere", 3000) as advance:
        advance(1000, np.nan)  # from a checkpoint
        advance(2000, -7.25)
    assert "qrc on Somewhere" in seen.getvalue()
    assert "3,000/3,000 steps" in seen.getvalue()
    assert "return -7.2" in seen.getvalue()


def test_prediction_shows_one_if_asked():
    told = []
    asked = {"steps": 50, "step_size": [0.1, 0.2, 0.3], "metrics": "rmsve", "advance": told.append}
    with a_terminal() as seen:
        gpbe.predict("boyan", "td", **asked)
    assert seen.getvalue() == ""
    with a_terminal() as seen:
        gpbe.predict("boyan", "td", progress=True, **asked)
    assert "3/3 settings" in seen.getvalue()
    assert sum(told) == 6, "the bar is shown beside what the user has asked to be told"


def test_elsewhere_there_is_none(capsys):
    gpbe.predict("boyan", "td", steps=50, metrics="rmsve", progress=True)
    assert capsys.readouterr() == ("", "")


def test_training_shows_one_if_asked():
    with a_terminal() as seen:
        gpbe.train("CartPole-v1", "qrc", steps=200, runs=2, every=100, hidden=(4,), progress=True)
    assert "qrc on CartPole-v1" in seen.getvalue()
    assert "400/400 steps" in seen.getvalue()
