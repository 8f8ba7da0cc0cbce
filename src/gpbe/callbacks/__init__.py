"""Callbacks of `gpbe.train`: what they are told (`Stretch`), and ready ones.

A callback is any function of a `Stretch`; if it returns True, the runs that it was told of are not continued. What is
learned is the same with callbacks and without, to the last bit.

>>> import gpbe
>>> seen = []
>>> watch = lambda stretch: seen.append((stretch.steps, stretch.values["return"].shape))
>>> training = gpbe.train("CartPole-v1", "qrc", steps=200, every=100, runs=2, hidden=(4,), callbacks=watch)
>>> seen
[(100, (2,)), (200, (2,))]
"""

from gpbe.callbacks.evaluating import Best, Evaluate
from gpbe.callbacks.files import CSV
from gpbe.callbacks.stopping import Stop
from gpbe.callbacks.tensorboard import TensorBoard
from gpbe.learn.control.hooks import Callback, Stretch

__all__ = ["CSV", "Best", "Callback", "Evaluate", "Stop", "Stretch", "TensorBoard"]
