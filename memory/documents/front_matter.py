"""The lines between `---` at the head of a note: names with texts or lists (Obsidian, Jekyll).

Only what notes really hold is read: `name: value`, `name: [a, b]`, and a name followed by lines
with dashes. That needs no YAML, whose anchors and tags are a way to blow a reader up. A value that
is JSON is read as JSON, since our own Markdown writes it so.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LONGEST: Final = 2_000_000  # characters looked through for the end; an own memory has its versions
MOST_ITEMS: Final = 1_000  # of one list, ours
_OPEN: Final = re.compile(r"\A---[ \t]*\n")
_CLOSE: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_PAIR: Final = re.compile(r"\A([A-Za-z_][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?\Z")
_ITEM: Final = re.compile(r"\A[ \t]*-[ \t]+(.*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note: what stands at its head, its body, and the line on which the body begins."""

    fields: Mapping[str, Any]
    body: str
    first_line: int


def read(*, text: str) -> Note:
    """Split a note; without a head, the body is everything."""
    opened = _OPEN.match(text)
    closed = _CLOSE.search(text, opened.end(), opened.end() + LONGEST) if opened else None
    if opened is None or closed is None:
        return Note(fields={}, body=text, first_line=1)
    head = text[opened.end() : closed.start()]
    return Note(
        fields=_fields(head),
        body=text[closed.end() :],
        first_line=text.count("\n", 0, closed.end()) + 1,
    )


def _fields(head: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    for line in head.split("\n"):
        pair = _PAIR.match(line)
        item = _ITEM.match(line)
        if pair is not None:
            name = pair[1].strip().lower()
            found[name] = _value((pair[2] or "").strip())
        elif item is not None and name:
            if not isinstance(found[name], list):
                found[name] = []
            if len(found[name]) < MOST_ITEMS:
                found[name].append(_unquoted(item[1].strip()))
    return found


def _value(text: str) -> Any:
    if text[:1] in {"[", "{", '"'}:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return _listed(text)
    return _unquoted(text)


def _listed(text: str) -> Any:
    """Return `[a, b]` as a list; anything else stays the text it is."""
    if not (text.startswith("[") and text.endswith("]")) or text.startswith("[["):
        return text
    return [_unquoted(part.strip()) for part in text[1:-1].split(",") if part.strip()]


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text
