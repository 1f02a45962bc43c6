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

from accounts import identifiers, queries, tenancy
from accounts.caller import Caller, is_person
from accounts.errors import CairnError, Forbidden, InvalidInput
from accounts.messages import message
from memory import taxonomy
from memory.customization import custom_type_rules
from memory.documents import file_formats
from memory.index.models import MemoryUsage
from memory.intake.actions import candidate
from memory.intake.validation import NewMemory
from memory.records import versions as kept_versions
from memory.records import writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import views
from memory.secrets import scanner
from teams import audit, permissions

CHOICES: Final[Mapping[str, type[StrEnum]]] = {
    "status": taxonomy.Status,
    "verification": taxonomy.Verification,
    "tier": taxonomy.Tier,
    "structure": taxonomy.Structure,
    "reach": taxonomy.Reach,
    "source": taxonomy.Source,
    "source_interface": taxonomy.SourceInterface,
}
KEPT: Final = tuple(
    name
    for name, (rule, _) in file_formats.FIELDS.items()
    if rule is file_formats.FieldRule.KEPT and name not in views.OF_USAGE
)
SENT: Final = (
    "type", "external_id", "scope", "pinned", "confidence", "reach", "phase", "methodology",
    "source", "source_uri", "source_hash", "source_line", "commit_sha",
    "thread", "session", "position",
)  # fmt: skip
OF_LINKS: Final = ("confidence", "automatic", "cosine", "description")
AT_ONCE: Final = 1_000  # rows of a statement
FAULTS: Final = (CairnError, ValidationError, ValueError, TypeError, KeyError)  # of a broken record
Record = Mapping[str, Any]
Restored = tuple[Record, Memory]  # a record that passed the checks, and its row, not saved yet


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredExport:
    """How many memories were restored, how many were known, and why others were refused."""

    added: int
    known: int
    refused: tuple[tuple[str, str], ...]


def restore_export(
    *, caller: Caller, project: str | None, records: tuple[Record, ...], now: datetime
) -> RestoredExport:
    """Restore records into a project, or into none where they had none.

    Raises Forbidden, NotFound for a project that is hidden.
    """
    permissions.require(caller=caller, act=permissions.Act.MANAGE_SETTINGS)
    if not is_person(caller=caller):
        raise Forbidden(
            detail="Only a person can restore memories from an export.",
            hint="Import the file: what it says waits for review then.",
        )
    refused: list[tuple[str, str]] = []
    drafted: list[tuple[Record, candidate.CheckedCandidate]] = []
    for record in map(file_formats.completed, records):
        try:
            _check_beside(record)
            new = NewMemory(
                **{name: record[name] for name in SENT},
                content=record["content"],
                project=project if record["project"] else None,
                team=record["team_id"],
                tags=tuple(record["tags"]),
                own_type=custom_type_rules.named(tags=record["tags"]),
                related_files=tuple(record["related_files"]),
                related_modules=tuple(record["related_modules"]),
                attributes=record["attributes"],
                event_at=file_formats.read_time(text=record["event_at"]),
            )
            drafted.append((record, candidate.check_candidate(caller=caller, new=new)))
        except FAULTS as error:
            refused.append((str(record.get("id", "")), scanner.without_secrets(text=str(error))))
    with tenancy.unit():
        people = _find_people(caller, tuple(record for record, _ in drafted))
        checked, unfit = _compose(caller, drafted, people, now)
        ids, new_ones = _find_known(checked)
        for start in range(0, len(new_ones), AT_ONCE):
            rows = tuple(row for _, row in new_ones[start : start + AT_ONCE])
            writes.insert_settled(caller=caller, rows=rows)
        _point_to_successors(checked, ids)
        _write_beside(new_ones, ids, people)
        if new_ones:
            audit.append(
                "memory.reinstated",
                "memory",
                str(new_ones[0][1].id),
                caller=caller,
                details={"memories": len(new_ones)},
            )
    return RestoredExport(
        added=len(new_ones), known=len(checked) - len(new_ones), refused=(*refused, *unfit)
    )


def _compose(
    caller: Caller,
    drafted: list[tuple[Record, candidate.CheckedCandidate]],
    people: frozenset[UUID],
    now: datetime,
) -> tuple[list[Restored], list[tuple[str, str]]]:
    """Make rows of records as they were, none saved; return also why others are refused."""
    checked: list[Restored] = []
    refused: list[tuple[str, str]] = []
    places: dict[tuple[Any, ...], candidate.Placement] = {}
    for record, draft in drafted:
        key = (draft.new.project, draft.new.scope, draft.new.team)
        try:
            where = places.get(key) or candidate.find_placement(caller=caller, new=draft.new)
            places[key] = where
            row = candidate.new_row(
                caller=caller, checked=draft, placement=where, surprise=0.5, now=now
            )
            _overwrite(row, record, people)
        except FAULTS as error:
            refused.append((str(record.get("id", "")), str(error)))
        else:
            checked.append((record, row))
    return checked, refused


def _check_beside(record: Record) -> None:
    """Check what is no field of a candidate: versions, timestamps, reasons, names.

    Raises InvalidInput, and ValueError for a timestamp that no row can hold.
    """
    for name in file_formats.TIMES:
        file_formats.read_time(text=record[name])
    for beside, name in ((file_formats.VERSIONS, "changed_at"), (file_formats.LINKS, "created_at")):
        for one in record[beside]:
            _time(one[name])
    for version in record[file_formats.VERSIONS]:
        kept_versions.check(fields=version["fields"])
    whole = "\n\n\n\n".join(file_formats.texts_in(value=record))
    found = scanner.fault_of(text=whole)
    if found:
        raise InvalidInput(detail=message("The record holds a secret: {kinds}", kinds=found))


