"""Restore our own export as it was: states, times, trust, versions and links.

An import puts what a file says before people; this believes the file. So it is for who manages the
organization, in person. Every text is still checked and scanned for secrets. Ids
are new ones, and what pointed to an old one points to the new. Done twice, it adds nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import CairnError, Forbidden, InvalidInput
from accounts.identifiers import as_uuid
from accounts.messages import message
from accounts.queries import directory
from memory.customization import custom_type_rules
from memory.documents.formats import cairn
from memory.documents.formats.cairn import FieldRule
from memory.index.actions import embedding
from memory.index.models import MemoryUsage
from memory.index.sql import search_rows
from memory.intake.actions import candidate
from memory.intake.actions.candidate import CheckedCandidate, Placement
from memory.intake.validation import NewMemory
from memory.records import writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.versions import check as check_version
from memory.secrets import scanner
from memory.taxonomy import (
    LinkKind,
    Reach,
    Source,
    SourceInterface,
    Status,
    Structure,
    Tier,
    Verification,
)
from teams import audit
from teams.permissions import Act, require

CHOICES: Final[Mapping[str, type[StrEnum]]] = {
    "status": Status,
    "verification": Verification,
    "tier": Tier,
    "structure": Structure,
    "reach": Reach,
    "source": Source,
    "source_interface": SourceInterface,
}
OF_USAGE: Final = frozenset({"access_count", "last_accessed_at"})
KEPT: Final = tuple(
    name
    for name, (rule, _) in cairn.FIELDS.items()
    if rule is FieldRule.KEPT and name not in OF_USAGE
)
SENT: Final = (
    "type", "external_id", "scope", "pinned", "confidence", "reach", "phase", "methodology",
    "source", "source_uri", "source_hash", "source_line", "commit_sha",
)  # fmt: skip
AT_ONCE: Final = 1_000
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredExport:
    """How many memories were restored, how many were known, and why others were refused."""

    added: int
    known: int
    refused: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRecord:
    """A record that passed the checks: where it goes, and its row, which is not saved yet."""

    record: Record
    row: Memory


def restore_export(
    *, caller: Caller, project: str | None, records: tuple[Record, ...], now: datetime
) -> RestoredExport:
    """Restore records into a project, or into none where they had none.

    Raises Forbidden, NotFound for a project that is hidden.
    """
    require(caller=caller, act=Act.MANAGE_SETTINGS)
    if not is_person(caller=caller):
        raise Forbidden(
            detail="Only people bring memories back as they were.",
            hint="Import the file: what it says waits for review then.",
        )
    refused: list[tuple[str, str]] = []
    drafted = tuple(_drafted(caller, project, records, refused))
    with tenancy.unit():
        checked = tuple(_placed(caller, drafted, refused, now))
        ids, new = _known(checked)
        _insert(caller, new)
        _point(checked, ids)
        _write_beside(caller, checked, {one.row.id for one in new}, ids)
        if new:
            details = {"memories": len(new)}
            audit.append(
                act="memory.reinstated",
                object_type="memory",
                object_id=str(new[0].row.id),
                caller=caller,
                details=details,
            )
    return RestoredExport(added=len(new), known=len(checked) - len(new), refused=tuple(refused))


def _drafted(
    caller: Caller, project: str | None, records: tuple[Record, ...], refused: list[tuple[str, str]]
) -> Iterator[tuple[Record, CheckedCandidate]]:
    for record in records:
        try:
            _check_texts(record)
            yield record, candidate.check_candidate(caller=caller, new=_new(record, project))
        except (CairnError, ValueError, TypeError, KeyError) as error:
            refused.append((str(record.get("id", "")), scanner.without_secrets(text=str(error))))


def _check_texts(record: Record) -> None:
    """Check what is no field of a candidate: versions, moments, reasons, names.

    Raises InvalidInput, and ValueError for a moment that no row can hold.
    """
    for name in cairn.TIMES:
        cairn.read_time(text=record[name])
    for beside, name in ((cairn.VERSIONS, "changed_at"), (cairn.LINKS, "created_at")):
        for one in record[beside]:
            _time(one[name])
    for version in record[cairn.VERSIONS]:
        check_version(fields=version["fields"])
    whole = "\n\n\n\n".join(cairn.texts_in(value=record))
    found = scanner.fault_of(text=whole)
    if found:
        raise InvalidInput(detail=message("The record holds a secret: {kinds}", kinds=found))


def _new(record: Record, project: str | None) -> NewMemory:
    return NewMemory(
        **{name: record[name] for name in SENT},
        content=record["content"],
        project=project if record["project"] else None,
        team=record["team_id"],
        tags=tuple(record["tags"]),
        own_type=custom_type_rules.named(tags=record["tags"]),
        related_files=tuple(record["related_files"]),
        related_modules=tuple(record["related_modules"]),
        attributes=record["attributes"],
        event_at=cairn.read_time(text=record["event_at"]),
    )


def _placed(
    caller: Caller,
    drafted: tuple[tuple[Record, CheckedCandidate], ...],
    refused: list[tuple[str, str]],
    now: datetime,
) -> Iterator[CheckedRecord]:
    people = _people(caller, tuple(record for record, _ in drafted))
    places: dict[tuple[Any, ...], Placement] = {}
    for record, draft in drafted:
        key = (draft.new.project, draft.new.scope, draft.new.team)
        try:
            where = places.get(key) or candidate.find_placement(caller=caller, new=draft.new)
            places[key] = where
            row = candidate.new_row(
                caller=caller, checked=draft, placement=where, surprise=0.5, now=now
            )
            _overwrite(row, record, people)
        except (CairnError, ValidationError, ValueError, TypeError, KeyError) as error:
            refused.append((str(record.get("id", "")), str(error)))
            continue
        yield CheckedRecord(record=record, row=row)


def _overwrite(row: Memory, record: Record, people: frozenset[UUID]) -> None:
    """Give a new row the fields of its record. Raises for values that the columns do not take."""
    for name, choices in CHOICES.items():
        choices(record[name])
    if record["status"] == Status.DELETED:
        raise ValueError("what was deleted does not come back")
    for name in KEPT:
        value = record[name]
        setattr(row, name, cairn.read_time(text=value) if name in cairn.TIMES else value)
    author = as_uuid(text=str(record["author_user"]))
    row.author_user = author if author in people else row.author_user
    for field in Memory._meta.concrete_fields:
        value = getattr(row, field.attname)
        if not field.is_relation and value not in field.empty_values:
            field.clean(value, row)


def _known(checked: tuple[CheckedRecord, ...]) -> tuple[dict[str, UUID], tuple[CheckedRecord, ...]]:
    """Return the new id of each old one, and those records that are not there yet. In a unit."""
    hashes = {one.row.content_hash for one in checked}
    stored: dict[tuple[Any, ...], UUID] = {}
    for row in Memory.objects.filter(content_hash__in=hashes).order_by("id"):
        stored.setdefault(_identity(row), row.id)
        if row.status == Status.ACTIVE:
            stored.setdefault(_twin(row), row.id)
    ids: dict[str, UUID] = {}
    new = []
    for one in checked:
        is_active = one.row.status == Status.ACTIVE
        known = stored.get(_identity(one.row)) or (
            stored.get(_twin(one.row)) if is_active else None
        )
        if known is None:
            new.append(one)
            stored[_identity(one.row)] = one.row.id
            if is_active and one.row.type != "episode":
                stored[_twin(one.row)] = one.row.id
        ids[str(one.record["id"])] = known or one.row.id
    return ids, tuple(new)


def _identity(row: Memory) -> tuple[Any, ...]:
    return (row.audience, row.project_id, row.content_hash, row.created_at)


def _twin(row: Memory) -> tuple[Any, ...]:
    return (row.audience, row.project_id, row.content_hash)


def _insert(caller: Caller, new: tuple[CheckedRecord, ...]) -> None:
    for start in range(0, len(new), AT_ONCE):
        rows = tuple(one.row for one in new[start : start + AT_ONCE])
        writes.insert(caller=caller, rows=rows)
        ids = tuple(row.id for row in rows)
        search_rows.sync_filters(memory_ids=ids)
        layers = {row.id: row.governance for row in rows}
        embedding.enqueue(layers=layers, name="memory.embed_bulk", created_by=caller.user_id)


def _point(checked: tuple[CheckedRecord, ...], ids: Mapping[str, UUID]) -> None:
    """Let what was superseded name its successor. In a unit."""
    pointing = []
    for one in checked:
        successor = ids.get(str(one.record["superseded_by"]))
        if successor is not None and ids[str(one.record["id"])] == one.row.id:
            one.row.superseded_by_id = successor
            pointing.append(one.row)
    Memory.objects.bulk_update(pointing, ["superseded_by"], batch_size=AT_ONCE)


def _write_beside(
    caller: Caller, checked: tuple[CheckedRecord, ...], new: set[UUID], ids: Mapping[str, UUID]
) -> None:
    """Write versions, links and uses of the memories that are new. In a unit."""
    people = _people(caller, tuple(one.record for one in checked))
    fresh = tuple(one for one in checked if one.row.id in new)
    versions = (version for one in fresh for version in _versions(one, people))
    MemoryVersion.objects.bulk_create(versions, batch_size=AT_ONCE)
    MemoryUsage.objects.bulk_create(_uses(fresh), batch_size=AT_ONCE)
    links = {
        (link.source_id, link.target_id, link.kind): (link, made_at)
        for one in fresh
        for link, made_at in _links(one, ids)
    }
    rows = MemoryLink.objects.bulk_create((link for link, _ in links.values()), AT_ONCE)
    for row, (_, made_at) in zip(rows, links.values(), strict=True):
        row.created_at = made_at
    MemoryLink.objects.bulk_update(rows, ["created_at"], batch_size=AT_ONCE)


def _versions(one: CheckedRecord, people: frozenset[UUID]) -> Iterator[MemoryVersion]:
    for version in one.record[cairn.VERSIONS]:
        by = as_uuid(text=str(version["changed_by"]))
        yield MemoryVersion(
            memory=one.row,
            number=version["number"],
            content=version["content"],
            fields={**version["fields"], "audience": str(one.row.audience)},
            reason=version["reason"],
            changed_by=by if by in people else None,
            changed_agent=version["changed_agent"],
            changed_at=_time(version["changed_at"]),
        )


def _uses(fresh: tuple[CheckedRecord, ...]) -> Iterator[MemoryUsage]:
    for one in fresh:
        if one.record["access_count"]:
            yield MemoryUsage(
                memory=one.row,
                access_count=one.record["access_count"],
                last_accessed_at=cairn.read_time(text=one.record["last_accessed_at"]),
            )


def _links(one: CheckedRecord, ids: Mapping[str, UUID]) -> Iterator[tuple[MemoryLink, datetime]]:
    for link in one.record[cairn.LINKS]:
        target = ids.get(str(link["target"]))
        if target is None or target == one.row.id:
            continue
        row = MemoryLink(
            source=one.row,
            target_id=target,
            kind=LinkKind(link["kind"]).value,
            confidence=link["confidence"],
            automatic=link["automatic"],
            cosine=link["cosine"],
            description=link["description"],
        )
        yield row, _time(link["created_at"])


def _time(text: Any) -> datetime:
    found = cairn.read_time(text=text)
    if found is None:
        raise ValueError("a moment is missing")
    return found


def _people(caller: Caller, records: tuple[Record, ...]) -> frozenset[UUID]:
    """Return those people of the records who are in the organization."""
    told = {str(record.get("author_user")) for record in records}
    told |= {str(one.get("changed_by")) for record in records for one in record[cairn.VERSIONS]}
    ids = {found for one in told if (found := as_uuid(text=one)) is not None}
    return frozenset(directory.people(caller=caller, ids=ids)) if ids else frozenset()
