"""What a writer, a session, a time or an ancestor produced in a project, as it can be rolled back.

Everything is of the caller's sight: what they may not see is neither counted nor listed, and is
never touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Exists, Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.messages import message
from memory.records.conflict_models import Conflict
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import countable
from memory.review.rollback import plan, selection
from memory.review.rollback.changes import others_changes, versions_before
from memory.review.rollback.permissions import Choice, Chosen, check_in_person, chosen
from memory.review.rollback.plan import Plan
from memory.review.rollback.protected import kept
from memory.review.rollback.rules import MOST, Fate, Left

LARGEST_PAGE: Final = 200
COUNTED: Final = MOST + 1  # of each at most: so much stands for more
REASON: Final = message("it was rolled back")  # why a memory was archived or has its text before


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
        planned = plan.plan(caller=caller, what=what, most=COUNTED)
        rows = selection.concerned(caller=caller, what=what)
        if after is not None:
            rows = rows.filter(id__gt=after)
        found = tuple(rows.order_by("id")[: size + 1])
        items = tuple(_items(caller, what, found[:size], planned))
        return Preview(
            counts=_counts(caller, what, planned),
            items=items,
            next_after=items[-1].memory_id if len(found) > size else None,
        )


def counts(*, caller: Caller, what: Chosen) -> Counts:
    """Count what a rollback takes back, each within the caller's sight. In a unit.

    One more than a call takes back stands for more: nothing is counted further.
    """
    return _counts(caller, what, plan.plan(caller=caller, what=what, most=COUNTED))


def _counts(caller: Caller, what: Chosen, planned: Plan) -> Counts:
    going = planned.going
    seen = countable(caller=caller).filter(project=what.project_id).order_by()
    both = Q(source__in=going, target__in=seen) | Q(target__in=going, source__in=seen)
    sides = Q(older__in=going, newer__in=seen) | Q(newer__in=going, older__in=seen)
    stays = selection.stays(caller=caller, what=what).order_by()[:COUNTED].count()
    back = sum(why is None for why in planned.ends.values())
    left = stays + len(planned.blocked) + len(planned.ends) - back
    return Counts(
        archived=min(len(going), COUNTED),
        rewritten=min(back, COUNTED),
        reinstated=min(len(planned.again), COUNTED),
        conflicts=Conflict.objects.filter(sides, verdict="").order_by()[:COUNTED].count(),
        links=MemoryLink.objects.filter(both).order_by()[:COUNTED].count(),
        left=min(left, COUNTED),
    )


def _items(caller: Caller, what: Chosen, rows: tuple[Memory, ...], planned: Plan) -> list[Item]:
    """Return what becomes of a page of memories; of those past what is planned, each by itself."""
    ids = frozenset(row.id for row in rows)
    fates = {one: _fate(why) for one, why in planned.ends.items() if one in ids}
    own = selection.produced(caller=caller, what=what).filter(pk__in=ids - fates.keys())
    made = own.annotate(is_changed=Exists(others_changes(what=what)), is_kept=kept(what=what))
    told = made.order_by().values_list("id", "is_changed", "is_kept")
    for memory_id, rewrote, stays in told:
        why = Left.CHANGED if rewrote else Left.KEPT if stays else None
        fates[memory_id] = (Fate.ARCHIVED if why is None else Fate.LEFT, why)
    more = versions_before(ids=ids - fates.keys(), what=what)
    fates |= {one: _fate(end if isinstance(end, Left) else None) for one, end in more.items()}
    again: dict[UUID, list[UUID]] = {}
    for one, successor in planned.again.items():
        again.setdefault(successor, []).append(one)
    return [_item(row, fates[row.id], again) for row in rows]


def _fate(why: Left | None) -> tuple[Fate, Left | None]:
    return (Fate.REWRITTEN if why is None else Fate.LEFT, why)


def _item(row: Memory, fate: tuple[Fate, Left | None], again: Mapping[UUID, list[UUID]]) -> Item:
    return Item(
        memory_id=row.id,
        citation=row.citation,
        type=row.type,
        fate=fate[0],
        why=fate[1],
        stands_again=tuple(again.get(row.id, ())),
    )
