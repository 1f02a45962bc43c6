"""Read the review inbox: what waits for whom, one memory in detail, what was decided.

A memory waits while somebody should look at it and nobody has; who snoozed it does not see it until
then. A conflict waits until it is settled, likewise. What waits of one import (`imported`, the ids
of its memories) is what came with it, and the conflicts that it brought. All of it is of memories
that the caller may see.

What a session came to, and how a memory was learned in a session.

Who may see a session may see its summary; of the memories each sees those they may see. Who may see
a memory need not see its session: then nothing is said of how it was learned. What a signal rests
on is kept in the session when it is promoted, so it stays when the events themselves are forgotten.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, Min, Q, QuerySet, Value, When

from accounts import tenancy
from accounts.caller import Caller
from accounts.pages import Page, page_of
from memory.customization.queries import trust_level_of
from memory.experiments import queries as experiments
from memory.records.models import BESIDE, Memory, ReviewVerdict
from memory.records.queries import memories, pending, views
from memory.review.queries import conflicts
from memory.search.queries import find_similar
from memory.search.request import Narrowing, narrowed_question
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.taxonomy import Source, Status, Verdict
from teams import queries as places
from teams import trust
from teams.permissions import Act, require

WEEK: Final = timedelta(days=7)
MOST_SIMILAR: Final = 3  # memories shown beside a waiting one; default, not measured
SIMILAR_FROM: Final = 0.55  # cosine from which another is worth showing; as the Teach panel's
IMPORTED: Final = Q(source=Source.IMPORT.value)
GROUP: Final = Case(  # of what waits; each waits in one
    When(pending.TAINTED, then=Value(pending.Group.TAINTED.value)),
    When(pending.STALE, then=Value(pending.Group.STALE.value)),
    When(IMPORTED, then=Value(pending.Group.IMPORTS.value)),
    default=Value(pending.Group.NEW.value),
)
MOST: Final = 200  # memories of a session that are shown; default, not measured
INNER: Final = frozenset({  # shown elsewhere
    "promoted", "ribbon", "named", "carried", experiments.REENTERED_KEY,
})  # fmt: skip
LEARNED: Final = re.compile(r"\Asession:[0-9a-f-]{36}#")  # how the source of such a memory begins
EMPTY: Final[Mapping[str, Any]] = {
    "signals": {}, "seen": [], "dropped": {}, "early": [], "counts": {}, "steps": 0, "tools": 0,
    "outcome": "", "tainted_by": "", "task": "", "events": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPosition:
    """Where a page starts: after this memory or conflict, the longest waiting first."""

    since: datetime
    item_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A memory that waits, and in which group; of a conflict the newer one, and the conflict."""

    memory: views.MemoryView
    group: pending.Group
    conflict: conflicts.ConflictView | None = None

    @property
    def place(self) -> InboxPosition:
        """Return its position in the list."""
        if self.conflict is not None:
            return InboxPosition(since=self.conflict.found_at, item_id=self.conflict.id)
        return InboxPosition(since=self.memory.created_at, item_id=self.memory.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxCounts:
    """How much waits for the caller, by group, and since when the oldest does."""

    by_group: Mapping[pending.Group, int]
    total: int
    oldest_at: datetime | None
    minutes_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session, what it showed, and what came of it.

    Each candidate is a memory that it came to: whether it waits, who may keep it, on what it rests;
    `why` names the signal, empty for what was taken from turns. `proposals` are those of them that
    would take the place of another memory. `waiting` counts what nobody has decided; what the
    caller has put off until later is left out. `asking` is how the caller wants to be asked about
    it, by their trust in the project; `again` are the known dead ends that the session entered.
    """

    session: sessions.SessionView
    shown: Mapping[str, Any]
    candidates: tuple[Mapping[str, Any], ...]
    proposals: frozenset[UUID]
    waiting: int
    asking: trust.Asking
    again: tuple[experiments.ReentryView, ...] = ()


def count_waiting(
    *,
    caller: Caller,
    project: str | None,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> InboxCounts:
    """Count what waits for the caller, in a project or everywhere, or of one import.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
        found = rows.annotate(group=GROUP).values("group").order_by("group")
        groups = tuple(found.annotate(n=Count("id"), oldest=Min("created_at")))
        brought = Q() if imported is None else Q(newer__in=imported)
        disputed, since = conflicts.count_due(
            caller=caller, project=project, among=brought, now=now
        )
    by_group = {pending.Group(one["group"]): int(one["n"]) for one in groups}
    by_group[pending.Group.CONFLICTS] = disputed
    total = sum(by_group.values())
    times = (one["oldest"] for one in groups)
    return InboxCounts(
        by_group={group: by_group.get(group, 0) for group in pending.Group},
        total=total,
        oldest_at=min((one for one in (*times, since) if one is not None), default=None),
        minutes_left=pending.minutes_left(memories=total),
    )


def list_waiting(
    *,
    caller: Caller,
    project: str | None,
    group: pending.Group | None,
    after: InboxPosition | None,
    limit: int,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> Page[InboxItem, InboxPosition]:
    """Return at most `limit` of what waits, the longest waiting first. Raises NotFound."""
    found: list[InboxItem] = []
    with tenancy.unit():
        if group is not pending.Group.CONFLICTS:
            rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
            found.extend(_list_memories(caller, rows, group, after, limit + 1, now))
        if group in {None, pending.Group.CONFLICTS}:
            disputed = conflicts.list_due(
                caller=caller,
                project=project,
                among=Q() if imported is None else Q(newer__in=imported),
                after=None if after is None else (after.since, after.item_id),
                limit=limit + 1,
                now=now,
            )
            found.extend(
                InboxItem(memory=one.newer, group=pending.Group.CONFLICTS, conflict=one)
                for one in disputed
            )
    found.sort(key=lambda one: (one.place.since, one.place.item_id))
    return page_of(found=found, limit=limit, place=lambda last: last.place)


def waiting_ids(
    *,
    caller: Caller,
    project: str | None,
    group: pending.Group | None,
    most: int,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> tuple[UUID, ...]:
    """Return the ids of memories that wait in a group, at most so many, in their order.

    Conflicts are decided one by one. Raises NotFound.
    """
    if group is pending.Group.CONFLICTS:
        return ()
    with tenancy.unit():
        rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
        if group is not None:
            rows = rows.annotate(group=GROUP).filter(group=group.value)
        return tuple(rows.order_by("created_at", "id").values_list("id", flat=True)[:most])


def waiting_memory(*, caller: Caller, memory_id: UUID, now: datetime) -> dict[str, Any]:
    """Return one memory as the inbox shows it, with all it takes to decide. Raises NotFound.

    `waits` is False once somebody has; `sides` contradict it; `alike` are similar ones.
    """
    with tenancy.unit():
        row = memories.find_memory(caller=caller, memory_id=memory_id)
        view, sides = memories.get_together(caller=caller, memory_id=memory_id, now=now)
        alike = _find_similar(caller, row, now)
        is_proposal = pending.is_proposal(row=row)
    waits_in = pending.group_of(row=row)
    group = waits_in or pending.Group.NEW
    return {
        "memory": view,
        "sides": sides,
        "group": group,
        "waits": waits_in is not None,
        "alike": alike,
        "suggestion": pending.suggest(
            row=row,
            group=group,
            confidence=view.effective_confidence,
            nearest=next((one["similarity"] for one in alike if one["mergeable"]), None),
        ),
        "may_keep": pending.may_approve(caller=caller, row=row) and not is_proposal,
        "is_proposal": is_proposal,
    }


def waiting_sessions(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[dict[str, Any], ...]:
    """Return the newest sessions of a project of which something waits, each with how much does.

    Of sessions and memories that the caller may see. Raises NotFound for a project not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        seen = sessions.of_project(caller=caller, project_id=place.id)
        due = waiting_rows(caller=caller, project=project, imported=None, now=now)
        due = due.filter(session_id__in=seen.order_by().values("id"))
        found = due.order_by().values("session_id").annotate(count=Count("pk"))
        counts: dict[Any, int] = {one["session_id"]: one["count"] for one in found}
        rows = Session.objects.filter(pk__in=counts).order_by("-opened_at", "id")[:limit]
        shown = rows.values("id", "agent", "source_interface", "opened_at")
        return tuple({**row, "count": counts[row["id"]]} for row in shown)


def count_decided(*, caller: Caller, project: str | None, now: datetime) -> dict[str, Any]:
    """Count what was decided in seven days of memories the caller may see, and conflicts settled.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = pending.of_project(
            rows=views.countable(caller=caller), caller=caller, project=project
        )
        found = ReviewVerdict.objects.filter(
            memory__in=rows, undone_at__isnull=True, decided_at__gte=now - WEEK
        ).exclude(verdict__in=(*BESIDE, Verdict.ROLL_BACK.value))
        names = Counter(found.order_by("id").values_list("verdict", flat=True))
        settled = conflicts.count_settled(caller=caller, project=project, since=now - WEEK)
    return {
        "by_verdict": {Verdict(name): count for name, count in sorted(names.items())},
        "settled": settled,
        "total": sum(names.values()) + settled,
    }


def waiting_rows(
    *, caller: Caller, project: str | None, imported: QuerySet[Any] | None, now: datetime
) -> QuerySet[Memory]:
    """Return the rows that wait for the caller. In a unit. Raises NotFound."""
    rows = pending.of_project(rows=views.countable(caller=caller), caller=caller, project=project)
    if imported is not None:
        rows = rows.filter(id__in=imported)
    awake = pending.is_awake(caller=caller, now=now)
    return rows.filter(pending.WAITING, awake, status=Status.ACTIVE.value)


def _list_memories(
    caller: Caller,
    rows: QuerySet[Memory],
    group: pending.Group | None,
    after: InboxPosition | None,
    limit: int,
    now: datetime,
) -> tuple[InboxItem, ...]:
    """Return the memories that have waited longest. In a unit."""
    rows = rows.annotate(group=GROUP)
    if group is not None:
        rows = rows.filter(group=group.value)
    if after is not None:
        same = Q(created_at=after.since, id__gt=after.item_id)
        rows = rows.filter(Q(created_at__gt=after.since) | same)
    ordered = rows.order_by("created_at", "id")
    found = dict(ordered.values_list("id", "group")[:limit])
    seen = memories.by_ids(caller=caller, memory_ids=tuple(found), now=now) if found else {}
    return tuple(
        InboxItem(memory=seen[one], group=pending.Group(name))
        for one, name in found.items()
        if one in seen
    )


def _find_similar(caller: Caller, row: Memory, now: datetime) -> tuple[dict[str, Any], ...]:
    """Return what is nearest by meaning, what it can be merged into before the rest. In a unit.

    Mergeable is what is of the same project and people.
    """
    question = narrowed_question(caller=caller, narrowing=Narrowing())
    near = dict(find_similar(memory_id=row.id, question=question, limit=MOST_SIMILAR))
    if not near:
        return ()
    seen = memories.by_ids(caller=caller, memory_ids=tuple(near), now=now)
    rows = views.countable(caller=caller).filter(id__in=seen, project=row.project_id)
    mergeable = set(rows.filter(audience=row.audience).values_list("id", flat=True))
    found = (
        {"memory": seen[one], "similarity": round(value, 4), "mergeable": one in mergeable}
        for one, value in near.items()
        if one in seen and value >= SIMILAR_FROM
    )
    return tuple(sorted(found, key=lambda one: (not one["mergeable"], -one["similarity"])))


def get_summary(*, caller: Caller, session_id: UUID, now: datetime) -> SessionSummary:
    """Return what a session came to. Raises NotFound also for one the caller may not see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        return read_summary(caller=caller, session_id=session_id, now=now)


def read_summary(*, caller: Caller, session_id: UUID, now: datetime) -> SessionSummary:
    """Return what a session came to. In a unit. Raises NotFound."""
    row = sessions.find(caller=caller, session_id=session_id)
    observed = row.observed or {}
    promoted = {one["memory_id"]: one for one in observed.get("promoted", ())}
    rows = tuple(_candidate_rows(caller, row))
    waiting = set(_awake_ids(caller, rows, now))
    proposals = pending.proposals_among(rows=rows)
    candidates: list[dict[str, Any]] = []
    for one in rows:
        kept = promoted.get(str(one.id), {})
        candidate = {
            "memory": views.to_view(one, now=now),
            "waits": one.id in waiting,
            "may_keep": one.id not in proposals and pending.may_approve(caller=caller, row=one),
            "why": str(kept.get("key", "")).partition(":")[0],
            "tier": str(kept.get("tier", "")),
            "sessions": int(kept.get("sessions", 1)),
            "evidence": tuple(kept.get("evidence", ())),
        }
        candidates.append(candidate)
    level = trust_level_of(caller=caller, project_id=row.project_id)
    return SessionSummary(
        session=sessions.to_view(row),
        shown={**EMPTY, **{name: observed[name] for name in observed if name not in INNER}},
        candidates=tuple(candidates),
        proposals=proposals,
        waiting=sum(one["waits"] for one in candidates),
        asking=trust.level_row(level=level).asking,
        again=experiments.reentry_views(caller=caller, observed=observed, now=now),
    )


def candidate_ids(*, caller: Caller, session: Session) -> tuple[UUID, ...]:
    """Return the memories of a session that the caller may see. In a unit."""
    return tuple(one.id for one in _candidate_rows(caller, session))


def session_waiting_ids(*, caller: Caller, session: Session, now: datetime) -> tuple[UUID, ...]:
    """Return the memories of a session that wait, as its summary counts them. In a unit."""
    return _awake_ids(caller, tuple(_candidate_rows(caller, session)), now)


def is_of_session(*, memory: views.MemoryView) -> bool:
    """Say whether a memory was learned in a session."""
    return LEARNED.match(memory.source_uri) is not None


def find_origin(*, caller: Caller, memory: views.MemoryView) -> Mapping[str, Any] | None:
    """Return the session a memory was learned in; None where none is, or none the caller may see.

    By a `signal` of what was done, or from a `turn`; `sessions` counts those that show the same,
    `project` is empty where the session belongs to none. It `rests` on events, each with its
    sequence, its step, and the file and line where it names one.
    """
    if not is_of_session(memory=memory):
        return None
    own = Memory.objects.filter(pk=memory.id).values("session_id")
    with tenancy.unit():
        row = sessions.visible(caller=caller).filter(pk__in=own).first()
    if row is None:
        return None
    promoted = (row.observed or {}).get("promoted", ())
    kept: Mapping[str, Any] = next(
        (one for one in promoted if one["memory_id"] == str(memory.id)), {}
    )
    turn = sessions.turn_of(source_uri=memory.source_uri)
    sign = memory.source_uri.partition("#")[2]
    return {
        "session_id": row.id,
        "project": row.project.slug if row.project else "",
        "agent": row.agent,
        "branch": row.branch,
        "opened_at": row.opened_at,
        "signal": sign.partition("-")[0] if turn is None else "",
        "sessions": int(kept.get("sessions", 1)),
        "turn": turn,
        "rests": tuple(kept.get("evidence", ())),
    }


def _candidate_rows(caller: Caller, session: Session) -> QuerySet[Memory]:
    rows = views.visible(caller=caller).filter(session_id=session.id)
    return rows.order_by("-confidence", "id")[:MOST]


def _awake_ids(caller: Caller, rows: tuple[Memory, ...], now: datetime) -> tuple[UUID, ...]:
    ids = tuple(row.id for row in rows if pending.group_of(row=row) is not None)
    awake = Memory.objects.filter(pending.is_awake(caller=caller, now=now), pk__in=ids)
    found = set(awake.values_list("id", flat=True))
    return tuple(one for one in ids if one in found)
