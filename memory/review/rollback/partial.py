"""Take a part of a rollback back: some of what was produced, or of what was changed.

Each memory gets a verdict of its own, that keeps how all was; those of one call have one moment, so
that all of it is undone together. What went back already is not found again, so a part that is done
twice does nothing the second time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.caller import Caller
from accounts.errors import CairnError
from memory.records.actions import revise
from memory.records.conflict_models import Conflict
from memory.records.models import Memory, MemoryVersion
from memory.records.verdicts import Verdict
from memory.review.actions import conflict_reopen, reactivate, verdict
from memory.review.actions.unlink import TAKEN
from memory.review.actions.verdict import Traces
from memory.review.rollback import changes, protected, selection
from memory.review.rollback.permissions import Chosen
from memory.review.rollback.queries import REASON
from memory.review.rollback.rules import AT_ONCE, REWRITTEN, SAID_AGAIN, Left
from memory.taxonomy import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a part did: after which memory the next one begins, None where nothing is left."""

    after: UUID | None
    archived: int = 0
    rewritten: int = 0
    reinstated: int = 0
    left: int = 0
    review_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Memories held for a part: those that go, and by whom each of the others was replaced.

    `settled` are the conflicts of which one that goes took the place of both sides.
    """

    going: tuple[Memory, ...]
    behind: tuple[Memory, ...]
    settled: tuple[Conflict, ...]


def archive_part(*, caller: Caller, what: Chosen, after: UUID | None, most: int) -> Part:
    """Archive the next ones of what was produced; what they replaced stands again. In a unit."""
    rows = _going(caller, what)
    rows = rows if after is None else rows.filter(id__gt=after)
    ids = tuple(rows.order_by("id").values_list("id", flat=True)[: min(most, AT_ONCE)])
    if not ids:
        return Part(after=None)
    together = selection.with_twins(caller=caller, what=what, ids=frozenset(ids))
    held = _hold(caller, what, together)
    traces = {row.id: Traces() for row in held.going}
    for row in held.going:
        traces[row.id].keep(row)
    now = what.asked_at
    reactivate.put_away(caller=caller, rows=held.going, reason=REASON, now=now)
    free = reactivate.without_twins(rows=held.behind)
    for row in free:
        traces[_successor(row)].keep(row)
    edges = reactivate.bring_back(caller=caller, rows=free, now=now)
    opened = conflict_reopen.open_again(caller=caller, held=held.settled, rows=free)
    beside = {row.id: _beside(row, edges, opened) for row in held.going}
    made = _note(caller, held.going, traces, beside, now)
    return Part(
        after=ids[-1],
        archived=len(held.going),
        reinstated=len(free),
        left=len(held.behind) - len(free),
        review_id=made,
    )


def rewrite_part(*, caller: Caller, what: Chosen, after: UUID | None, most: int) -> Part:
    """Let the next ones of what was changed say again what they said before. In a unit."""
    rows = selection.rewritten(caller=caller, what=what)
    rows = rows if after is None else rows.filter(id__gt=after)
    ids = tuple(rows.order_by("id").values_list("id", flat=True)[: min(most, AT_ONCE)])
    held = lock(ids=ids)
    still = selection.rewritten(caller=caller, what=what).filter(pk__in=held)
    ends = changes.versions_before(ids=still.values_list("pk", flat=True), what=what)
    made = [_back(caller, held[id], end, what.asked_at) for id, end in ends.items()]
    done = [one for one in made if one is not None]
    return Part(
        after=ids[-1] if ids else None,
        rewritten=len(done),
        left=len(ids) - len(done),
        review_id=done[0] if done else None,
    )


def lock_all(*, caller: Caller, what: Chosen) -> None:
    """Lock all that both parts write, where one transaction does both. In a unit."""
    roots = frozenset(_going(caller, what).values_list("id", flat=True))
    going, behind = selection.closure(caller=caller, what=what, ids=roots)
    changed = selection.rewritten(caller=caller, what=what).values_list("id", flat=True)
    conflict_reopen.hold(ids=going)
    lock(ids={*going, *behind, *changed})


def lock(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Lock memories in the order in which everybody does; return them as they are. In a unit."""
    rows = Memory.objects.select_for_update(of=("self",)).filter(pk__in=set(ids))
    return {row.id: row for row in rows.order_by("id")}


def _going(caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return what was produced and goes: nobody else stands for it."""
    rows = selection.produced(caller=caller, what=what)
    return rows.filter(~protected.stood_for(what=what))


def _hold(caller: Caller, what: Chosen, ids: frozenset[UUID]) -> _Held:
    """Lock what a part writes, and look again: what has come to stay meanwhile stays. In a unit."""
    going, behind = selection.closure(caller=caller, what=what, ids=ids)
    settled = conflict_reopen.hold(ids=going)
    held = lock(ids=going | behind)
    still = frozenset(_going(caller, what).filter(pk__in=ids).values_list("id", flat=True))
    going, behind = selection.closure(caller=caller, what=what, ids=still)
    gone = {Status.ARCHIVED.value, Status.DELETED.value}
    leaving = tuple(row for id, row in held.items() if id in going and row.status not in gone)
    names = {row.id for row in leaving}
    return _Held(
        going=leaving,
        behind=tuple(
            row
            for id, row in held.items()
            if id in behind and row.status == Status.SUPERSEDED and row.superseded_by_id in names
        ),
        settled=settled,
    )


def _successor(row: Memory) -> UUID:
    if row.superseded_by_id is None:
        raise TypeError("what was replaced names its successor")
    return row.superseded_by_id


def _beside(
    row: Memory, edges: tuple[Mapping[str, Any], ...], opened: tuple[Mapping[str, Any], ...]
) -> Mapping[str, Any]:
    """Return what went and what opened with a memory beside its fields, to be undone."""
    own = [edge for edge in edges if edge["source_id"] == str(row.id)]
    again = conflict_reopen.of_text(opened=opened, successor=row.id)
    return {TAKEN: own, conflict_reopen.REOPENED: again} if again else {TAKEN: own}


def _note(
    caller: Caller,
    rows: tuple[Memory, ...],
    traces: Mapping[UUID, Traces],
    beside: Mapping[UUID, Mapping[str, Any]],
    now: datetime,
) -> UUID | None:
    """Write down a verdict a memory that went; return the first."""
    made = [
        verdict.note(
            caller=caller,
            row=row,
            verdict=Verdict.ROLL_BACK,
            traces=traces[row.id],
            now=now,
            extra=beside[row.id],
        )
        for row in rows
    ]
    return made[0] if made else None


def _back(caller: Caller, row: Memory, end: MemoryVersion | Left, now: datetime) -> UUID | None:
    """Bring one held memory back to what it said; return the verdict, None where it is left."""
    if isinstance(end, Left):
        return None
    try:
        with transaction.atomic():  # what was written of a memory that stays goes again
            return _gone_back(caller, row, end, now)
    except CairnError:  # another memory says the same by now, or its text is refused
        return None


def _gone_back(caller: Caller, row: Memory, version: MemoryVersion, now: datetime) -> UUID:
    traces, number = Traces(), row.version
    traces.keep(row)
    revise.go_back(caller=caller, row=row, version=version, reason=REASON, now=now)
    return verdict.note(
        caller=caller,
        row=row,
        verdict=Verdict.ROLL_BACK,
        traces=traces,
        now=now,
        extra={REWRITTEN: number, SAID_AGAIN: version.number},
    )
