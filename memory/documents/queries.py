"""Imports, notes, and the records of an export, each as far as the caller may see them.

What stands in a record is decided in `memory.documents.file_formats`. A version that was another
audience's, a link to a memory that the caller may not see, and the name of a topic they could not
read are not in it.
"""

from collections.abc import Generator, Iterable, Mapping, Set
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import NotFound, RateLimited
from accounts.messages import message
from accounts.queries import Initiator
from memory.documents import file_formats, markdown_notes
from memory.documents.models import Import, ImportRow, NoteVersion
from memory.records import filters as language
from memory.records import versions as versions_of
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import memories, pending, views
from memory.review.queries import inbox
from memory.secrets import scanner
from memory.taxonomy import Scope, Source, Status
from memory.topics import models as topics
from memory.topics import queries as topics_queries
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
NOT_COLUMNS_OF_IMPORTS: Final = frozenset(
    {"state", "error", "files", "counts", "to_review", "is_mine"}
)
WAITING: Final = "waiting"  # rows that have no outcome yet
BUSY: Final = frozenset({"queued", "running"})
FAILED: Final = "failed"
MOST_READ: Final = 10  # last versions of a note searched for a statement; default, not measured

Record = dict[str, Any]
PAGE: Final = 500  # records read at once
AT_ONCE: Final = 3  # exports an organization writes at once, each a connection; not measured
AGAIN_SECONDS: Final = 30  # until one of them may be done: 20,000 memories; not measured
LOCK_SPACE: Final = 0x0CA2  # of advisory locks, one a place; 0x0CA1 is the feed's
TOPICS: Final = 200  # names of topics looked up
UNUSED: Final[Record] = {
    "access_count": 0, "last_accessed_at": None, "given_count": 0, "last_given_at": None,
}  # fmt: skip
OF_OTHERS: Final = ("project", "superseded_by", *UNUSED)
ORDER: Final = tuple(
    name
    for name, (rule, _) in file_formats.FIELDS.items()
    if rule is not file_formats.FieldRule.LEFT
)
WRITTEN: Final = tuple(name for name in ORDER if name not in OF_OTHERS)
OF_LINKS: Final = ("kind", "confidence", "automatic", "cosine", "description", "created_at")
OF_VERSIONS: Final = (
    "number", "content", "reason", "changed_by", "changed_agent", "changed_at",
)  # fmt: skip
Row = TypeVar("Row", Import, NoteVersion)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportView:
    """One batch. `counts` says how many rows ended how; `to_review` how many memories wait
    for the caller: what is snoozed does not.

    `error` says why one that failed did.
    """

    id: UUID
    name: str
    state: str
    project_id: UUID | None
    scope: str
    files: tuple[Mapping[str, Any], ...]
    total: int
    counts: Mapping[str, int]
    to_review: int
    job_id: UUID | None
    created_by: UUID | None
    agent: str
    created_at: datetime
    ended_at: datetime | None
    error: str
    is_mine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """What became of one statement; the memory is there if the caller may see it."""

    number: int
    file: str
    line: int | None
    outcome: str
    gate: str
    reason: str
    hint: str
    memory: views.MemoryView | None


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
    memories: tuple[views.MemoryView, ...]


def list_imports(
    *, caller: Caller, project: str | None, after: UUID | None, limit: int, now: datetime
) -> tuple[tuple[ImportView, ...], UUID | None]:
    """Return batches of a project, or of all places, and after which the next page starts.

    The newest come first. Raises NotFound for a hidden project.
    """
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = _visible(caller, Import.objects.all())
        if project is not None:
            rows = rows.filter(project_id=places.find_project(caller=caller, ref=project).id)
        if after is not None:
            rows = rows.filter(id__lt=after)
        found = tuple(rows.order_by("-id")[: size + 1])
        items = _import_views(caller, found[:size], now)
    return items, found[size - 1].id if len(found) > size else None


