"""Read conflicts: which are open, one with both sides, how many; and who may settle them, and how.

A conflict is shown to who may see both of its memories. One of which a side has left since,
archived or replaced, is not open any more: nothing is left to decide.

One rule for pages, REST and agents (`bars_of`). Stewards settle; others withdraw what they wrote
themselves. Who wrote one of the two only withdraws it: nobody approves what they proposed against
somebody else's. Nothing that others see leaves for what fewer see. A conflict with a personal
memory is its author's alone, nobody else learns of it, so the author may say that both hold:
nothing leaves by that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import and_
from typing import Final
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, TokenScope, decides_in_person, is_person, may
from accounts.errors import NotFound
from accounts.pages import Page
from memory.records import changes
from memory.records.models import Conflict, Memory, MemoryLink
from memory.records.queries import pending
from memory.records.queries.views import MemoryView, countable, give_out, views_of
from memory.taxonomy import ConflictCause, LinkKind, Scope, Status
from teams import visibility
from teams.permissions import Act, allows

LARGEST_PAGE = 200
Side = Memory | MemoryView
Sides = tuple[Side, Side]  # the older one first
COLUMNS = (  # of a row, as a view has them
    "id", "kind", "cause", "cosine", "found_at", "verdict", "reason", "settled_by", "settled_at",
)  # fmt: skip
OPEN = Q(verdict="", older__status=Status.ACTIVE.value, newer__status=Status.ACTIVE.value)


class ConflictVerdict(StrEnum):
    """How a conflict ends."""

    KEEP_OLDER = "keep_older"
    KEEP_NEWER = "keep_newer"
    BOTH = "both"
    EDIT = "edit"


class Bar(StrEnum):
    """Why somebody may not do something with a conflict; none where they may."""

    NONE = ""
    VIEWER = "viewer"
    AGENT = "agent"
    OVER = "over"
    OPEN = "open"
    OWN = "own"
    STEWARD = "steward"
    PERSONAL = "personal"


LEAVING: Final[dict[ConflictVerdict, tuple[int, ...]]] = {  # 0 is the older one, 1 the newer one
    ConflictVerdict.KEEP_OLDER: (1,),
    ConflictVerdict.KEEP_NEWER: (0,),
    ConflictVerdict.BOTH: (),
    ConflictVerdict.EDIT: (0, 1),
}
REOPEN: Final = "reopen"  # what may be barred beside the verdicts


class ConflictState(StrEnum):
    """Which conflicts are asked for."""

    OPEN = "open"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictView:
    """Two memories that say different things.

    `kind` is what the newer one would have done to the older one, `cause` why a person decides,
    `difference` what words find to differ, empty where they find nothing. `proposal_reason` is what
    an agent that proposes the newer one says of that; empty for other causes.
    `verdict` is empty while it is open. `barred` says of each verdict, and of reopening, why the
    reader may not. `version` is raised whenever it or one of its sides changes.
    """

    id: UUID
    older: MemoryView
    newer: MemoryView
    kind: str
    cause: str
    cosine: float | None
    found_at: datetime
    verdict: str
    reason: str
    settled_by: UUID | None
    settled_at: datetime | None
    version: int
    barred: Mapping[str, Bar]
    difference: str
    proposal_reason: str


def list_conflicts(
    *,
    caller: Caller,
    project: str | None,
    state: ConflictState,
    after: UUID | None,
    limit: int,
    now: datetime,
) -> Page[ConflictView, UUID]:
    """Return conflicts of a project, or of all places, the newest first.

    That an agent was given their sides is noted: what it says again confirms nothing.

    Raises NotFound for a project the caller cannot see.
    """
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        wanted = OPEN if state is ConflictState.OPEN else ~Q(verdict="")
        rows = pending.of_project(
            rows=_visible(caller).filter(wanted), caller=caller, project=project
        )
        if after is not None:
            rows = rows.filter(id__lt=after)
        found = tuple(rows.order_by("-id")[: size + 1])
        items = _views(caller, found[:size], now)
    return Page(items=items, next_place=found[size - 1].id if len(found) > size else None)


def count_open(*, caller: Caller, project: str | None) -> int:
    """Count the open conflicts of a project, or of all places, also what the caller snoozed."""
    with tenancy.unit():
        return _open(caller, project).count()


def count_settled(*, caller: Caller, project: str | None, since: datetime) -> int:
    """Count what was settled since a moment and still is. Raises NotFound."""
    with tenancy.unit():
        rows = pending.of_project(rows=_visible(caller), caller=caller, project=project)
        return rows.filter(settled_at__gte=since).exclude(verdict="").count()


def list_due(
    *,
    caller: Caller,
    project: str | None,
    among: Q,
    after: tuple[datetime, UUID] | None,
    limit: int,
    now: datetime,
) -> tuple[ConflictView, ...]:
    """Return those that have waited longest, behind a moment and id. Raises NotFound.

    Open ones that the caller has not snoozed, and that meet a condition.
    """
    with tenancy.unit():
        rows = _due(caller, project, now).filter(among)
        if after is not None:
            same = Q(found_at=after[0], id__gt=after[1])
            rows = rows.filter(Q(found_at__gt=after[0]) | same)
        return _views(caller, tuple(rows.order_by("found_at", "id")[:limit]), now)


def count_due(
    *, caller: Caller, project: str | None, among: Q, now: datetime
) -> tuple[int, datetime | None]:
    """Return how many conflicts wait for the caller, and since when the oldest does.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = _due(caller, project, now).filter(among)
        found = rows.aggregate(count=Count("id"), oldest=Min("found_at"))
    return int(found["count"]), found["oldest"]


