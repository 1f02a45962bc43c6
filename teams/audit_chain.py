"""The hash chain of the audit log: what is hashed, and what is wrong with a chain.

    h(0) = SHA-256("cairn audit genesis" | 0 | tenant id)
    h(n) = SHA-256("cairn audit entry" | 0 | C(n))

C(n) is every column of entry n, also its number n and h(n-1), as a JSON array in a fixed order of
columns with sorted keys, so two different entries never have one serialization. Each hash holds the
one before it, so nobody changes, removes, inserts or moves an entry without changing all hashes
after it (Haber and Stornetta 1991); the chain of one organization cannot pass for another's,
because it begins with its id. A chain that ends early still holds, so the head (count and last
hash) is kept apart from the entries and is compared with them (Schneier and Kelsey 1999). Whoever
may rewrite both can forge a chain; a head that was noted elsewhere (`mark`) still finds them.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

GENESIS: Final = b"cairn audit genesis\0"
ENTRY: Final = b"cairn audit entry\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Every column of an entry: who, what, when, from where, and its place in the chain."""

    number: int
    act: str
    object_type: str
    object_id: str
    actor_user: UUID | None
    token_id: UUID | None
    agent: str
    source_interface: str
    surface: str
    request_id: str
    address: str
    details: Mapping[str, Any]
    fields: tuple[str, ...]
    created_at: datetime
    previous_hash: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a chain ends: how many entries there are, and the hash of the last."""

    count: int
    hash: str


class FaultKind(StrEnum):
    """What happened to a chain."""

    EDITED = "edited"
    REMOVED = "removed"
    INSERTED = "inserted"
    REORDERED = "reordered"
    REPLACED = "replaced"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first bad entry, and what is wrong with it."""

    kind: FaultKind
    number: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How many entries hold, where the chain ended, and the first fault if there is one."""

    checked: int
    head: Head
    fault: Fault | None


def genesis(*, tenant_id: UUID) -> Head:
    """Return the head of an organization's empty chain."""
    return Head(count=0, hash=hashlib.sha256(GENESIS + tenant_id.bytes).hexdigest())


def digest(*, entry: Entry) -> str:
    """Return the hash that an entry must have, in hexadecimal.

    Raises TypeError for details that a database does not give back exactly as they were sent.
    """
    return hashlib.sha256(ENTRY + _canonical(entry)).hexdigest()


def linked(*, entry: Entry, after: Head) -> Entry:
    """Return the entry in its place behind a head. Raises TypeError like `digest`."""
    _check_exact(entry.details)
    placed = replace(entry, number=after.count + 1, previous_hash=after.hash)
    return replace(placed, hash=digest(entry=placed))


def head_of(*, entry: Entry) -> Head:
    """Return the head of the chain that ends with an entry."""
    return Head(count=entry.number, hash=entry.hash)


def verify(
    *,
    tenant_id: UUID,
    entries: Iterable[Entry],
    head: Callable[[], Head | None],
    mark: Head | None = None,
) -> Verdict:
    """Check all entries of a chain, in the order of their numbers, against its head.

    `head` is asked when the entries end, for they may grow meanwhile; None says that it is lost.
    `mark` is a head that was noted elsewhere.
    """
    end = genesis(tenant_id=tenant_id)
    for entry in entries:
        fault = _fault(entry, end, head, mark)
        if fault is not None:
            return Verdict(checked=end.count, head=end, fault=fault)
        end = head_of(entry=entry)
    return Verdict(checked=end.count, head=end, fault=_at_the_end(end, head(), mark))


def _fault(
    entry: Entry, end: Head, head: Callable[[], Head | None], mark: Head | None
) -> Fault | None:
    number = end.count + 1
    if entry.number < number:
        says = "its number does not belong to the chain"
        return Fault(FaultKind.INSERTED, entry.number, says)
    if entry.number > number:
        until = "" if entry.number == number + 1 else f", with all until {entry.number - 1}"
        return Fault(FaultKind.REMOVED, number, f"it is missing{until}")
    if digest(entry=entry) != entry.hash:
        return _changed(entry, head())
    if entry.previous_hash != end.hash:
        return _wrong_link(entry, end)
    if mark is not None and mark.count == entry.number and mark.hash != entry.hash:
        return Fault(FaultKind.REPLACED, entry.number, "the head that was noted names another one")
    return None


def _changed(entry: Entry, head: Head | None) -> Fault:
    """Say whether an entry was edited in its place, or is one that was written as another."""
    last = max(head.count if head else 0, entry.number)
    written = next(
        (
            number
            for number in range(1, last + 1)
            if digest(entry=replace(entry, number=number)) == entry.hash
        ),
        None,
    )
    if written is None:
        return Fault(FaultKind.EDITED, entry.number, "a column is not what was written")
    says = f"in its place stands what was written as entry {written}"
    kind = FaultKind.INSERTED if written < entry.number else FaultKind.REORDERED
    return Fault(kind, entry.number, says)


def _wrong_link(entry: Entry, end: Head) -> Fault:
    if end.count == 0:
        says = "it does not begin the chain of this organization"
        return Fault(FaultKind.REPLACED, entry.number, says)
    says = f"entry {entry.number} was written after another one; it or this was hashed anew"
    return Fault(FaultKind.REPLACED, end.count, says)


def _at_the_end(end: Head, head: Head | None, mark: Head | None) -> Fault | None:
    if head is None:
        return Fault(FaultKind.TRUNCATED, end.count + 1, "the head of the chain is lost")
    last = max(head.count, mark.count if mark else 0)
    if end.count < last:
        return Fault(FaultKind.TRUNCATED, end.count + 1, f"the end is missing, until {last}")
    if end.count > head.count:
        return Fault(FaultKind.INSERTED, head.count + 1, "the head of the chain does not know it")
    if end.hash != head.hash and end.count:
        return Fault(FaultKind.REPLACED, end.count, "the head of the chain names another one")
    return None


def _canonical(entry: Entry) -> bytes:
    """Write down an entry without its hash. The order of its fields must never change."""
    columns = [getattr(entry, field.name) for field in fields(entry) if field.name != "hash"]
    written = json.dumps(
        columns, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_as_text
    )
    return written.encode("ascii")


def _as_text(value: UUID | datetime) -> str:
    if isinstance(value, UUID):
        return value.hex
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def _check_exact(value: Any) -> None:
    """Raise TypeError unless a JSON column gives a value back as it was: 1e16 comes back whole."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_exact(key if isinstance(key, str) else object())
            _check_exact(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_exact(inner)
    elif value is not None and not isinstance(value, str | int):
        raise TypeError(f"Details hold texts, whole numbers and truths, no {type(value).__name__}.")
