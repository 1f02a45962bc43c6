"""Evaluate searches on a judged set, in an organization that is never there (spec 3.4).

Everything happens inside one transaction that is rolled back at the end, also on failure and also
when the process dies: the organization, its schema, its person and its jobs are visible to nobody
and need no clearing up. The price is a transaction as long as the run, and the one place where an
embedder is asked inside of one: nobody waits for its locks, because nobody knows its rows.

Memories come in through the same door as an import, are embedded and counted, then those that were
true only for a time are closed; each query goes through `search()` with each profile in turns, so
that no profile has the warmer machine.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction

from accounts import tenancy
from accounts.actions.organizations import create_organization
from accounts.caller import ALL_SCOPES, Caller, Role
from accounts.errors import wrong_field
from accounts.models import Organization, User
from memory.actions import embedding, store, upkeep
from memory.actions.drafts import NewMemory
from memory.actions.remember_all import MOST, remember_all
from memory.actions.search import PROFILES, Hit, SearchAnswer, SearchRequest, search
from memory.evaluation.judged import JudgedMemory, JudgedQuery, JudgedSet, Split, merged
from memory.evaluation.outcomes import Asked, Evaluation, K, Refusal, System
from memory.models import Memory
from memory.retrieval import packing, phases
from memory.retrieval.packing import Packable
from memory.retrieval.phases import Phase
from memory.taxonomy import MemoryType, Source, Status
from teams.actions.projects import create_project

CHARACTERS_A_TOKEN: Final = 4  # ours: English prose and code
PACK: Final = phases.BUDGETS[Phase.IMPLEMENT]  # what an agent at work is given, spec 3.1
INTERFACE: Final = "import"
SHOW_EVERY: Final = 100  # queries between two lines of progress
EMBED_TOGETHER: Final = 256  # memories a call
UNIQUE: Final = 16  # hexadecimal digits of a name nobody else has

Tell = Callable[[str], object]


def evaluate(
    *,
    judged: JudgedSet,
    profiles: tuple[str, ...],
    split: Split | None,
    now: datetime,
    tell: Tell,
) -> Evaluation:
    """Ask the queries of a set, of one half or all, of each profile; leave nothing behind.

    `tell` hears how far it is. Raises InvalidInput for an unknown profile or a half without
    queries, EmbedderUnavailable when nothing can be embedded.
    """
    chosen = _chosen(judged, profiles, split)
    with _temporary(now) as caller:
        ids, refused = _fill(caller, chosen.memories, now, tell)
        embedded = _embed(tuple(dict.fromkeys(ids.values())), tell)
        _close(chosen.memories, ids, now)
        first = {memory_id: name for name, memory_id in reversed(ids.items())}
        same = {name: first[memory_id] for name, memory_id in ids.items()}
        chosen = merged(judged=chosen, same=same)
        with tenancy.unit():
            model = embedding.active_model().key
        systems, degraded = _ask(caller, chosen.queries, profiles, first, now, tell)
    return Evaluation(
        judged=chosen,
        split=split,
        embedder=model,
        embedded=embedded,
        refused=refused,
        degraded=degraded,
        systems=systems,
    )


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
            with tenancy.enter(organization_id=row.id, slug=row.slug, schema_name=row.schema_name):
                yield _owner(user, row)
        finally:
            transaction.set_rollback(True)


def _owner(user: User, row: Organization) -> Caller:
    return Caller(
        user_id=user.id,
        organization_id=row.id,
        organization_slug=row.slug,
        schema_name=row.schema_name,
        role=Role.OWNER,
        scopes=ALL_SCOPES,
        bound_projects=None,
        source_interface=INTERFACE,
    )


def _chosen(judged: JudgedSet, profiles: tuple[str, ...], split: Split | None) -> JudgedSet:
    unknown = next((name for name in profiles if name not in PROFILES), None)
    if unknown is not None or not profiles:
        detail = f"Name profiles among: {', '.join(PROFILES)}."
        raise wrong_field(pointer="/profiles", detail=detail, code="choice")
    queries = tuple(query for query in judged.queries if split in {None, query.split})
    if not queries:
        raise wrong_field(pointer="/split", detail="No query is in this half.", code="empty")
    return replace(judged, queries=queries)


def _fill(
    caller: Caller, memories: tuple[JudgedMemory, ...], now: datetime, tell: Tell
) -> tuple[dict[str, UUID], tuple[Refusal, ...]]:
    for slug in sorted({item.project for item in memories}):
        create_project(caller=caller, slug=slug, name=slug, now=now)
    ids: dict[str, UUID] = {}
    refused = []
    for start in range(0, len(memories), MOST):
        part = memories[start : start + MOST]
        outcomes = remember_all(caller=caller, new=tuple(map(_new, part)), now=now)
        for item, outcome in zip(part, outcomes, strict=True):
            if outcome.memory is None:
                refused.append(Refusal(memory_id=item.id, reason=outcome.reason))
            else:
                ids[item.id] = outcome.memory.id
        tell(f"stored {start + len(part)} of {len(memories)} memories")
    return ids, tuple(refused)


def _new(item: JudgedMemory) -> NewMemory:
    return NewMemory(
        content=item.content,
        source=Source.IMPORT.value,
        type=item.type.value,
        project=item.project,
        tags=item.tags,
        related_files=item.files,
        event_at=item.event_at,
    )


def _embed(ids: tuple[UUID, ...], tell: Tell) -> int:
    embedded = 0
    for start in range(0, len(ids), EMBED_TOGETHER):
        embedded += embedding.embed_batch(memory_ids=ids[start : start + EMBED_TOGETHER])
        tell(f"embedded {embedded} of {len(ids)} memories")
    return embedded


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
            store.save(row=row, fields=("superseded_by", "status", "valid_until"), now=now)
    upkeep.refresh_lexicon()


def _ask(
    caller: Caller,
    queries: tuple[JudgedQuery, ...],
    profiles: tuple[str, ...],
    names: dict[UUID, str],
    now: datetime,
    tell: Tell,
) -> tuple[tuple[System, ...], tuple[str, ...]]:
    found: dict[str, list[Asked]] = {profile: [] for profile in profiles}
    degraded: dict[str, None] = {}
    search(caller=caller, request=_request(queries[0], profiles[0]), now=now)  # loads, plans
    for number, query in enumerate(queries, start=1):
        for profile in profiles:
            usual = _request(query, profile)
            ranking = search(caller=caller, request=replace(usual, threshold=0.0), now=now)
            answer = search(caller=caller, request=usual, now=now)
            degraded.update(dict.fromkeys(answer.degraded))
            found[profile].append(_asked(query, ranking, answer, names))
        if number % SHOW_EVERY == 0 or number == len(queries):
            tell(f"asked {number} of {len(queries)} queries")
    systems = tuple(System(profile=name, asked=tuple(asked)) for name, asked in found.items())
    return systems, tuple(degraded)


def _request(query: JudgedQuery, profile: str) -> SearchRequest:
    return SearchRequest(
        query=query.text, project=query.project, limit=K, profile=profile, as_of=query.as_of
    )


def _asked(
    query: JudgedQuery, ranking: SearchAnswer, answer: SearchAnswer, names: dict[UUID, str]
) -> Asked:
    packed = packing.pack(ranked=tuple(map(_packable, answer.hits)), budget=PACK)
    return Asked(
        query_id=query.id,
        ranked=tuple(names[hit.memory.id] for hit in ranking.hits),
        best_relevance=max((hit.relevance for hit in ranking.hits), default=0.0),
        silent=answer.nothing_relevant,
        pack=tuple(names[item.memory_id] for item in packed.chosen),
        pack_tokens=packed.tokens,
        took_ms=answer.took_ms,
        stages=answer.stages,
    )


def _packable(hit: Hit) -> Packable:
    tokens = math.ceil(len(hit.memory.content) / CHARACTERS_A_TOKEN)
    return Packable(memory_id=hit.memory.id, type=MemoryType(hit.memory.type), tokens=tokens)
