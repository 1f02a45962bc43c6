"""What sessions did and were given, in numbers, and the known dead ends that they entered again.

Numbers of the work are those of the session; of memories only those count that the caller may see,
so nobody learns from a sum that there is one more. The same holds for dead ends.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, Q, Sum, When
from django.db.models.fields.json import KeyTextTransform

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.figures import DeliveryOutcome
from memory.records.queries.views import MemoryView, countable, to_view, visible
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Session, Statistic
from memory.sessions.queries import sessions
from teams import visibility
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFigures:
    """One session; steps, calls and tokens are None until it was finalized.

    `used` and `wrong` are of the memories `given`, each counted once; `given_tokens` is what they
    took, and, to who opened the session, the text beside them.
    """

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    outcome: str = ""
    given: int = 0
    given_tokens: int = 0
    used: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReentryCounts:
    """How many known dead ends a session entered, and how many of them it had been given."""

    entered: int = 0
    told: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReentryView:
    """A dead end that a session entered: at which event, how, and whether it was given before."""

    memory: MemoryView
    sequence: int
    how: str
    told: bool


NO_FIGURES: Final = SessionFigures()
REENTERED_KEY: Final = "reentered"  # in a session's `observed`


def figures(*, caller: Caller, session_ids: tuple[UUID, ...]) -> Mapping[UUID, SessionFigures]:
    """Return the figures of sessions that the caller may see; others are left out."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        rows = sessions.visible(caller=caller).filter(pk__in=session_ids)
        numbers = rows.order_by("id").values(
            "id",
            beside=Case(
                When(sessions.opened_by_caller(caller=caller), then="heading_tokens"), default=0
            ),
            steps=KeyTextTransform("steps", "observed"),
            calls=KeyTextTransform("tools", "observed"),
            outcome=KeyTextTransform("outcome", "observed"),
            tokens=KeyTextTransform("tokens", "figures"),
        )
        found = {one["id"]: _work_figures(one) for one in numbers}
        seen = countable(caller=caller).values("id")
        log = GivenOut.objects.filter(session_id__in=tuple(found), memory_id__in=seen)
        used = Q(outcome=DeliveryOutcome.USED.value)
        wrong = Q(outcome=DeliveryOutcome.WRONG.value)
        delivered: Iterable[Mapping[str, Any]] = (
            log.order_by()
            .values("session_id")
            .annotate(
                given=Count("memory_id", distinct=True),
                cost=Sum("tokens"),
                used=Count("memory_id", filter=used, distinct=True),
                wrong=Count("memory_id", filter=wrong, distinct=True),
            )
        )
        for one in delivered:
            before = found[one["session_id"]]
            found[one["session_id"]] = replace(
                before,
                given=one["given"],
                given_tokens=before.given_tokens + (one["cost"] or 0),
                used=one["used"],
                wrong=one["wrong"],
            )
    return found


def _work_figures(one: Mapping[str, Any]) -> SessionFigures:
    steps, calls, tokens = (
        None if one[name] is None else int(one[name]) for name in ("steps", "calls", "tokens")
    )
    return SessionFigures(
        steps=steps,
        calls=calls,
        tokens=tokens,
        outcome=one["outcome"] or "",
        given_tokens=one["beside"],
    )


def reentries_of_sessions(
    *, caller: Caller, session_ids: Iterable[UUID]
) -> Mapping[UUID, ReentryCounts]:
    """Return what ended sessions entered, of those the caller may see, by id. In a unit.

    A session that was not finalized is not among them.
    """
    sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
    rows = Session.objects.filter(
        sight, pk__in=tuple(session_ids), finalized_at__isnull=False
    ).order_by()
    kept = {
        id: tuple((observed or {}).get(REENTERED_KEY, ()))
        for id, observed in rows.values_list("id", "observed")
    }
    named = {one["memory_id"] for entries in kept.values() for one in entries}
    seen = {
        str(id) for id in countable(caller=caller).filter(pk__in=named).values_list("id", flat=True)
    }
    return {
        id: ReentryCounts(
            entered=sum(one["memory_id"] in seen for one in entries),
            told=sum(one["memory_id"] in seen and bool(one["told"]) for one in entries),
        )
        for id, entries in kept.items()
    }


def reentries_of_memory(*, caller: Caller, memory_id: UUID) -> ReentryCounts:
    """Return how many sessions entered a dead end, of sessions the caller may see.

    Nothing for a memory that the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        if not countable(caller=caller).filter(pk=memory_id).exists():
            return ReentryCounts()
        sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
        rows = Statistic.objects.filter(sight, kind=Kind.REENTRY.value, key=str(memory_id))
        counts = tuple(rows.order_by("id").values_list("counts", flat=True))
    return ReentryCounts(
        entered=sum(int(one.get("sessions", 0)) for one in counts),
        told=sum(int(one.get("told", 0)) for one in counts),
    )


def reentry_views(
    *, caller: Caller, observed: Mapping[str, Any], now: datetime
) -> tuple[ReentryView, ...]:
    """Return what a session entered, of the dead ends the caller may see. In a unit."""
    entries = tuple(observed.get(REENTERED_KEY, ()))
    rows = visible(caller=caller).filter(pk__in=[one["memory_id"] for one in entries])
    views = {str(row.id): to_view(row, now=now) for row in rows} if entries else {}
    return tuple(
        ReentryView(
            memory=views[one["memory_id"]],
            sequence=int(one["sequence"]),
            how=str(one["how"]),
            told=bool(one["told"]),
        )
        for one in entries
        if one["memory_id"] in views
    )
