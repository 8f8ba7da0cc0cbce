"""A page of HTML as a test reads it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Checks that tags close in order; collects ids, links, images and what is fetched."""

    EMPTY = ("meta", "link", "img", "br")

    def __init__(self, text: str):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.fetched = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.images += [values] if tag == "img" else []
        self.fetched += [values[name] for name in ("src", "href", "srcset", "data") if name in values and tag != "a"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
