"""What tests share: invented runs, random problems, references, runners for workers, a browser."""

from helpers.typed import checked

__all__ = ["checked"]