def count_due_by_project(*, caller: Caller, now: datetime) -> dict[UUID, int]:
    """Return how many conflicts wait for the caller, by project; none is left out."""
    with tenancy.unit():
        rows = _due(caller, None, now).values_list("project_id").annotate(count=Count("id"))
        return {id: count for id, count in rows.order_by("project_id") if id is not None}


def list_open_versions(*, caller: Caller, project: str) -> tuple[str, ...]:
    """Return each open conflict of a project with its version; nothing where there are too many.

    By this a page learns that what it shows was decided or has changed. Raises NotFound.
    """
    with tenancy.unit():
        rows = _open(caller, project)
        columns = ("id", "version", "older__version", "newer__version")
        found = tuple(rows.order_by("-id").values_list(*columns)[: LARGEST_PAGE + 1])
    if len(found) > LARGEST_PAGE:
        return ()
    return tuple(f"{one[0]}:{one[1] + one[2] + one[3] - 2}" for one in found)


def get_conflict(*, caller: Caller, conflict_id: UUID, now: datetime) -> ConflictView:
    """Return one conflict. Raises NotFound, also where a side may not be seen."""
    with tenancy.unit():
        row = find_conflict(caller=caller, conflict_id=conflict_id)
        return view_of(caller=caller, row=row, now=now)


def find_conflict(*, caller: Caller, conflict_id: UUID, is_locked: bool = False) -> Conflict:
    """Return the row of a conflict, perhaps locked. In a unit. Raises NotFound."""
    rows = _visible(caller).filter(pk=conflict_id)
    row = (rows.select_for_update(of=("self",)) if is_locked else rows).first()
    if row is None:
        raise NotFound(
            detail="There is no such conflict.",
            hint="Its memories may be gone, or one of them belong to a scope you cannot see.",
        )
    return row


def view_of(*, caller: Caller, row: Conflict, now: datetime) -> ConflictView:
    """Turn a row whose sides the caller sees into a view. In a unit."""
    return _views(caller, (row,), now)[0]


def version_of(*, row: Conflict, sides: Sides) -> int:
    """Return the version of a conflict: nobody settles over a text that has changed since."""
    return row.version + sum(side.version - 1 for side in sides)


def is_open(*, row: Conflict, sides: Sides) -> bool:
    """Say whether nobody has settled a conflict and both sides are active."""
    return not row.verdict and all(side.status == Status.ACTIVE for side in sides)


def bars_of(*, caller: Caller, row: Conflict, sides: Sides) -> dict[str, Bar]:
    """Return what keeps a caller from what, of a conflict whose sides they see, the older first.

    By verdict, and for reopening.
    """
    who = Bar.NONE
    may_write = may(caller=caller, scope=TokenScope.WRITE)
    if not (may_write and allows(role=caller.role, act=Act.WRITE)):
        who = Bar.VIEWER
    elif not decides_in_person(caller=caller):
        who = Bar.AGENT
    is_steward = allows(role=caller.role, act=Act.SETTLE)
    bars = {
        verdict.value: who or _bar_of(verdict, caller.user_id, is_steward, row, sides)
        for verdict in ConflictVerdict
    }
    may_reopen = is_steward or row.settled_by == caller.user_id
    reopening = Bar.NONE if may_reopen else Bar.STEWARD
    bars[REOPEN] = who or (reopening if row.verdict else Bar.OPEN)
    return bars


