"""What memories hang together with: their links to others that may be seen, many at once."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from memory import sql_queries
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries.views import MemoryView, give_out
from memory.taxonomy import LinkKind, Status, Verdict
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "records/sql/views.sql"
PARTS: Final = {"visible": visibility.as_sql(alias="m")}
DISAGREEING: Final = frozenset({LinkKind.CONTRADICTS, LinkKind.CONFLICTS_WITH})
SAID: Final = "said"  # where a verdict keeps the hashes of both texts, by their memories
BOUND: Final = DISAGREEING | {LinkKind.SUPERSEDES}  # ends with the conflict or the correction


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
    kinds = [kind.value for kind in DISAGREEING]
    asked = {"ids": list(memory_ids), "kinds": kinds, **parameters(sight=sight)}
    rows = sql_queries.filled("disagreeing", file=FILE, parts=PARTS, **asked)
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
    *, memory_ids: tuple[UUID, ...], sight: Sight, now: datetime
) -> tuple[dict[UUID, MemoryView], Sides]:
    """Read memories that somebody is given, with what contradicts each of them. In a unit.

    That the other sides were given out is noted, too.
    """
    sides = contradicting(memory_ids=memory_ids, sight=sight)
    beside = (one.memory_id for others in sides.values() for one in others)
    told = tuple(dict.fromkeys((*memory_ids, *beside)))
    return (give_out(memory_ids=told, sight=sight, now=now) if told else {}), sides


def relations_of(*, memory_ids: tuple[UUID, ...], sight: Sight) -> tuple[Relation, ...]:
    """Return at most 40 relations of each memory, the surest first. In a unit."""
    if not memory_ids:
        return ()
    rows = sql_queries.filled(
        "relations", file=FILE, parts=PARTS, ids=list(memory_ids), **parameters(sight=sight)
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
