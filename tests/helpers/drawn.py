"""What a drawing must not do, whatever it shows."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def check_texts(fig: Figure) -> None:
    """No text lies over another one, or leaves the page."""
    drawn: dict[int, Text] = {}
    draw_text = Text.draw

    def draw_and_note(self, renderer):
        drawn[id(self)] = self
        draw_text(self, renderer)

    canvas = FigureCanvasAgg(fig)
    canvas.draw()  # once for the layout to settle
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", draw_and_note)
        canvas.draw()
    shown = [t for t in drawn.values() if t.get_visible() and t.get_text().strip()]
    boxes = [(t.get_text(), t.get_window_extent(canvas.get_renderer())) for t in shown]
    assert len(boxes) > 8
    page = fig.bbox
    for text, box in boxes:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, f"{text!r} leaves the page"
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, f"{text!r} leaves the page"
    for (one, a), (other, b) in combinations(boxes, 2):
        assert not a.padded(-0.5).overlaps(b.padded(-0.5)), f"{one!r} lies over {other!r}"
