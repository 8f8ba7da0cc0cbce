"""The explorer's page: one file, with its style and its script in it, that asks nobody but its server."""

import base64
import hashlib
from importlib import resources

from gpbe.look.explorer.changes import MOST
from gpbe.pages.html import document


def _part(name: str) -> str:
    return resources.files("gpbe.look.explorer").joinpath(name).read_text(encoding="utf-8")


SCRIPT = f"{_part('charts.js')}\n{_part('page.js')}"
_BODY = _part("page.html").replace("MOST", str(MOST))
PAGE = document("gpbe explore", f"{_BODY}<script>{SCRIPT}</script>", _part("page.css"))
_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; script-src 'sha256-{_HASH}'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may do: run this script, and ask this server."""
