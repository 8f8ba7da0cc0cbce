"""Where results are kept."""

from pathlib import Path

RESULTS = "results"


def folder_of(name: str, scale: str, out: Path, own: bool) -> Path:
    """Of an experiment of the paper at a scale, or of one's own."""
    return out / RESULTS / (name if own else f"{name}-{scale}")
