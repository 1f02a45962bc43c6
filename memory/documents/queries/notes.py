"""Notes: documents that memories come from, each with its memories line by line."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.documents import statements as documents
from memory.documents.candidates import DocumentCandidate
from memory.documents.formats import markdown_notes
from memory.documents.models import NoteVersion
from memory.records.models import Memory
from memory.records.queries.views import MemoryView, countable, views_of
from memory.taxonomy import Scope, Source, Status
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
MOST_READ: Final = 10  # last versions of a note searched for a statement; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """A note as it is now; `id` is the same in all its versions, `scope` says who sees it."""

    id: UUID
    project_id: UUID
    scope: str
    path: str
    version: int
    digest: str
    pushed_by: UUID | None
    agent: str
    pushed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine:
    """One line of a note, and what it says as a memory, where it says anything."""

    number: int
    text: str
    memories: tuple[MemoryView, ...]


def list_notes(*, caller: Caller, project: str, limit: int) -> tuple[NoteView, ...]:
    """Return the notes of a project by their paths. Raises NotFound for a hidden project."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = _visible(caller).filter(project_id=place.id).order_by("path", "id")
        return tuple(view_of(row=row) for row in rows[: min(limit, LARGEST_PAGE)])


def get_note(*, caller: Caller, note_id: UUID) -> NoteView:
    """Return one note. Raises NotFound."""
    with tenancy.unit():
        return view_of(row=_first(_visible(caller).filter(note=note_id)))


def list_lines(*, caller: Caller, note_id: UUID, now: datetime) -> tuple[NoteLine, ...]:
    """Return a note line by line, with the memories the caller may see. Raises NotFound."""
    with tenancy.unit():
        row = _first(_visible(caller).filter(note=note_id))
        said = {one.external_id: one.line or 1 for one in statements(row=row)}
        mine = countable(caller=caller).filter(
            audience=row.audience,
            project_id=row.project_id,
            status=Status.ACTIVE.value,
            external_id__in=said,
        )
        at = {id: said[name] for id, name in mine.values_list("id", "external_id")}
        sight = visibility.sight_of(caller=caller)
        seen = views_of(memory_ids=tuple(at), sight=sight, now=now)
    by_line: dict[int, list[MemoryView]] = {}
    for id, view in seen.items():
        by_line.setdefault(at[id], []).append(view)
    return tuple(
        NoteLine(number=number, text=line, memories=tuple(by_line.get(number, ())))
        for number, line in enumerate(row.text.split("\n"), start=1)
    )


def statements(*, row: NoteVersion) -> tuple[DocumentCandidate, ...]:
    """Return what a version of a note says."""
    return markdown_notes.read(name=row.path, text=row.text).candidates


def memories_of(*, row: NoteVersion, external_ids: Iterable[str]) -> QuerySet[Memory]:
    """Return the live memories of these statements of a note, locked in one order. In a unit."""
    rows = Memory.objects.select_for_update().filter(
        audience=row.audience,
        project_id=row.project_id,
        status=Status.ACTIVE.value,
        external_id__in=list(external_ids),
    )
    return rows.exclude(source_hash="").order_by("id")


def gone(*, row: NoteVersion, said: frozenset[str]) -> tuple[Memory, ...]:
    """Return the live memories of a note that it says no longer, locked in one order. In a unit.

    Of any version before: what nobody could decide at a push is there at the next one. What an
    import of a file of the same name brought is not the note's: most were taken out of a version,
    for the others the last versions are read again.
    """
    rows = Memory.objects.select_for_update().filter(
        audience=row.audience,
        project_id=row.project_id,
        status=Status.ACTIVE.value,
        source=Source.IMPORT.value,
        source_uri=row.path,
        external_id__startswith=documents.statement_ids(path=row.path),
    )
    of_notes = rows.exclude(source_hash="").exclude(external_id="").order_by("id")
    left = tuple(one for one in of_notes if one.external_id not in said)
    if not left:
        return ()
    taken = {one.external_id: one.source_hash for one in left}
    versions = NoteVersion.objects.filter(note=row.note).order_by("-number", "id")
    of_note = versions.filter(digest__in=set(taken.values()))
    digests = frozenset(of_note.values_list("digest", flat=True))
    found = {name for name, digest in taken.items() if digest in digests}
    if len(found) < len(taken):
        for version in versions[:MOST_READ]:
            found.update(one.external_id for one in statements(row=version))
    return tuple(one for one in left if one.external_id in found)


def lock_note(*, caller: Caller, note_id: UUID) -> NoteVersion:
    """Return the present version of a note, locked until the unit ends. Raises NotFound."""
    return _first(_visible(caller).select_for_update().filter(note=note_id))


def view_of(*, row: NoteVersion) -> NoteView:
    """Turn a row into a view."""
    audiences = {
        row.project_id: Scope.PROJECT,
        tenancy.current().organization_id: Scope.ORGANIZATION,
        row.pushed_by: Scope.PERSONAL,
    }
    return NoteView(
        id=row.note,
        project_id=row.project_id,
        scope=audiences.get(row.audience, Scope.TEAM).value,
        path=row.path,
        version=row.number,
        digest=row.digest,
        pushed_by=row.pushed_by,
        agent=row.agent,
        pushed_at=row.pushed_at,
    )


def _visible(caller: Caller) -> QuerySet[NoteVersion]:
    sight = visibility.sight_of(caller=caller)
    return NoteVersion.objects.filter(visibility.as_q(sight=sight), is_current=True)


def _first(rows: QuerySet[NoteVersion]) -> NoteVersion:
    row = rows.first()
    if row is None:
        raise NotFound(
            detail="There is no such note.", hint="It may belong to a scope you cannot see."
        )
    return row