def get_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportView:
    """Return one batch. Raises NotFound."""
    with tenancy.unit():
        batch = _find(caller, Import.objects.filter(pk=batch_id))
        return import_view(caller=caller, batch=batch, now=now)


def lock_import(*, caller: Caller, batch_id: UUID) -> Import:
    """Return the row of a batch, locked until the unit ends. Raises NotFound."""
    return _find(caller, Import.objects.filter(pk=batch_id), is_locked=True)


def list_rows(
    *, caller: Caller, batch_id: UUID, after: int, limit: int, now: datetime
) -> tuple[RowView, ...]:
    """Return the rows of a batch after a number, in their order. Raises NotFound."""
    with tenancy.unit():
        batch = _find(caller, Import.objects.filter(pk=batch_id))
        rows = tuple(batch.rows.filter(number__gt=after).order_by("number")[:limit])
        ids = tuple(one.memory_id for one in rows if one.memory_id)
        sight = visibility.sight_of(caller=caller)
        seen = views.views_of(memory_ids=ids, sight=sight, now=now)
    return tuple(
        RowView(
            **_columns(RowView, row, but={"outcome", "memory"}),
            outcome=row.outcome or WAITING,
            memory=seen.get(row.memory_id) if row.memory_id else None,
        )
        for row in rows
    )


def imported_memories(*, caller: Caller, batch_id: UUID | None) -> QuerySet[Any] | None:
    """Return the ids of the memories that came with a batch, for the inbox; None without one.

    Raises NotFound.
    """
    if batch_id is None:
        return None
    with tenancy.unit():
        _find(caller, Import.objects.filter(pk=batch_id))
    rows = ImportRow.objects.filter(batch_id=batch_id, outcome="added", memory_id__isnull=False)
    return rows.order_by().values("memory_id")


