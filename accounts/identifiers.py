"""Identifiers: UUIDv7 (RFC 9562), so that keys sort by the time they were made."""

from uuid import UUID

import uuid_utils.compat


def new_id() -> UUID:
    """Return a new time-ordered UUID."""
    return uuid_utils.compat.uuid7()


def as_uuid(*, text: str) -> UUID | None:
    """Return a reference as an id, None when it is a name."""
    try:
        return UUID(text)
    except ValueError:
        return None
