"""A memory as everything outside of storage sees it, and what it is linked with, many at once."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IsNull

from accounts.caller import Caller
from memory import sql_queries
from memory.customization import custom_type_rules
from memory.index.models import MemoryVector
from memory.records import formulas
from memory.records.models import Conflict, Memory, ReviewVerdict
from memory.taxonomy import LinkKind, Status, Verdict, Verification
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "records/sql/views.sql"
VISIBLE: Final = {"visible": visibility.as_sql(alias="m")}
DISAGREEING: Final = frozenset({LinkKind.CONTRADICTS, LinkKind.CONFLICTS_WITH})
CONTRADICTING: Final = sorted(kind.value for kind in DISAGREEING)
BOUND: Final = DISAGREEING | {LinkKind.SUPERSEDES}  # ends with the conflict or the correction
DATES: Final = ("stated_at", "updated_at", "last_confirmed_at", "verified_at")  # that give an age
AGES: Final = 1e6  # days after which retention is nothing
SAID: Final = "said"  # where a verdict keeps the hashes of both texts, by their memories


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """One memory; times are UTC, confidences and importance 0..1.

    `access_count` are all who were given it, `given_count` the agents among them.
    `own_type` is what a methodology of the organization calls its type, empty where none does.
    """

    id: UUID
    project_id: UUID | None
    project_slug: str
    external_id: str
    type: str
    own_type: str
    content: str
    citation: str
    tags: tuple[str, ...]
    related_files: tuple[str, ...]
    related_modules: tuple[str, ...]
    structure: str
    attributes: Mapping[str, Any]
    scope: str
    team_id: UUID | None
    reach: str
    work_unit: Mapping[str, Any]
    phase: str
    methodology: str
    confidence: float
    confidence_floor: float
    effective_confidence: float
    is_disputed: bool
    confirmations: int
    last_confirmed_at: datetime | None
    verification: str
    verified_at: datetime | None
    needs_review: bool
    user_verified: bool
    taint_reason: str
    authority: int
    importance: float
    surprise: float
    tier: str
    governance: int
    pinned: bool
    decay_half_life_days: float | None
    event_at: datetime | None
    created_at: datetime
    updated_at: datetime
    stated_at: datetime | None
    valid_from: datetime
    valid_until: datetime | None
    status: str
    superseded_by: UUID | None
    stale_at: datetime | None
    archived_reason: str
    version: int
    source: str
    source_interface: str
    source_uri: str
    source_line: int | None
    commit_sha: str
    session_id: UUID | None
    thread: str
    session: str
    position: int | None
    author_user: UUID | None
    author_agent: str
    access_count: int
    last_accessed_at: datetime | None
    given_count: int
    last_given_at: datetime | None
    embedded: bool


OF_USAGE: Final = ("access_count", "last_accessed_at", "given_count", "last_given_at")
OF_THEIR_OWN: Final = {  # fields that no column of that name gives
    "own_type", "project_slug", "tags", "related_files", "related_modules", "superseded_by",
    "effective_confidence", *OF_USAGE, "embedded", "is_disputed",
}  # fmt: skip
SAME_NAME: Final = tuple(n for n in MemoryView.__dataclass_fields__ if n not in OF_THEIR_OWN)
COLUMNS: Final = {"columns": ", ".join(f"(v.memory).{name}" for name in SAME_NAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPart:
    """Of a ranking for a project: whether the graph took part, and whether it changed the first."""

    project_id: UUID
    took_part: bool
    changed: bool


def countable(*, caller: Caller) -> QuerySet[Memory]:
    """Return the memories the caller may see, bare, for counts. In a unit."""
    rows = Memory.objects.filter(visibility.as_q(sight=visibility.sight_of(caller=caller)))
    return rows.exclude(status=Status.DELETED.value)


def visible(*, caller: Caller) -> QuerySet[Memory]:
    """Return the memories the caller may see, with all that a view needs. In a unit.

    One vector is looked up a row: for EXISTS, Postgres reads the vectors of all memories at once.
    """
    vectors = MemoryVector.objects.filter(memory_id=OuterRef("pk"), model__active=True)
    first = Subquery(vectors.order_by().values("pk")[:1])
    known = Conflict.objects.filter(visibility.as_q(sight=visibility.sight_of(caller=caller)))
    by_newer = Q(older=OuterRef("pk"), newer__needs_review=False, newer__taint_reason="")
    by_older = Q(newer=OuterRef("pk"), older__needs_review=False, older__taint_reason="")
    sides = known.filter(by_newer | by_older, verdict="")  # what waits disputes nothing yet
    conflict = Subquery(sides.order_by().values("pk")[:1])
    rows = countable(caller=caller).select_related("project", "memoryusage")
    return rows.annotate(is_embedded=IsNull(first, False), is_disputed=IsNull(conflict, False))


def views_of(
    *, memory_ids: tuple[UUID, ...], sight: Sight, now: datetime
) -> dict[UUID, MemoryView]:
    """Read the visible ones of these memories in one statement, by id. In a unit.

    The same view as `to_view`, without the cost of model instances.
    """
    return give_out(memory_ids=memory_ids, sight=sight, now=now, is_noted=False)


def give_out(
    *,
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    now: datetime,
    graph: GraphPart | None = None,
    is_noted: bool = True,
    weak: Collection[UUID] = (),
) -> dict[UUID, MemoryView]:
    """Read memories like `views_of`, and note that a search gave them to somebody. In a unit.

    With what the graph did to its ranking, where that was for one project. Of those that are `weak`
    nothing is noted: they are shown for the company they are in.
    """
    rows = _read_given(memory_ids, sight, now if is_noted else None, graph, weak, None)
    return {row[0]: _view_of(row, now) for row in rows}


def _read_given(
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    given_out: datetime | None,
    graph: GraphPart | None,
    weak: Collection[UUID],
    kinds: list[str] | None,
) -> list[tuple[Any, ...]]:
    return sql_queries.filled(
        "views",
        file=FILE,
        parts=COLUMNS,
        ids=list(memory_ids),
        weak=list(weak),
        kinds=kinds,
        given_out=given_out,
        reader=sight.person,
        reader_token=sight.token,
        program=sight.is_program,
        ranked_for=graph and graph.project_id,
        took_part=graph and graph.took_part,
        changed=graph and graph.changed,
        **parameters(sight=sight),
    )


def _view_of(row: tuple[Any, ...], now: datetime) -> MemoryView:
    own = len(SAME_NAME)
    return _view(dict(zip(SAME_NAME, row[:own], strict=True)), row[own:-1], now)


def to_view(row: Memory, *, now: datetime, is_new: bool = False) -> MemoryView:
    """Turn a row of `visible` into a view; one just made was not used yet, and nobody is asked."""
    usage = None if is_new else getattr(row, "memoryusage", None)
    rest = (
        row.project.slug if row.project else "",
        row.tags,
        row.related_files,
        row.related_modules,
        row.superseded_by_id,
        *(usage and getattr(usage, name) for name in OF_USAGE),
        bool(getattr(row, "is_embedded", False)),
        bool(getattr(row, "is_disputed", False)),
    )
    return _view({name: getattr(row, name) for name in SAME_NAME}, rest, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A link of a memory, seen from it: to an active memory that the caller may see."""

    memory_id: UUID
    kind: LinkKind
    outgoing: bool
    confidence: float
    other_id: UUID
    type: str
    citation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """The other side of a contradiction: an active memory that the caller may see.

    `conflict_id` is the conflict that waits for a person, None where there is only a link.
    """

    memory_id: UUID
    type: str
    citation: str
    content: str
    conflict_id: UUID | None = None


