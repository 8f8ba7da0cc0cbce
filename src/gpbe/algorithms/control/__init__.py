"""Control with action values: what is learned from one replayed transition."""

from gpbe.algorithms.control.action_values import Directions, Outputs, Sampled, gradient_correction

__all__ = ["Directions", "Outputs", "Sampled", "gradient_correction"]
