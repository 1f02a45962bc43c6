"""What a version keeps of a memory beside its text, and what of it comes back.

Who saw a memory is kept and does not come back: that is moved by hand. What people vouched for
comes back with the words that they vouched for.

A memory whose statement is gone from its note is stale, or waits for a person where an agent may
not make it so; its reason says which. Once somebody has decided, or its words are others, it stands
without the statement: its coming back then ends no wait.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.taxonomy import Verification

BROUGHT_BACK: Final = (
    "type", "tags", "related_files", "related_modules", "attributes", "pinned", "external_id",
)  # fmt: skip
VOUCHED: Final = ("user_verified", "verification", "verified_at")
STATED: Final = "stated_at"  # comes back with its words, which are not new then
KEPT: Final = ("scope", *BROUGHT_BACK, *VOUCHED, STATED)
GONE: Final = "its statement is no longer in the note"
REMOVED: Final = "its note was removed"
HELD: Final = "its statement is gone"  # of what a person must look at
STANDS: Final = "it stands without its statement"
WITHOUT: Final = frozenset({GONE, REMOVED, HELD, STANDS})


def plain(*, value: Any) -> Any:
    """Return the value of a field as JSON keeps it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return [plain(value=one) for one in value] if isinstance(value, list) else value


def vouched(*, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what people vouched for of a version, as far as it keeps that. Raises ValueError."""
    found = {name: fields[name] for name in VOUCHED if name in fields}
    if found.get("verified_at") is not None:
        found["verified_at"] = datetime.fromisoformat(found["verified_at"])
    return found


def stated_at(*, fields: Mapping[str, Any]) -> datetime | None:
    """Return when the words of a version were stated, as far as it keeps that. Raises ValueError.

    Versions of before that was kept, and of rows that do not know it, have none.
    """
    text = fields.get(STATED)
    return None if text is None else datetime.fromisoformat(text)


def check(*, fields: Any) -> None:
    """Return where a version of a file can be gone back to. Raises ValueError, TypeError."""
    if not isinstance(fields, Mapping):
        raise TypeError("a version names its fields")
    for name in ("pinned", "user_verified"):
        if not isinstance(fields.get(name, False), bool):
            raise TypeError(f"{name} of a version is neither true nor false")
    if not isinstance(fields.get("external_id", ""), str):
        raise TypeError("external_id of a version is no text")
    Verification(fields.get("verification", Verification.UNVERIFIED))
    times = {
        "verified_at": vouched(fields=fields).get("verified_at"),
        STATED: stated_at(fields=fields),
    }
    for name, seen in times.items():
        if seen is not None and seen.tzinfo is None:
            raise ValueError(f"{name} of a version names no time zone")


def kept_reason(*, reason: str, in_person: bool) -> str:
    """Return the reason that stands once a memory was kept; a token ends a wait, no staleness."""
    ended = {GONE, REMOVED, HELD} if in_person else {HELD}
    return STANDS if reason in ended else reason