def _overwrite(row: Memory, record: Record, people: frozenset[UUID]) -> None:
    """Give a new row the fields of its record. Raises for values that the columns do not take."""
    for name, choices in CHOICES.items():
        choices(record[name])
    if record["status"] == taxonomy.Status.DELETED:
        raise ValueError("what was deleted does not come back")
    for name in KEPT:
        value = record[name]
        setattr(
            row, name, file_formats.read_time(text=value) if name in file_formats.TIMES else value
        )
    author = identifiers.as_uuid(text=str(record["author_user"]))
    row.author_user = author if author in people else row.author_user
    for field in Memory._meta.concrete_fields:
        value = getattr(row, field.attname)
        if not field.is_relation and value not in field.empty_values:
            field.clean(value, row)


def _find_known(checked: list[Restored]) -> tuple[dict[str, UUID], list[Restored]]:
    """Return the new id of each old one, and those records that are not there yet. In a unit.

    A memory is known by its text and when it was made, an active one by its text alone.
    """
    stored: dict[tuple[Any, ...], UUID] = {}

    def keys(row: Memory) -> tuple[tuple[Any, ...], ...]:
        twin = (row.audience, row.project_id, row.content_hash)
        is_active = row.status == taxonomy.Status.ACTIVE
        return ((*twin, row.created_at), twin) if is_active else ((*twin, row.created_at),)

    hashes = {row.content_hash for _, row in checked}
    for row in Memory.objects.filter(content_hash__in=hashes).order_by("id"):
        for key in keys(row):
            stored.setdefault(key, row.id)
    ids: dict[str, UUID] = {}
    new = []
    for record, row in checked:
        known = next((stored[key] for key in keys(row) if key in stored), None)
        if known is None:
            new.append((record, row))
            own = keys(row)[:1] if row.type == taxonomy.MemoryType.EPISODE else keys(row)
            stored |= dict.fromkeys(own, row.id)
        ids[str(record["id"])] = known or row.id
    return ids, new


def _point_to_successors(checked: list[Restored], ids: Mapping[str, UUID]) -> None:
    """Let what was superseded name its successor. In a unit."""
    pointing = []
    for record, row in checked:
        successor = ids.get(str(record["superseded_by"]))
        if successor is not None and ids[str(record["id"])] == row.id:
            row.superseded_by_id = successor
            pointing.append(row)
    Memory.objects.bulk_update(pointing, ["superseded_by"], batch_size=AT_ONCE)


def _write_beside(new: list[Restored], ids: Mapping[str, UUID], people: frozenset[UUID]) -> None:
    """Write versions, links and uses of the memories that are new. In a unit."""
    versions = (one for record, row in new for one in _versions(record, row, people))
    MemoryVersion.objects.bulk_create(versions, batch_size=AT_ONCE)
    uses = (
        MemoryUsage(
            memory=row,
            access_count=record["access_count"],
            last_accessed_at=file_formats.read_time(text=record["last_accessed_at"]),
            given_count=record["given_count"],
            last_given_at=file_formats.read_time(text=record["last_given_at"]),
        )
        for record, row in new
        if record["access_count"]
    )
    MemoryUsage.objects.bulk_create(uses, batch_size=AT_ONCE)
    _write_links(new, ids)


def _write_links(new: list[Restored], ids: Mapping[str, UUID]) -> None:
    """Write links to memories that are known, one of a kind, with when each was made. In a unit."""
    links: dict[tuple[Any, ...], Record] = {
        (row.id, target, taxonomy.LinkKind(link["kind"]).value): link
        for record, row in new
        for link in record[file_formats.LINKS]
        if (target := ids.get(str(link["target"]))) not in {None, row.id}
    }
    made = (
        MemoryLink(source_id=source, target_id=target, kind=kind, **{n: link[n] for n in OF_LINKS})
        for (source, target, kind), link in links.items()
    )
    rows = MemoryLink.objects.bulk_create(made, AT_ONCE)
    for row, link in zip(rows, links.values(), strict=True):
        row.created_at = _time(link["created_at"])
    MemoryLink.objects.bulk_update(rows, ["created_at"], batch_size=AT_ONCE)


def _versions(record: Record, row: Memory, people: frozenset[UUID]) -> Iterator[MemoryVersion]:
    for version in record[file_formats.VERSIONS]:
        by = identifiers.as_uuid(text=str(version["changed_by"]))
        yield MemoryVersion(
            memory=row,
            number=version["number"],
            content=version["content"],
            fields={**version["fields"], "audience": str(row.audience)},
            reason=version["reason"],
            changed_by=by if by in people else None,
            changed_agent=version["changed_agent"],
            changed_at=_time(version["changed_at"]),
        )


def _time(text: Any) -> datetime:
    if found := file_formats.read_time(text=text):
        return found
    raise ValueError("a moment is missing")


def _find_people(caller: Caller, records: tuple[Record, ...]) -> frozenset[UUID]:
    """Return those people of the records who are in the organization."""
    named = {str(record.get("author_user")) for record in records}
    named |= {
        str(one.get("changed_by")) for record in records for one in record[file_formats.VERSIONS]
    }
    ids = {found for one in named if (found := identifiers.as_uuid(text=one)) is not None}
    return frozenset(ids.intersection(queries.people(caller=caller, ids=ids)))
