"""The documentation: Markdown files of ours, rendered on the server and sanitized.

Files stand in `frontend/docs/`; their first heading is the title, their number the order. A name
that is not a file of that folder is refused before any path is built.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import nh3
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs"
TITLE: Final = re.compile(r"^# +(.+)$", re.MULTILINE)
HEADING: Final = re.compile(r"<h([23])>(.*?)</h\1>", re.DOTALL)
DRAWING: Final = "svg"  # the language of a fenced block that is drawn instead of shown
TAGS: Final = (
    nh3.ALLOWED_TAGS
    | {"h1", "h2", "h3", "h4", "pre", "code", "table", "span"}
    | {"svg", "title", "desc", "g", "rect", "path", "text", "tspan", "defs", "marker"}
)
ATTRIBUTES: Final = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"class", "id"},
    "a": {"href", "title"},
    "svg": {"viewBox", "role", "aria-labelledby"},
    "rect": {"x", "y", "width", "height", "rx"},
    "text": {"x", "y", "text-anchor"},
    "tspan": {"x", "dy"},
    "path": {"d", "marker-end"},
    "marker": {"viewBox", "refX", "refY", "markerWidth", "markerHeight", "orient"},
}


class DocPage(NamedTuple):
    """A documentation page: its name in the address, title, and safe HTML."""

    name: str
    title: str
    html: str


@cache
def pages() -> tuple[DocPage, ...]:
    """Return every page in reading order."""
    found = []
    for path in sorted(FOLDER.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = TITLE.search(text)
        name = path.stem.partition("-")[2] or path.stem
        page = DocPage(name=name, title=title[1] if title else name, html=render(markdown=text))
        found.append(page)
    return tuple(found)


def render(*, markdown: str) -> str:
    """Turn Markdown into HTML without anything that runs."""
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable("table")
    clean = nh3.clean(parser.render(markdown), tags=TAGS, attributes=ATTRIBUTES)
    return HEADING.sub(_with_anchor, clean)


def _highlight(code: str, language: str, _attributes: str) -> str:
    if language == DRAWING:  # markdown-it wraps what does not begin with <pre
        return f'<pre class="drawing">{code}</pre>'
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    inner = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="hl"><code>{inner}</code></pre>'


def _with_anchor(match: re.Match[str]) -> str:
    text = re.sub(r"<[^>]+>", "", match[2]).lower()
    anchor = re.sub(r"[^a-z0-9_]+", "-", text).strip("-")
    return f'<h{match[1]} id="{anchor}">{match[2]}</h{match[1]}>'