Sides = Mapping[UUID, tuple[Contradiction, ...]]


def contradicting(
    *, memory_ids: tuple[UUID, ...], sight: Sight
) -> dict[UUID, tuple[Contradiction, ...]]:
    """Return by memory what contradicts it, so that nobody is told one side alone. In a unit."""
    if not memory_ids:
        return {}
    asked = {"ids": list(memory_ids), "kinds": CONTRADICTING, **parameters(sight=sight)}
    rows = sql_queries.rows("disagreeing", file=FILE, **asked)
    found: dict[UUID, tuple[Contradiction, ...]] = {}
    names = ("memory_id", "type", "citation", "content", "conflict_id")
    for memory_id, *other in rows:
        side = Contradiction(**dict(zip(names, other, strict=True)))
        found[memory_id] = (*found.get(memory_id, ()), side)
    return found


def sides_of(*, views: Iterable[MemoryView], sight: Sight) -> Sides:
    """Return by memory what contradicts it; what has left contradicts nothing. In a unit."""
    standing = tuple(view.id for view in views if view.status == Status.ACTIVE)
    return contradicting(memory_ids=standing, sight=sight)


def give_out_together(
    *,
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    now: datetime,
    graph: GraphPart | None = None,
    is_noted: bool = True,
    weak: frozenset[UUID] = frozenset(),
) -> tuple[dict[UUID, MemoryView], Sides]:
    """Read memories that somebody is given, with what contradicts each of them. In a unit.

    That the other sides were given out is noted, too. The rest is as `give_out` has it.
    """
    if not memory_ids:
        return {}, {}
    rows = _read_given(memory_ids, sight, now if is_noted else None, graph, weak, CONTRADICTING)
    sides = {row[0]: _sides(row[-1]) for row in rows if row[-1]}
    return {row[0]: _view_of(row, now) for row in rows}, sides


