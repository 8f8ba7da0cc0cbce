"""Prediction with networks: data, the compiled loop, and what is measured while learning."""
