"""Off-policy value estimation with the generalized projected Bellman error."""

from gpbe import mdp
from gpbe.errors import InputError

__version__ = "0.1.0.dev0"
__all__ = ["InputError", "mdp"]
