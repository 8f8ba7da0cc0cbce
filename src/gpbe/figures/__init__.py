"""Drawing: the toolkit that all figures share, and the one way from stored results to a figure.

What a figure shows is declared with the experiment that it belongs to (`FigureSpec`): what it needs, its table, the
drawing of that table, and what there is to say about it. Figures draw and never compute results.
"""

from gpbe.figures.pipeline import Drawing, FigureSpec, Notes, draw, make, write

__all__ = ["Drawing", "FigureSpec", "Notes", "draw", "make", "write"]