def list_waiting_imports(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[tuple[ImportView, int], ...]:
    """Return the newest imports of which memories wait, and how many do. Raises NotFound."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project).id
        due = inbox.waiting_rows(caller=caller, project=project, imported=None, now=now)
        seen = _visible(caller, Import.objects.filter(project_id=place)).order_by()
        told = ImportRow.objects.filter(
            batch__in=seen, outcome="added", memory_id__in=due.values("id")
        )
        counted = told.order_by().values_list("batch_id").annotate(n=Count("pk"))
        found = dict(counted.order_by("-batch_id")[:limit])
        rows = tuple(Import.objects.filter(pk__in=found).order_by("-id"))
        return tuple((view, found[view.id]) for view in _import_views(caller, rows, now))


def who_began(*, batch_id: UUID) -> Initiator | None:
    """Return who began a batch; for the job alone. In a unit."""
    names = ("user_id", "token_id", "agent", "source_interface")
    row = Import.objects.filter(pk=batch_id).values(*names).first()
    return None if row is None else Initiator(**row)


def failure_of(*, batch: Import) -> str | None:
    """Return why a batch failed, None for one that did not. In a unit."""
    return _failures((batch,)).get(batch.id)


def import_view(*, caller: Caller, batch: Import, now: datetime) -> ImportView:
    """Turn a batch that the caller sees into a view. In a unit."""
    return _import_views(caller, (batch,), now)[0]


def _import_views(
    caller: Caller, batches: tuple[Import, ...], now: datetime
) -> tuple[ImportView, ...]:
    ids = [row.id for row in batches]
    told = ImportRow.objects.filter(batch_id__in=ids).order_by()
    counts: dict[UUID, dict[str, int]] = {id: {} for id in ids}
    for id, outcome, number in told.values_list("batch_id", "outcome").annotate(n=Count("pk")):
        counts[id][outcome or WAITING] = number
    waits = pending.WAITING & pending.is_awake(caller=caller, now=now)
    waiting = views.countable(caller=caller).filter(waits, status=Status.ACTIVE.value).order_by()
    due = Q(memory_id__in=waiting.values("id"), outcome="added")
    reviews = dict(told.filter(due).values_list("batch_id").annotate(n=Count("pk")))
    me, failures = principal(caller=caller), _failures(batches)
    return tuple(
        ImportView(
            **_columns(ImportView, row, but=NOT_COLUMNS_OF_IMPORTS),
            state=FAILED if row.id in failures else row.state,
            error=failures.get(row.id, ""),
            files=tuple(row.files),
            counts=counts[row.id],
            to_review=reviews.get(row.id, 0),
            is_mine=me is not None and row.created_by == me,
        )
        for row in batches
    )


def _failures(batches: tuple[Import, ...]) -> dict[UUID, str]:
    """Return why those failed that did: how their jobs ended, or what they say themselves."""
    told = {*BUSY, FAILED}
    begun = {row.job_id: row.id for row in batches if row.state in told and row.job_id}
    found = {row.id: row.error for row in batches if row.state == FAILED}
    ended = jobs.failures(job_ids=tuple(begun)) if begun else {}
    return found | {begun[job_id]: reason for job_id, reason in ended.items()}


def list_notes(*, caller: Caller, project: str, limit: int) -> tuple[NoteView, ...]:
    """Return the notes of a project by their paths. Raises NotFound for a hidden project."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = NoteVersion.objects.filter(project_id=place.id, is_current=True)
        found = _visible(caller, rows).order_by("path", "id")[: min(limit, LARGEST_PAGE)]
        return tuple(note_view(row=row) for row in found)


def get_note(*, caller: Caller, note_id: UUID) -> NoteView:
    """Return one note. Raises NotFound."""
    with tenancy.unit():
        return note_view(row=_find(caller, _notes(note_id)))


def lock_note(*, caller: Caller, note_id: UUID) -> NoteVersion:
    """Return the present version of a note, locked until the unit ends. Raises NotFound."""
    return _find(caller, _notes(note_id), is_locked=True)


def list_lines(*, caller: Caller, note_id: UUID, now: datetime) -> tuple[NoteLine, ...]:
    """Return a note line by line, with the memories the caller may see. Raises NotFound."""
    with tenancy.unit():
        row = _find(caller, _notes(note_id))
        said = {one.external_id: one.line or 1 for one in note_statements(row=row)}
        mine = views.countable(caller=caller).filter(_of_place(row), external_id__in=said)
        at = {id: said[name] for id, name in mine.values_list("id", "external_id")}
        sight = visibility.sight_of(caller=caller)
        seen = views.views_of(memory_ids=tuple(at), sight=sight, now=now)
    by_line: dict[int, list[views.MemoryView]] = {}
    for id, view in seen.items():
        by_line.setdefault(at[id], []).append(view)
    return tuple(
        NoteLine(number=number, text=line, memories=tuple(by_line.get(number, ())))
        for number, line in enumerate(row.text.split("\n"), start=1)
    )


def count_refusals(*, batch_id: UUID) -> Mapping[str, int]:
    """Count the refused statements of an import by the gate that refused them. In a unit."""
    rows = ImportRow.objects.filter(batch_id=batch_id, outcome="refused").order_by("gate")
    return dict(rows.values_list("gate").annotate(Count("id")))


def imported_statements(
    *, audience: UUID, project_id: UUID | None, names: Iterable[str]
) -> QuerySet[Memory, tuple[str, str, str]]:
    """Return file, external id and text of what was imported from files, in their order.

    Only what an import may bring to other words: nobody verified or pinned it, and it is not stale.
    In a unit; read by the index of a project's recent memories.
    """
    rows = Memory.objects.filter(
        Q(project_id=project_id),
        audience=audience,
        status=Status.ACTIVE.value,
        source=Source.IMPORT.value,
        source_uri__in=list(names),
        stale_at__isnull=True,
        pinned=False,
        user_verified=False,
    ).exclude(external_id="")
    found = rows.order_by("source_uri", "source_line", "id")
    return found.values_list("source_uri", "external_id", "content")


def note_statements(*, row: NoteVersion | None) -> tuple[file_formats.DocumentCandidate, ...]:
    """Return what a version of a note says; nothing where there is none."""
    return () if row is None else markdown_notes.read(name=row.path, text=row.text).candidates


def note_memories(*, row: NoteVersion, external_ids: Iterable[str]) -> QuerySet[Memory]:
    """Return the live memories of these statements of a note, locked in one order. In a unit."""
    rows = Memory.objects.select_for_update().filter(
        _of_place(row), external_id__in=list(external_ids)
    )
    return rows.exclude(source_hash="").order_by("id")


def gone_memories(*, row: NoteVersion, said: frozenset[str]) -> tuple[Memory, ...]:
    """Return the live memories of a note that it says no longer, locked in one order. In a unit.

    Of any version before: what nobody could decide at a push is there at the next one. What an
    import of a file of the same name brought is not the note's: most were taken out of a version,
    for the others the last versions are read again.
    """
    rows = Memory.objects.select_for_update().filter(
        _of_place(row),
        source=Source.IMPORT.value,
        source_uri=row.path,
        external_id__startswith=markdown_notes.statement_ids(path=row.path),
    )
    of_notes = rows.exclude(source_hash="").exclude(external_id="").order_by("id")
    left = tuple(one for one in of_notes if one.external_id not in said)
    taken = {one.source_hash for one in left}
    versions = NoteVersion.objects.filter(note=row.note).order_by("-number", "id")
    digests = set(versions.filter(digest__in=taken).values_list("digest", flat=True))
    last = versions[:MOST_READ] if taken - digests else ()
    told = {one.external_id for version in last for one in note_statements(row=version)}
    return tuple(one for one in left if one.source_hash in digests or one.external_id in told)


def note_view(*, row: NoteVersion) -> NoteView:
    """Turn a row into a view."""
    audiences = {
        row.project_id: Scope.PROJECT,
        tenancy.current().organization_id: Scope.ORGANIZATION,
        row.pushed_by: Scope.PERSONAL,
    }
    return NoteView(
        **_columns(NoteView, row, but={"id", "scope", "version"}),
        id=row.note,
        scope=audiences.get(row.audience, Scope.TEAM).value,
        version=row.number,
    )


def _columns(view: type[Any], row: Model, *, but: Set[str]) -> Record:
    """Return what a view has of its row under the same names."""
    return {one.name: getattr(row, one.name) for one in fields(view) if one.name not in but}


def _of_place(row: NoteVersion) -> Q:
    """Return the condition of the live memories in the place of a note."""
    return Q(audience=row.audience, project_id=row.project_id, status=Status.ACTIVE.value)


def _notes(note_id: UUID) -> QuerySet[NoteVersion]:
    return NoteVersion.objects.filter(note=note_id, is_current=True)


def _find(caller: Caller, rows: QuerySet[Row], *, is_locked: bool = False) -> Row:
    """Return the one of these rows that the caller sees. Raises NotFound."""
    seen = _visible(caller, rows)
    row = (seen.select_for_update() if is_locked else seen).first()
    if row is None:
        is_import = rows.model is Import
        raise NotFound(
            detail="There is no such import." if is_import else "There is no such note.",
            hint="It may belong to a scope you cannot see.",
        )
    return row


def _visible(caller: Caller, rows: QuerySet[Row]) -> QuerySet[Row]:
    return rows.filter(visibility.as_q(sight=visibility.sight_of(caller=caller)))


def count_exported(*, caller: Caller, filters: language.Filters) -> int:
    """Count what an export would hold. Raises NotFound for a hidden project."""
    with tenancy.unit():
        return memories.matching(caller=caller, filters=filters).count()


def export_records(*, caller: Caller, filters: language.Filters) -> Generator[Record, None, None]:
    """Yield the records of what a filter lets through, oldest first, without secrets.

    All of them are of one moment; a transaction is open from the first until the last, or until
    the iterator is closed. Raises NotFound for a hidden project, and RateLimited where as many as
    an organization may write at once are being written: each holds a lock of the database, so an
    export whose process died holds none.
    """
    with tenancy.snapshot():
        if not any(tenancy.holds(space=LOCK_SPACE + place) for place in range(AT_ONCE)):
            raise RateLimited(
                detail=message("{count} exports of this organization are being written.",
                               count=AT_ONCE),
                retry_after_seconds=AGAIN_SECONDS,
            )  # fmt: skip
        rows = memories.matching(caller=caller, filters=filters).order_by("created_at", "id")
        named = topics_queries.topics(
            caller=caller, project=filters.project, after=None, limit=TOPICS
        )
        labels = {one.id: one.label for one in named.items}
        found = rows.values_list("created_at", "id")
        page = tuple(found[:PAGE])
        while page:
            for record in _records(caller, tuple(id for _, id in page), labels):
                whole = "\n\n\n\n".join(file_formats.texts_in(value=record))
                has_secret = scanner.find_secrets(text=whole)  # by the rules of today
                yield _redacted(record) if has_secret else record
            created_at, id = page[-1]
            same = Q(created_at=created_at, id__gt=id)
            page = tuple(found.filter(Q(created_at__gt=created_at) | same)[:PAGE])


def _records(
    caller: Caller, ids: tuple[UUID, ...], labels: Mapping[UUID, str]
) -> tuple[Record, ...]:
    seen = views.countable(caller=caller)
    found = seen.filter(pk__in=ids).select_related("project", "memoryusage").order_by("id")
    rows = {row.id: row for row in found}
    members = topics.TopicMember.objects.filter(memory_id__in=rows)
    topic = dict(members.values_list("memory_id", "topic_id"))
    replaced_by = {row.superseded_by_id for row in rows.values() if row.superseded_by_id}
    successors = set(seen.filter(pk__in=replaced_by).values_list("id", flat=True))
    links, versions = _links(seen, ids), _versions(caller, ids)
    records = []
    for id in ids:
        row, label = rows[id], labels.get(topic.get(id, id))
        superseded_by = row.superseded_by_id if row.superseded_by_id in successors else None
        record = {
            **_fields(row, WRITTEN),
            **(_fields(row.memoryusage, UNUSED) if hasattr(row, "memoryusage") else UNUSED),
            "project": row.project.slug if row.project else None,
            "superseded_by": versions_of.plain(value=superseded_by),
            file_formats.VERSIONS: versions[id],
            file_formats.LINKS: links[id],
            file_formats.TOPICS: [label] if label else [],
        }
        records.append({name: record[name] for name in (*ORDER, *file_formats.BESIDE)})
    return tuple(records)


def _links(seen: QuerySet[Memory], ids: tuple[UUID, ...]) -> dict[UUID, list[Record]]:
    links: dict[UUID, list[Record]] = {id: [] for id in ids}
    found = MemoryLink.objects.filter(source_id__in=ids)
    shown = found.filter(target_id__in=seen.order_by().values("id"))
    for link in shown.order_by("kind", "target_id"):
        links[link.source_id].append({"target": str(link.target_id), **_fields(link, OF_LINKS)})
    return links


def _versions(caller: Caller, ids: tuple[UUID, ...]) -> dict[UUID, list[Record]]:
    sight = visibility.sight_of(caller=caller)
    versions: dict[UUID, list[Record]] = {id: [] for id in ids}
    kept = MemoryVersion.objects.filter(memory_id__in=ids).order_by("memory_id", "number")
    for version in kept:
        if memories.was_seen(version=version, sight=sight):
            fields = {**_fields(version, OF_VERSIONS), "fields": memories.shown_fields(version)}
            versions[version.memory_id].append(fields)
    return versions


def _fields(row: Model, names: Iterable[str]) -> Record:
    return {name: versions_of.plain(value=getattr(row, name)) for name in names}


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return scanner.without_secrets(text=value)
    if isinstance(value, Mapping):
        return {name: _redacted(inner) for name, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list) else value