def _bar_of(
    verdict: ConflictVerdict, me: UUID | None, is_steward: bool, row: Conflict, sides: Sides
) -> Bar:
    """Return why somebody who may decide may not give this verdict."""
    wrote = tuple(me is not None and side.author_user == me for side in sides)
    if not is_open(row=row, sides=sides):
        return Bar.OVER
    if any(wrote) and not _is_theirs(verdict, wrote, sides):
        return Bar.OWN
    if not (any(wrote) or is_steward):
        return Bar.STEWARD
    is_shared = _audience(sides[0]) == _audience(sides[1]) or _stays_shared(verdict, sides)
    return Bar.NONE if is_shared else Bar.PERSONAL


def _is_theirs(verdict: ConflictVerdict, wrote: tuple[bool, ...], sides: Sides) -> bool:
    """Say whether who wrote one of the two decides by that about nobody else's."""
    if verdict is not ConflictVerdict.BOTH:
        return all(wrote[side] for side in LEAVING[verdict])
    alone = (side.scope == Scope.PERSONAL for side in sides)
    return all(wrote) or any(map(and_, wrote, alone))


def _stays_shared(verdict: ConflictVerdict, sides: Sides) -> bool:
    """Say whether nothing shared leaves for what fewer people see."""
    leaving = LEAVING[verdict]
    if len(leaving) == 1:
        return sides[1 - leaving[0]].scope != Scope.PERSONAL
    return not leaving


def _audience(side: Side) -> tuple[str, UUID | None]:
    """Return who sees a memory: where it is the same, the same people do."""
    owners = {Scope.PERSONAL: side.author_user, Scope.TEAM: side.team_id}
    return side.scope, owners.get(Scope(side.scope), side.project_id)


def _visible(caller: Caller) -> QuerySet[Conflict]:
    seen = countable(caller=caller).order_by().values("id")
    return Conflict.objects.filter(older__in=seen, newer__in=seen)


def _open(caller: Caller, project: str | None) -> QuerySet[Conflict]:
    """Return the open conflicts of a project, or of all places. In a unit. Raises NotFound."""
    return pending.of_project(rows=_visible(caller).filter(OPEN), caller=caller, project=project)


def _due(caller: Caller, project: str | None, now: datetime) -> QuerySet[Conflict]:
    """Return the open ones that the caller has not snoozed. In a unit. Raises NotFound."""
    awake = pending.is_conflict_awake(caller=caller, now=now)
    return _open(caller, project).filter(awake)


def _views(caller: Caller, rows: tuple[Conflict, ...], now: datetime) -> tuple[ConflictView, ...]:
    ids = tuple(dict.fromkeys(id for row in rows for id in (row.older_id, row.newer_id)))
    sight = visibility.sight_of(caller=caller)
    read = views_of if is_person(caller=caller) else give_out
    sides = read(memory_ids=ids, sight=sight, now=now) if ids else {}
    reasons = _proposal_reasons(rows)
    pairs = ((row, sides.get(row.older_id), sides.get(row.newer_id)) for row in rows)
    return tuple(
        ConflictView(
            **{name: getattr(row, name) for name in COLUMNS},
            older=older,
            newer=newer,
            version=version_of(row=row, sides=(older, newer)),
            barred=bars_of(caller=caller, row=row, sides=(older, newer)),
            difference=changes.difference(old=older.content, new=newer.content),
            proposal_reason=reasons.get((row.newer_id, row.older_id), ""),
        )
        for row, older, newer in pairs
        if older is not None and newer is not None
    )


def _proposal_reasons(rows: tuple[Conflict, ...]) -> dict[tuple[UUID, UUID], str]:
    """Return what agents say of what they propose, by the newer and the older side. In a unit."""
    proposed = [row for row in rows if row.cause == ConflictCause.PROPOSED]
    if not proposed:
        return {}
    links = MemoryLink.objects.filter(
        source__in=[row.newer_id for row in proposed],
        target__in=[row.older_id for row in proposed],
        kind=LinkKind.CONTRADICTS.value,
    )
    found = links.order_by("id").values_list("source_id", "target_id", "description")
    return {(newer, older): said for newer, older, said in found}
