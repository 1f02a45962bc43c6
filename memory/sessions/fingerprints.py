"""Errors told apart by what stays the same when they happen again.

The line that names the error is found, and what changes from run to run is taken out of it:
numbers, addresses, quoted values, paths. What is left, with the program that said it, is hashed.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

MESSAGE_MOST: Final = 240  # characters kept of the line, ours
LINE_MOST: Final = 500  # characters looked at of a line, ours
LINES_MOST: Final = 400  # of an output, from its end, ours
_NAMED: Final = re.compile(
    r"\b[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b(?::|\Z)|\A(?:E  |panic:)"
)
_SAID: Final = re.compile(
    r"error|fatal|failed|failure|not found|no such|denied|refused|cannot|timed? ?out|unable"
    r"|invalid|conflict",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)*|\"[^\"]*\"|'[^']*'|`[^`]*`|(?:[\w.~-]*/)+[\w.-]+",
    re.IGNORECASE,
)
_COUNTED_FAILURES: Final = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?)\b|^(?:FAIL|FAILED|--- FAIL)\b"
    r"|\bTests?:\s+[1-9]\d* failed",
    re.MULTILINE,
)
_EXIT: Final = re.compile(
    r"\A\s*(?:Error: )?(?:Command failed.{0,40})?[Ee]xit(?:ed with)?(?: code| status)?:? [1-9]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What an error is recognized by, and the line that names it."""

    digest: str
    message: str


NOTHING: Final = Fingerprint(digest="", message="")


def of(*, program: str, text: str) -> Fingerprint:
    """Return the fingerprint of an error's output; an empty output has one too."""
    message = _line(text)
    constant = _VARIABLE.sub("#", message).lower()
    digest = hashlib.blake2b(f"{program}\0{constant}".encode(), digest_size=8).hexdigest()
    return Fingerprint(digest=digest, message=message)


def says_failure(*, text: str, is_test: bool) -> bool:
    """Say whether an output tells of failure by its exit code or by the count of failed tests."""
    if _EXIT.match(text) is not None:
        return True
    return is_test and _COUNTED_FAILURES.search(text) is not None


def _line(text: str) -> str:
    """Return the last line that names an error, or the first that speaks of one, or the first."""
    lines = [line.strip()[:LINE_MOST] for line in text.splitlines()[-LINES_MOST:]]
    lines = [line for line in lines if line]
    named = next((line for line in reversed(lines) if _NAMED.search(line)), None)
    chosen = named or next((line for line in lines if _SAID.search(line)), None)
    return (chosen or (lines[0] if lines else ""))[:MESSAGE_MOST]
