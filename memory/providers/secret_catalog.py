"""The rules of Kingfisher about the keys of 400 services, and our own beside them (spec 7.6).

Everything is done in this process; whether a key still opens anything is never tried, for that
would send it away. Reading the rules takes a second, and ten the first time, so a server does it
when it starts (`prepare`) and the compiled rules are kept on the disk.
"""

import logging
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from memory.intake import secrets
from memory.intake.secret_rules import Match, SecretKind
from memory.intake.secrets import Finding

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

log = logging.getLogger(__name__)

CONFIDENCE: Final = "medium"  # of the catalog's rules: those that need no guess
ADDRESS_RULE: Final = "betterleaks.generic-credential-uri"  # what our own does for addresses


def find_secrets(*, text: str) -> tuple[Finding, ...]:
    """Find what looks like a secret, in order."""
    return secrets.find(text=text, catalog=_catalog)


def kind_of(*, text: str) -> str:
    """Return the kind of the first secret in a text, empty when there is none."""
    return next((found.kind.value for found in find_secrets(text=text)), "")


def without_secrets(*, text: str) -> str:
    """Return a text with each secret replaced by its kind in brackets."""
    return secrets.redact(text=text, findings=find_secrets(text=text))


def prepare() -> None:
    """Read the rules, so that the first write need not wait for it."""
    _scanner()


def _catalog(text: str) -> Iterator[Match]:
    written = text.encode("utf-8", errors="replace")
    for found in _scanner().scan(written):
        if not found.visible or found.rule_id == ADDRESS_RULE:
            continue
        start, end = found.location["start_offset"], found.location["end_offset"]
        yield Match(
            kind=SecretKind.VENDOR_KEY,
            start=_characters(text, written, start),
            end=_characters(text, written, end),
        )


def _characters(text: str, written: bytes, offset: int) -> int:
    """Return the character at which a byte of the written text stands."""
    if len(text) == len(written):
        return offset
    return len(written[:offset].decode("utf-8", errors="replace"))


@cache
def _scanner() -> "Scanner":
    from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  36 MB that a start need not read

    rules = Rules(confidence=CONFIDENCE)
    log.info("Rules about secrets: %d, cache %s", len(rules), rules.cache_status)
    return Scanner(rules, base64=False, redact=True)
