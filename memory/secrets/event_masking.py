"""Secrets are taken out of an event before anything is made of it.

An event is JSON of whatever shape an agent's harness gives it, so every text in it is looked at,
with the name of its field, because `password: …` says what `…` alone does not. What stands deeper
than any event does is cut off. Of a text that is longer than any event keeps, only what is kept of
it is looked through, with as much beyond the cut as a secret may reach; between the two stands what
tells it apart from other texts, as long as what it replaces.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

DEEPEST: Final = 8  # levels of an event that are read; default
MOST: Final = 400  # entries of one list or object that are read; default
SHORTEST: Final = 6  # characters below which a text holds no secret; default

BEYOND: Final = 10_000  # characters behind a cut in which a secret may end; default
HEAD: Final = 12_000 + BEYOND  # characters of a long text that are looked through, as it is cut
TAIL: Final = 4_000 + BEYOND  # and of its end

PLAIN: Final = frozenset({  # names of fields that say nothing of what they hold
    "text", "content", "command", "path", "file_path", "pattern", "old_string", "new_string",
    "message", "kind", "type", "name", "call", "agent", "at", "outcome", "description",
})  # fmt: skip

IN_WORDS: Final = frozenset({"command", "cmd", "script"})  # some tools give a list of words

Redact = Callable[[str, str], str]  # of a field's telling name, or none, and its text


def mask_texts(*, row: object, redact: Redact) -> object:
    """Return a row with each of its texts redacted; other values are as they were."""
    return _masked(row, redact, 0, "")


def _masked(value: object, redact: Redact, depth: int, name: str) -> object:
    if isinstance(value, str):
        telling = "" if name in PLAIN else name
        return _redacted(value, redact, telling) if len(value) >= SHORTEST else value
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return _of_object(value, redact, depth)
    if isinstance(value, list) and name in IN_WORDS:
        words = (word for word in value[:MOST] if isinstance(word, str))
        return _redacted(" ".join(words), redact, "")  # a secret follows the word that names it
    if isinstance(value, list | tuple):
        inner = value[:MOST] if depth < DEEPEST else ()
        return [_masked(one, redact, depth + 1, name) for one in inner]
    return value


def _redacted(text: str, redact: Redact, name: str) -> str:
    """Return a text without secrets; what is cut out of a long one anyway is not looked through.

    What stands beside the gap goes with it, because a secret may be halved there.
    """
    if len(text) <= HEAD + TAIL:
        return redact(name, text)
    head = redact(name, text[:HEAD])[:-BEYOND]
    tail = redact(name, text[-TAIL:])[BEYOND:]
    gap = hashlib.blake2b(text[HEAD:-TAIL].encode("utf-8", "replace"), digest_size=16).hexdigest()
    return f"{head}{gap.ljust(len(text) - len(head) - len(tail))}{tail}"


def _of_object(value: Mapping[Any, object], redact: Redact, depth: int) -> dict[str, object]:
    if depth >= DEEPEST:
        return {}
    entries = list(value.items())[:MOST]
    return {str(name): _masked(one, redact, depth + 1, str(name)) for name, one in entries}
