"""An organization that is never there, filled with a judged set.

Everything happens inside one transaction that is rolled back at the end, also on failure and also
when the process dies: the organization, its schema, its person and its jobs are visible to nobody
and need no clearing up. The price is a transaction as long as the run, and the one place where an
embedder is asked inside of one: nobody waits for its locks, because nobody knows its rows.

Memories come in through the same door as an import, are embedded and counted, then those that were
true only for a time are closed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction

from accounts import tenancy
from accounts.actions.organizations import create_organization
from accounts.caller import ALL_SCOPES, Caller, Role
from accounts.models import Organization, User
from memory.evaluation.dataset import JudgedMemory, JudgedSet, merge_same
from memory.index import queries as index_queries
from memory.index.actions import embedding, maintenance
from memory.index.models import MemoryKeyword, MemoryVector
from memory.intake.actions.remember import MOST, remember_all
from memory.intake.validation import NewMemory
from memory.records import writes
from memory.records.models import Memory
from memory.taxonomy import Source, Status
from teams.actions import create_project

EMBED_TOGETHER: Final = 256  # memories a call
UNIQUE: Final = 16  # hexadecimal digits of a name nobody else has

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A filled organization: who asks, the set as stored, and its ids by memory.

    `refused` are the reasons why memories of the set were not let in, by their ids.
    """

    caller: Caller
    judged: JudgedSet
    names: dict[UUID, str]
    embedder: str
    embedded: int
    refused: dict[str, str]


@contextmanager
def trial(
    *, judged: JudgedSet, now: datetime, with_vectors: bool = True, tell: Tell
) -> Iterator[Trial]:
    """Fill an organization with a set until the block ends; then nothing of it has been.

    Raises EmbedderUnavailable when nothing can be embedded.
    """
    with _temporary(now) as caller:
        ids, refused = _fill(caller, judged.memories, now, tell)
        every = tuple(dict.fromkeys(ids.values())) if with_vectors else ()
        embedded = 0
        for start in range(0, len(every), EMBED_TOGETHER):
            embedded += embedding.embed_batch(memory_ids=every[start : start + EMBED_TOGETHER])
            tell(f"embedded {embedded} of {len(every)} memories")
        _close(judged.memories, ids, now)
        first = {memory_id: name for name, memory_id in reversed(ids.items())}
        same = {name: first[memory_id] for name, memory_id in ids.items()}
        with tenancy.unit():
            model = embedding.active_model()[1]
        yield Trial(
            caller=caller,
            judged=merge_same(judged=judged, same=same),
            names=first,
            embedder=model,
            embedded=embedded,
            refused=refused,
        )


@contextmanager
def taken_out(*, filled: Trial, names: frozenset[str]) -> Iterator[None]:
    """Have the searches of a trial go without these memories of the set until the block ends."""
    ids = tuple(id for id, name in filled.names.items() if name in names)
    with transaction.atomic():
        try:
            with tenancy.unit():
                MemoryKeyword.objects.filter(memory_id__in=ids).delete()
                MemoryVector.objects.filter(memory_id__in=ids).delete()
                index_queries.refresh_lexicon()
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def _temporary(now: datetime) -> Iterator[Caller]:
    """Be the owner of a new organization until the block ends; then nothing of it has been."""
    with transaction.atomic():
        name = f"evaluation-{uuid4().hex[:UNIQUE]}"  # an equal one would wait for the end of ours
        try:
            user = User.objects.create_user(f"{name}@example.invalid", None)
            view = create_organization(user_id=user.id, name="Evaluation", slug=name, now=now)
            with tenancy.walled(organization_id=view.id):
                row = Organization.objects.get(pk=view.id)
            with tenancy.enter(row.tenant):
                yield Caller(
                    user_id=user.id,
                    organization_id=row.id,
                    organization_slug=row.slug,
                    schema_name=row.schema_name,
                    role=Role.OWNER,
                    scopes=ALL_SCOPES,
                    bound_projects=None,
                    source_interface="import",
                )
        finally:
            transaction.set_rollback(True)


def _fill(
    caller: Caller, memories: tuple[JudgedMemory, ...], now: datetime, tell: Tell
) -> tuple[dict[str, UUID], dict[str, str]]:
    for slug in sorted({item.project for item in memories}):
        create_project(caller=caller, slug=slug, name=slug, now=now)
    ids: dict[str, UUID] = {}
    refused: dict[str, str] = {}
    places = Counter[str]()  # of the turns of each session, which stand in their order
    for start in range(0, len(memories), MOST):
        part = memories[start : start + MOST]
        new = tuple(
            NewMemory(
                content=item.content,
                source=Source.IMPORT.value,
                type=item.type.value,
                project=item.project,
                tags=item.tags,
                related_files=item.files,
                event_at=item.event_at,
                session=item.session or "",
                position=_next_place(places, item.session),
            )
            for item in part
        )
        outcomes = remember_all(caller=caller, new=new, now=now)
        for item, outcome in zip(part, outcomes, strict=True):
            if outcome.memory is None:
                refused[item.id] = outcome.reason
            else:
                ids[item.id] = outcome.memory.id
        tell(f"stored {start + len(part)} of {len(memories)} memories")
    return ids, refused


def _next_place(places: Counter[str], session: str | None) -> int | None:
    if session is None:
        return None
    places[session] += 1
    return places[session]


def _close(memories: tuple[JudgedMemory, ...], ids: dict[str, UUID], now: datetime) -> None:
    """End what was true only for a time, as a correction would have; count words after it."""
    ended = tuple(item for item in memories if item.valid_until and item.id in ids)
    with tenancy.unit():
        rows = Memory.objects.in_bulk([ids[item.id] for item in ended])
        for item in ended:
            row = rows[ids[item.id]]
            row.superseded_by_id = ids.get(item.superseded_by or "")
            row.status = Status.SUPERSEDED if item.superseded_by else Status.ARCHIVED
            row.valid_until = item.valid_until
            writes.save(row=row, fields=("superseded_by", "status", "valid_until"), now=now)
    maintenance.refresh_lexicon()
