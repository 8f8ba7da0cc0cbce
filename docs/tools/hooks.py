"""What MkDocs calls while it builds the site: pages get their generated parts, and mathematics becomes MathML.

A line `<!-- gpbe: NAME WORDS -->` in a page stands for what the part NAME makes of WORDS (see `parts`). Where Markdown
is read without a build, such a line shows nothing.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # where the modules beside this one are

import mathematics
import parts
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[2]
FETCHED = "https://unpkg.com/iframe-worker/shim"
"""What the theme's search would get from elsewhere; docs/worker.js does the same."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere."""
    for page, source in parts.ADOPTED.items():
        text = re.sub(r"\]\(docs/", "](", (ROOT / source).read_text())
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the generated parts."""
    return parts.with_findable_names(parts.filled(markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML, mark what browsers would break badly, and let pictures be opened."""
    whole = parts.with_whole_formulas(parts.with_whole_words(mathematics.rendered(html)))
    return parts.with_pictures_that_open(parts.with_long_cells(whole))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Let the search of pages on the disk do without what the theme would fetch for it."""
    return output.replace(FETCHED, get_relative_url("worker.js", page.url))


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for pages that are no text of ours, such as the one for what was not found."""
    return output.replace(FETCHED, "worker.js")
