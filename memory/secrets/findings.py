"""What was found in a text: kinds and places, and the text or the event without it."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from accounts.messages import Message, message

MOST_NAMED: Final = 20  # findings named in one message; default, not measured
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


class SecretKind(StrEnum):
    """What a finding looks like; shown to people and agents."""

    CAIRN_TOKEN = "cairn_token"  # noqa: S105  a name, not a password
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    AUTHORIZATION_HEADER = "authorization_header"
    JSON_WEB_TOKEN = "json_web_token"  # noqa: S105  a name, not a password
    VENDOR_KEY = "vendor_key"
    CHAT_BOT_TOKEN = "chat_bot_token"  # noqa: S105  a name, not a password
    ASSIGNED_SECRET = "assigned_secret"  # noqa: S105  a name, not a password
    SECRET_IN_PROSE = "secret_in_prose"  # noqa: S105  a name, not a password
    ENCODED_SECRET = "encoded_secret"  # noqa: S105  a name, not a password


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A secret's kind and place (indices into the text); never its value."""

    kind: SecretKind
    start: int
    end: int


def merge_overlaps(*, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in order and disjoint.

    What the text says plainly names the kind of a merged one, not what an encoding hides; of two at
    one place the kind of prose is the vaguer.
    """

    def order(one: Finding) -> tuple[int, int, bool]:
        return one.start, -one.end, one.kind is SecretKind.SECRET_IN_PROSE

    merged: list[Finding] = []
    for found in sorted(findings, key=order):
        if merged and found.start < merged[-1].end:
            last = merged[-1]
            kind = found.kind if last.kind is SecretKind.ENCODED_SECRET else last.kind
            merged[-1] = replace(last, kind=kind, end=max(last.end, found.end))
        else:
            merged.append(found)
    return tuple(merged)


def redact(*, text: str, findings: tuple[Finding, ...]) -> str:
    """Replace each finding by its kind in brackets, leaving the rest as it is."""
    in_order = merge_overlaps(findings=findings)
    return _with_replacements(text, in_order, lambda found: f"[redacted: {found.kind}]")


def leave_out(*, text: str, findings: tuple[Finding, ...]) -> str:
    """Return a text without what was found, for those who only want the words around it."""
    return " ".join(_with_replacements(text, findings, lambda _: " ").split())


def message_of(*, text: str, findings: tuple[Finding, ...]) -> Message:
    """Return the message that a text seems to hold secrets, with their kinds and places.

    Findings are in order; lines and columns are counted from 1.
    """
    named: list[Message] = []
    line, begins, seen = 1, 0, 0
    for found in findings[:MOST_NAMED]:
        line += text.count("\n", seen, found.start)
        begins = max(begins, text.rfind("\n", seen, found.start) + 1)
        seen, column = found.start, found.start - begins + 1
        named.append(
            message(
                "{kind} at line {line}, column {column}", kind=found.kind, line=line, column=column
            )
        )
    return message("The text holds what looks like a secret: {places}.", places=tuple(named))


def mask_texts(*, row: object, redact: Redact) -> object:
    """Return a row of an event with each of its texts redacted; other values are as they were.

    An event is JSON of whatever shape a harness gives it. What stands deeper than any event does is
    cut off. Of a text longer than any event keeps, only what is kept is looked through, with as
    much beyond the cut as a secret may reach.
    """
    return _masked(row, redact, 0, "")


def _masked(value: object, redact: Redact, depth: int, name: str) -> object:
    if isinstance(value, str):
        telling = "" if name in PLAIN else name
        return _redacted(value, redact, telling) if len(value) >= SHORTEST else value
    if isinstance(value, Mapping):
        entries = list(value.items())[:MOST] if depth < DEEPEST else []
        return {str(name): _masked(one, redact, depth + 1, str(name)) for name, one in entries}
    return _masked_list(value, redact, depth, name) if isinstance(value, list | tuple) else value


def _masked_list(
    value: list[object] | tuple[object, ...], redact: Redact, depth: int, name: str
) -> object:
    if isinstance(value, list) and name in IN_WORDS:
        words = (word for word in value[:MOST] if isinstance(word, str))
        return _redacted(" ".join(words), redact, "")  # a secret follows the word that names it
    inner = value[:MOST] if depth < DEEPEST else ()
    return [_masked(one, redact, depth + 1, name) for one in inner]


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


def _with_replacements(
    text: str, findings: tuple[Finding, ...], written: Callable[[Finding], str]
) -> str:
    parts: list[str] = []
    done = 0
    for found in findings:
        parts += (text[done : found.start], written(found))
        done = found.end
    return "".join((*parts, text[done:]))
