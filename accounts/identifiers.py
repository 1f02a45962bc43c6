"""Identifiers: UUIDv7 (RFC 9562), peers, names that people choose, and addresses made of them.

Keys sort by the time they were made. An address is the part after /o/.
"""

import ipaddress
import re
import unicodedata
from typing import Final
from uuid import UUID

import uuid_utils.compat

from accounts.errors import wrong_field
from accounts.messages import message


def new_id() -> UUID:
    """Return a new time-ordered UUID."""
    return uuid_utils.compat.uuid7()


def as_uuid(*, text: str) -> UUID | None:
    """Return a reference as an id, None when it is a name."""
    try:
        return UUID(text)
    except ValueError:
        return None


def as_ip(*, text: str) -> str:
    """Return the address of a peer as canonical text, empty when it is none."""
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return ""


NAME_LENGTH: Final = 100  # characters, the column's
SLUG_LENGTH: Final = 48
SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?\Z")
NOT_IN_SLUG: Final = re.compile(r"[^a-z0-9]+")
RESERVED: Final = frozenset({"new"})  # addresses the product uses itself
NAMELESS: Final = "team"


def checked_name(name: str, *, pointer: str = "/name", most: int = NAME_LENGTH) -> str:
    """Return a name without surrounding space. Raises InvalidInput pointing at it."""
    stripped = name.strip()
    if 0 < len(stripped) <= most and stripped.isprintable():
        return stripped
    detail = message("The name needs 1 to {most} printable characters.", most=most)
    raise wrong_field(pointer=pointer, detail=detail)


def checked_slug(slug: str) -> str:
    """Return an address part that can be used. Raises InvalidInput pointing at /slug."""
    if SLUG.match(slug) and slug not in RESERVED:
        return slug
    detail = message(
        "The address needs 1 to {most} lower-case letters, digits and inner hyphens.",
        most=SLUG_LENGTH,
    )
    raise wrong_field(pointer="/slug", detail=detail)


def slug_from(*, name: str, attempt: int) -> str:
    """Return the address made of a name: `ada` at the first attempt, `ada-2` at the second."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = NOT_IN_SLUG.sub("-", plain).strip("-") or NAMELESS
    if attempt == 1 and stem not in RESERVED:
        return stem[:SLUG_LENGTH].strip("-")
    ending = f"-{attempt}"
    return stem[: SLUG_LENGTH - len(ending)].strip("-") + ending
