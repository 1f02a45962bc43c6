"""The paths that a `use` of Rust names: its tree of braces, unfolded.

`a::{b, c::{self, d as e}, f::*}` names `a::b`, `a::c`, `a::c::d` (known as `e`) and all of `a::f`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_PATHS = 1_000  # of one declaration
_WORD = re.compile(r"(?:r#)?[\w$]+|::|[{},*]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One named path: its segments, and what its last one is called here."""

    segments: tuple[str, ...]
    local: str


def unfold(*, text: str) -> tuple[Use, ...]:
    """Return the paths of a declaration's tree in their order; its last segment may be `*`."""
    found: list[Use] = []
    stack: list[tuple[str, ...]] = []
    segments: tuple[str, ...] = ()
    alias = ""
    words = _words(text)
    for word in words:
        if word == "as":
            alias = next(words, "")
        elif word == "{":
            stack.append(segments)
        elif word in {"}", ","}:
            shared = stack[-1] if stack else ()
            found.extend(_use(segments, alias) if len(segments) > len(shared) else ())
            segments, alias = shared, ""
            if word == "}":
                segments = _closed(stack)
        else:
            segments = (*segments, word)
        if len(found) >= MOST_PATHS or len(segments) > MOST_PATHS:
            return tuple(found)
    return (*found, *_use(segments, alias))


def _words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if word != "::")


def _closed(stack: list[tuple[str, ...]]) -> tuple[str, ...]:
    if stack:
        stack.pop()
    return ()  # a comma follows, or another closing brace: nothing is left to be named


def _use(segments: tuple[str, ...], alias: str) -> Iterator[Use]:
    if segments[-1:] == ("self",) and len(segments) > 1:
        segments = segments[:-1]
    if segments:
        yield Use(segments=segments, local=alias or segments[-1])
