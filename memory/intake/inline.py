"""The words of a line of Markdown: emphasis dropped, code and addresses kept (spec 8.3).

A memory is read by people and agents outside of its page, so an address stays beside its text, and
a link inside the page, an image or a piece of HTML says nothing.
"""

import re
from collections.abc import Sequence

from markdown_it.token import Token

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


def _text(token: Token) -> str:
    if token.type in {"text", "text_special"}:
        return token.content
    if token.type == "code_inline":
        return f"`{token.content}`"
    return " " if token.type in _BREAKS else ""


def _address(target: str, shown: str) -> str:
    is_told = not shown or target in shown or shown.strip("`") in target
    if target.startswith("#") or not target:
        return ""
    if target.startswith(("http://", "https://")):
        return f" ({target})" if shown and target not in shown else ""
    return "" if is_told else f" ({target})"
