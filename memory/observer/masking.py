"""Secrets are taken out of an event before anything is made of it (spec 4.1, 7.6).

An event is JSON of whatever shape an agent's harness gives it, so every text in it is looked at,
with the name of its field, because `password: …` says what `…` alone does not. What stands deeper
than any event does is cut off.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

DEEPEST: Final = 8  # levels of an event that are read, ours
MOST: Final = 400  # entries of one list or object that are read, ours
SHORTEST: Final = 6  # characters below which a text holds no secret, ours

PLAIN: Final = frozenset({  # names of fields that say nothing of what they hold
    "text", "content", "command", "path", "file_path", "pattern", "old_string", "new_string",
    "message", "kind", "type", "name", "call", "agent", "at", "outcome", "description",
})  # fmt: skip

IN_WORDS: Final = frozenset({"command", "cmd", "script"})  # some tools give a list of words

Redact = Callable[[str, str], str]  # of a field's telling name, or none, and its text


def masked(*, row: object, redact: Redact) -> object:
    """Return a row with each of its texts redacted; other values are as they were."""
    return _masked(row, redact, 0, "")


def _masked(value: object, redact: Redact, depth: int, name: str) -> object:
    if isinstance(value, str):
        told = "" if name in PLAIN else name
        return redact(told, value) if len(value) >= SHORTEST else value
    if isinstance(value, Mapping):
        return _of_object(value, redact, depth)
    if isinstance(value, list) and name in IN_WORDS:
        words = (word for word in value[:MOST] if isinstance(word, str))
        return redact("", " ".join(words))  # a secret follows the word that names it
    if isinstance(value, list | tuple):
        inner = value[:MOST] if depth < DEEPEST else ()
        return [_masked(one, redact, depth + 1, name) for one in inner]
    return value


def _of_object(value: Mapping[Any, object], redact: Redact, depth: int) -> dict[str, object]:
    if depth >= DEEPEST:
        return {}
    entries = list(value.items())[:MOST]
    return {str(name): _masked(one, redact, depth + 1, str(name)) for name, one in entries}
