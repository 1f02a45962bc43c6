"""The words of a line of Markdown: emphasis dropped, code and addresses kept.

A memory is read by people and agents outside of its page, so an address stays beside its text, and
a link inside the page, an image or a piece of HTML says nothing.
"""

import re
from collections.abc import Sequence

from markdown_it.token import Token

_ADDRESS = re.compile(r" \([^\s()]*/[^\s()]*\)")
_SPACES = re.compile(r"\s+")
_BREAKS = frozenset({"softbreak", "hardbreak"})


def plain(*, tokens: Sequence[Token]) -> str:
    """Return the text of inline tokens in one line; empty when it only leads about the page."""
    parts: list[str] = []
    targets: list[tuple[str, int]] = []
    only_inside = bool(tokens)
    for token in tokens:
        if token.type == "link_open":
            targets.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            target, start = targets.pop()
            parts.append(_address(target, "".join(parts[start:])))
            only_inside = only_inside and target.startswith("#")
        else:
            text = _text(token)
            parts.append(text)
            only_inside = only_inside and (bool(targets) or not text.strip(" |•·-"))
    return "" if only_inside else _SPACES.sub(" ", "".join(parts)).strip()


def run_in(*, tokens: Sequence[Token]) -> str:
    """Return the bold words that open a paragraph and end like a heading; empty when none do."""
    shown = [token for token in tokens if token.type != "text" or token.content]
    if not shown or shown[0].type != "strong_open":
        return ""
    end = next(i for i, token in enumerate(shown) if token.type == "strong_close")
    words = plain(tokens=shown[1:end])
    after = "".join(_text(token) for token in shown[end + 1 :]).lstrip()
    is_heading = words.endswith((".", ":")) or after.startswith((":", "\u2013", "\u2014"))
    return words if after and is_heading else ""


def without_addresses(*, text: str) -> str:
    """Drop the addresses that `plain` put in parentheses."""
    return _ADDRESS.sub("", text)


def _text(token: Token) -> str:
    if token.type in {"text", "text_special"}:
        return token.content
    if token.type == "code_inline":
        return f"`{token.content}`"
    return " " if token.type in _BREAKS else ""


def _address(target: str, shown: str) -> str:
    is_inside = target.startswith("#") or not target
    return "" if is_inside or not shown.strip() or target in shown else f" ({target})"
