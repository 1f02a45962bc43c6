"""What was found in a text: kinds and places, and the text without it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from accounts.messages import Message, message

MOST_NAMED: Final = 20  # findings named in one message; default, not measured


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


def kinds(*, findings: tuple[Finding, ...]) -> tuple[SecretKind, ...]:
    """Return the kinds that were found, each once."""
    return tuple(dict.fromkeys(found.kind for found in findings))


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


def _with_replacements(
    text: str, findings: tuple[Finding, ...], written: Callable[[Finding], str]
) -> str:
    parts: list[str] = []
    done = 0
    for found in findings:
        parts += (text[done : found.start], written(found))
        done = found.end
    return "".join((*parts, text[done:]))
