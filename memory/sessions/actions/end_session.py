"""End sessions, the silent ones too, and forget what is past its time.

Every ending sets the state and queues the job that takes what is worth keeping.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.queries.directory import keep_events_days
from memory.sessions import queries as sessions
from memory.sessions.models import GivenOut, Session, Stream, Turn
from memory.sessions.queries import SessionView
from teams import audit
from teams.permissions import Act, require
from teams.queries import events_days_by_project

JOB: Final = "memory.consolidate"
MOST_AT_ONCE: Final = 500  # sessions that end together, so that it never takes long
IDLE_MINUTES: Final = 60  # after which a silent session has ended; not measured
LONGEST_HOURS: Final = 24  # that a session goes on before it is decided about; not measured
OF_EVENTS: Final = (Stream.DONE, Stream.CHECKPOINT)
KEEP_GIVEN_DAYS: Final = 90  # that somebody was given a memory; not measured


def close(*, rows: Iterable[Session], now: datetime) -> tuple[UUID | None, ...]:
    """End locked sessions; return the job that consolidates each. In a unit.

    None is queued for a session that is not to be kept.
    """
    queued: list[UUID | None] = []
    for row in rows:
        row.state, row.ended_at = "ended", now
        row.save(update_fields=["state", "ended_at"])
        job_id = None
        if row.memory_eligible:
            payload, creator = {"ids": [str(row.id)]}, row.opened_by or row.token_id
            job_id = jobs.enqueue(JOB, payload=payload, key=row.id.hex, created_by=creator)
        queued.append(job_id)
    return tuple(queued)


def close_others(*, caller: Caller, row: Session, now: datetime) -> int:
    """End the other open sessions of the same agent and credential there; return how many."""
    same = Session.objects.select_for_update().filter(
        state="open",
        audience=row.audience,
        project=row.project,
        agent=row.agent,
        token_id=caller.token_id,
        opened_by=caller.user_id,
    )
    return len(close(rows=same.exclude(pk=row.pk).order_by("id")[:MOST_AT_ONCE], now=now))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The session, and the job that consolidates it; None where one waits already, or none is due.

    None is due for a session that is not to be kept.
    """

    session: SessionView
    job_id: UUID | None


def end_session(*, caller: Caller, session_id: UUID, now: datetime) -> Ended:
    """End a session and queue its consolidation in the same unit; ended once, it stays ended.

    Raises NotFound, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = sessions.hold_own(caller=caller, session_id=session_id)
        job_id = close(rows=(row,), now=now)[0] if row.state == "open" else None
        audit.append(
            act="session.ended", object_type="session", object_id=str(row.id), caller=caller
        )
        found = sessions.find(caller=caller, session_id=session_id)
        return Ended(session=sessions.to_view(found), job_id=job_id)


def end_idle(*, now: datetime) -> int:
    """End the entered organization's sessions that have been silent; return how many.

    One that is busy day and night ends once a day too, so that what it showed is decided about; it
    goes on with its next event, as any session that ended.
    """
    silent = Q(active_at__lt=now - timedelta(minutes=IDLE_MINUTES))
    old = now - timedelta(hours=LONGEST_HOURS)
    is_due = Q(consolidated_at__isnull=True) | Q(consolidated_at__lt=old)
    is_long = is_due & Q(opened_at__lt=old, memory_eligible=True)
    with tenancy.unit():
        rows = Session.objects.select_for_update(skip_locked=True).filter(
            silent | is_long, state="open"
        )
        rows = rows.order_by("active_at", "id")[:MOST_AT_ONCE]
        return len(close(rows=rows, now=now))


def forget(*, now: datetime) -> int:
    """Delete turns that nothing will be taken from, and old notes of what was given out to whom.

    Turns are kept for some days after the last one, or after the end of what was not consolidated;
    what was done for as many as the organization says, or as its project does, if fewer.
    """
    said = _is_past(now - timedelta(days=settings.KEEP_TURNS_DAYS)) & Q(stream=Stream.SAID)
    longest = keep_events_days(organization_id=tenancy.current().organization_id)
    with tenancy.unit():
        done = _done_is_past(now, longest) & Q(stream__in=OF_EVENTS)
        turns, _ = Turn.all_streams.filter(said | done).delete()
        old = now - timedelta(days=KEEP_GIVEN_DAYS)
        given, _ = GivenOut.all_rows.filter(at__lt=old).delete()
        Session.objects.filter(heading_tokens__gt=0, active_at__lt=old).update(heading_tokens=0)
    return turns + given


def _done_is_past(now: datetime, longest: int) -> Q:
    """Say of which sessions it is forgotten what was done, by the projects that they are of."""
    own = events_days_by_project()
    found = _is_past(now - timedelta(days=longest))
    for days in sorted({days for days in own.values() if days < longest}):
        named = tuple(id for id, its in own.items() if its == days)
        found |= Q(session__project__in=named) & _is_past(now - timedelta(days=days))
    return found


def _is_past(old: datetime) -> Q:
    """Say of which sessions nothing is taken any more since a moment.

    One that is still “ended” so long after is not to be kept, or its job has failed.
    """
    return Q(session__state="consolidated", session__active_at__lt=old) | Q(
        session__state="ended", session__ended_at__lt=old
    )