def _sides(told: str) -> tuple[Contradiction, ...]:
    return tuple(
        Contradiction(
            memory_id=UUID(id),
            type=type,
            citation=citation,
            content=content,
            conflict_id=conflict and UUID(conflict),
        )
        for id, type, citation, content, conflict in json.loads(told)
    )


def relations_of(*, memory_ids: tuple[UUID, ...], sight: Sight) -> tuple[Relation, ...]:
    """Return at most 40 relations of each memory, the surest first. In a unit."""
    if not memory_ids:
        return ()
    asked = {"ids": list(memory_ids), "kinds": CONTRADICTING}
    rows = sql_queries.filled(
        "relations", file=FILE, parts=VISIBLE, **asked, **parameters(sight=sight)
    )
    names = ("memory_id", "kind", "outgoing", "confidence", "other_id", "type", "citation")
    named = (dict(zip(names, row, strict=True)) for row in rows)
    return tuple(Relation(**{**row, "kind": LinkKind(row["kind"])}) for row in named)


def contradictions(*, relations: tuple[Relation, ...]) -> dict[UUID, frozenset[UUID]]:
    """Return what each memory contradicts, in both directions."""
    sides: dict[UUID, set[UUID]] = {}
    for one in relations:
        if one.kind in DISAGREEING:
            sides.setdefault(one.memory_id, set()).add(one.other_id)
            sides.setdefault(one.other_id, set()).add(one.memory_id)
    return {memory_id: frozenset(found) for memory_id, found in sides.items()}


def content_hashes(*, rows: Collection[Memory]) -> dict[str, str]:
    """Return what memories say, as a verdict keeps it."""
    return {str(row.id): row.content_hash for row in rows}


def rejected_pairs(*, memory_ids: Collection[UUID]) -> frozenset[frozenset[UUID]]:
    """Return those pairs of these memories that were told apart. In a unit.

    A link of the two was taken back, and both say the same since: neither a model nor words compare
    such a pair again. Another tag or a pin changes nothing about it, another text does.
    """
    verdicts = ReviewVerdict.objects.filter(
        memory__in=memory_ids, verdict=Verdict.UNLINK.value, undone_at__isnull=True
    )
    before = [
        row for row in verdicts.order_by("id").values_list(f"before__{SAID}", flat=True) if row
    ]
    ids = {id for hashes in before for id in hashes}
    if not ids:
        return frozenset()
    rows = Memory.objects.filter(pk__in=ids).only("content_hash").order_by("id")
    now = content_hashes(rows=rows).items()
    return frozenset(frozenset(map(UUID, hashes)) for hashes in before if hashes.items() <= now)


def _view(same: dict[str, Any], rest: tuple[Any, ...], now: datetime) -> MemoryView:
    """Make a view of the columns of one name and of the others, in the order of the statement."""
    for name in ("attributes", "work_unit"):
        if isinstance(same[name], str):  # outside of the ORM, JSON arrives as text
            same[name] = json.loads(same[name])
    slug, tags, files, modules, superseded_by, *used, embedded, disputed = rest
    access_count, accessed_at, given_count, given_at = used
    idle = now - believed_since(**{name: same[name] for name in DATES})
    return MemoryView(
        **same,
        own_type=custom_type_rules.named(tags=tags),
        project_slug=slug or "",
        tags=custom_type_rules.plain(tags=tuple(tags)),
        related_files=tuple(files),
        related_modules=tuple(modules),
        superseded_by=superseded_by,
        effective_confidence=_confidence_after(
            days=max(0.0, idle.total_seconds() / 86_400), is_disputed=disputed, row=same
        ),
        access_count=access_count or 0,
        last_accessed_at=accessed_at,
        given_count=given_count or 0,
        last_given_at=given_at,
        embedded=embedded,
        is_disputed=disputed,
    )


def believed_since(
    *,
    stated_at: datetime | None,
    updated_at: datetime,
    last_confirmed_at: datetime | None,
    verified_at: datetime | None,
) -> datetime:
    """Return from when on a memory's age counts: when it was worded, confirmed or verified last."""
    dates = (stated_at or updated_at, last_confirmed_at, verified_at)
    return max(one for one in dates if one is not None)


def lowest_confidence(*, view: MemoryView) -> float:
    """Return the confidence that age alone leaves a memory, 0..1; its doubts count."""
    row = {name: getattr(view, name) for name in SAME_NAME}
    return _confidence_after(days=AGES, is_disputed=view.is_disputed, row=row)


def _confidence_after(*, days: float, is_disputed: bool, row: Mapping[str, Any]) -> float:
    """Return the effective confidence so many days after it was last stated or confirmed."""
    return formulas.effective_confidence(
        confidence=row["confidence"],
        verification=Verification(row["verification"]),
        half_life_days=row["decay_half_life_days"],
        pinned=row["pinned"],
        is_tainted=bool(row["taint_reason"]),
        is_disputed=is_disputed,
        floor=row["confidence_floor"],
        days_idle=days,
    )
