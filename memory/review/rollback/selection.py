"""What a rollback reaches: produced, changed, replaced, all within the caller's sight.

What they may not see is neither counted nor listed, and is never touched.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.caller import Caller
from memory.records.models import Memory
from memory.records.queries import uniqueness
from memory.records.queries.uniqueness import Taken
from memory.records.queries.views import countable
from memory.review.rollback.changes import changed, is_known
from memory.review.rollback.permissions import Chosen
from memory.review.rollback.protected import goes, of, stood_for
from memory.review.rollback.rules import LONGEST_CHAIN
from memory.taxonomy import Status


def produced(*, caller: Caller, what: Chosen) -> QuerySet[Memory]:
    """Return the memories that were produced and stand. In a unit."""
    return _here(caller, what).filter(of(what=what), status=Status.ACTIVE.value)


def rewritten(*, caller: Caller, what: Chosen, besides: Collection[UUID] = ()) -> QuerySet[Memory]:
    """Return the memories that were changed, and that others wrote or stand for. In a unit.

    Of those that stand, and of those `besides` that will.
    """
    if not is_known(what=what):
        return Memory.objects.none()
    rows = _here(caller, what).filter(Q(status=Status.ACTIVE.value) | Q(pk__in=besides))
    return rows.filter(changed(what=what)).exclude(goes(what=what))


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
    going, behind = chains(caller=caller, what=what, ids=ids)
    return frozenset(going), frozenset(behind)


def with_twins(*, caller: Caller, what: Chosen, ids: frozenset[UUID]) -> frozenset[UUID]:
    """Return these of what was produced, and those that bar what would stand again. In a unit.

    They go as well, so they go first or together: else it would hang on the order of ids.
    """
    theirs = produced(caller=caller, what=what).exclude(stood_for(what=what)).order_by()
    for _ in range(LONGEST_CHAIN):
        _, behind = closure(caller=caller, what=what, ids=ids)
        rows = Memory.objects.filter(pk__in=behind).only(*uniqueness.COLUMNS)
        taken = Taken(wanted=[uniqueness.claim_of(row=row) for row in rows.order_by("id")])
        more = frozenset(theirs.filter(pk__in=taken.owners()).values_list("id", flat=True))
        if more <= ids:
            break
        ids |= more
    return ids


def chains(
    *, caller: Caller, what: Chosen, ids: Iterable[UUID]
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
