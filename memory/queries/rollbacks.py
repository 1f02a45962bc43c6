"""What a writer, a session, a time or an ancestor produced in a project, as it can be rolled back.

Everything is of the caller's sight: what they may not see is neither counted nor listed, and is
never touched (spec 4.3, 7.2).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.sentences import sentence
from memory.lifecycle.rolling_back import LONGEST_CHAIN, MOST, Fate, Left
from memory.models import (
    Conflict,
    Memory,
    MemoryLink,
)
from memory.queries.rollback_changes import (
    changed,
    is_known,
    others_changes,
    versions_before,
)
from memory.queries.rollback_choices import Choice, Chosen, check_in_person, chosen
from memory.queries.rollback_stands import goes, kept, of, stood_for
from memory.queries.views import countable
from memory.taxonomy import Status

LARGEST_PAGE: Final = 200  # spec 10.5
COUNTED: Final = MOST + 1  # of each at most: so much stands for more
REASON: Final = sentence("it was rolled back")  # why a memory was archived or has its text before


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory of a rollback; `stands_again` is what it had taken the place of."""

    memory_id: UUID
    citation: str
    type: str
    fate: Fate
    why: Left | None
    stands_again: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much a rollback takes back; `conflicts` and `links` are those that end with it."""

    archived: int
    rewritten: int
    reinstated: int
    conflicts: int
    links: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a rollback would do: in numbers, and some of the memories by their ids."""

    counts: Counts
    items: tuple[Item, ...]
    next_after: UUID | None


def preview(
    *, caller: Caller, choice: Choice, after: UUID | None, limit: int, now: datetime
) -> Preview:
    """Say what a rollback would do, and do nothing. Raises what `chosen` raises."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        what = chosen(caller=caller, choice=choice, now=now)
        check_in_person(caller=caller)
        rows = concerned(caller=caller, what=what)
        if after is not None:
            rows = rows.filter(id__gt=after)
        found = tuple(rows.order_by("id")[: size + 1])
        items = tuple(_items(caller, what, found[:size]))
        return Preview(
            counts=counts(caller=caller, what=what),
            items=items,
            next_after=items[-1].memory_id if len(found) > size else None,
        )


def counts(*, caller: Caller, what: Chosen) -> Counts:
    """Count what a rollback takes back, each within the caller's sight. In a unit.

    One more than a call takes back stands for more: nothing is counted further.
    """
    theirs = produced(caller=caller, what=what).filter(~stood_for(what=what))
    first = theirs.order_by("id").values_list("id", flat=True)[:COUNTED]
    going, behind = _chains(caller, what, first)
    seen = countable(caller=caller).filter(project=what.project_id).order_by()
    both = Q(source__in=going, target__in=seen) | Q(target__in=going, source__in=seen)
    sides = Q(older__in=going, newer__in=seen) | Q(newer__in=going, older__in=seen)
    others = rewritten(caller=caller, what=what).order_by("id").values_list("id", flat=True)
    ends = versions_before(ids=others[:COUNTED], what=what)
    back = sum(not isinstance(end, Left) for end in ends.values())
    return Counts(
        archived=min(len(going), COUNTED),
        rewritten=back,
        reinstated=min(len(behind), COUNTED),
        conflicts=Conflict.objects.filter(sides, verdict="").order_by()[:COUNTED].count(),
        links=MemoryLink.objects.filter(both).order_by()[:COUNTED].count(),
        left=min(_count_stays(caller, what) + len(ends) - back, COUNTED),
    )


def produced(*, caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return the memories that were produced and stand. In a unit."""
    return _here(caller, what).filter(of(what=what), status=Status.ACTIVE.value)


