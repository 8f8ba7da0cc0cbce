"""Prediction with networks: data, the compiled loop, metrics and the public entry."""

from gpbe.learn.nonlinear.metrics import METRICS
from gpbe.learn.nonlinear.predict import NetPrediction, predict_net

__all__ = ["METRICS", "NetPrediction", "predict_net"]