def rewritten(*, caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return the memories that were changed, and that others wrote or stand for. In a unit."""
    if not is_known(what=what):
        return Memory.objects.none()
    rows = _here(caller, what).filter(changed(what=what), status=Status.ACTIVE.value)
    return rows.exclude(goes(what=what))


def concerned(*, caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return all that a rollback looks at, produced or changed. In a unit."""
    theirs = rewritten(caller=caller, what=what).values("id")
    rows = _here(caller, what).filter(status=Status.ACTIVE.value)
    return rows.filter(of(what=what) | Q(id__in=theirs))


def replaced(*, caller: Caller, ids: Any) -> QuerySet[Memory]:
    """Return what the caller sees that these memories took the place of. In a unit."""
    rows = countable(caller=caller).order_by()
    return rows.filter(superseded_by__in=ids, status=Status.SUPERSEDED.value)


def stays(*, caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return what was produced and stays, since somebody else stands for it. In a unit.

    What was changed since is not among it: whether that goes back is looked at by itself.
    """
    rows = produced(caller=caller, what=what).filter(stood_for(what=what))
    return rows.exclude(changed(what=what)) if is_known(what=what) else rows


def closure(
    *, caller: Caller, what: Chosen, ids: frozenset[UUID]
) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """Return what goes with these memories, and what stands again behind them. In a unit.

    What of theirs replaced one another goes together; behind the first of them is what was there,
    or what somebody else stands for.
    """
    going, behind = _chains(caller, what, ids)
    return frozenset(going), frozenset(behind)


def _chains(
    caller: Caller, what: Chosen, ids: Iterable[UUID]
) -> tuple[Mapping[UUID, UUID], Mapping[UUID, UUID]]:
    """Return `closure`, each memory with that of the ids before which it stood."""
    going, behind = {one: one for one in ids}, dict[UUID, UUID]()
    fresh = set(going)
    for _ in range(LONGEST_CHAIN):
        below = replaced(caller=caller, ids=fresh).annotate(goes=goes(what=what))
        fresh = set()
        for one, successor, too in below.values_list("id", "superseded_by", "goes").order_by("id"):
            if successor is None:
                continue
            if too and one not in going:
                going[one] = going[successor]
                fresh.add(one)
            elif not too:
                behind[one] = going[successor]
        if not fresh:
            break
    return going, behind


def _here(caller: Caller, what: Chosen) -> QuerySet[Memory]:
    return countable(caller=caller).filter(project=what.project_id)


def _items(caller: Caller, what: Chosen, rows: tuple[Memory, ...]) -> list[Item]:
    ids = {row.id for row in rows}
    own = produced(caller=caller, what=what).filter(pk__in=ids).order_by()
    made = own.annotate(is_changed=Exists(others_changes(what=what)), is_kept=kept(what=what))
    fates: dict[UUID, tuple[Fate, Left | None]] = {}
    for memory_id, rewrote, stays in made.values_list("id", "is_changed", "is_kept"):
        why = Left.CHANGED if rewrote else Left.KEPT if stays else None
        fates[memory_id] = (Fate.ARCHIVED if why is None else Fate.LEFT, why)
    others = rewritten(caller=caller, what=what).filter(pk__in=ids).values_list("id", flat=True)
    for memory_id, end in versions_before(ids=others, what=what).items():
        why = end if isinstance(end, Left) else None
        fates[memory_id] = (Fate.REWRITTEN if why is None else Fate.LEFT, why)
    gone = tuple(id for id, (fate, _) in fates.items() if fate is Fate.ARCHIVED)
    again: dict[UUID, list[UUID]] = {}
    for one, successor in _chains(caller, what, gone)[1].items():
        again.setdefault(successor, []).append(one)
    return [_item(row, fates[row.id], again) for row in rows]


def _count_stays(caller: Caller, what: Chosen) -> int:
    return stays(caller=caller, what=what).order_by()[:COUNTED].count()


def _item(row: Memory, fate: tuple[Fate, Left | None], again: Mapping[UUID, list[UUID]]) -> Item:
    return Item(
        memory_id=row.id,
        citation=row.citation,
        type=row.type,
        fate=fate[0],
        why=fate[1],
        stands_again=tuple(again.get(row.id, ())),
    )
