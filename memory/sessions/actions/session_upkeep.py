"""Upkeep of sessions: silent ones end, and what is past its time is forgotten."""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q

from accounts import tenancy
from accounts.queries.directory import keep_events_days
from memory.sessions.actions import close
from memory.sessions.models import GivenOut, Session, Stream, Turn
from teams.queries import events_days_by_project

IDLE_MINUTES: Final = 60  # after which a silent session has ended, ours
LONGEST_HOURS: Final = 24  # that a session goes on before it is decided about, ours
OF_EVENTS: Final = (Stream.DONE, Stream.CHECKPOINT)
KEEP_GIVEN_DAYS: Final = 90  # that somebody was given a memory, ours


def end_idle(*, now: datetime) -> int:
    """End the entered organization's sessions that have been silent; return how many.

    One that is busy day and night ends once a day too, so that what it showed is decided about; it
    goes on with its next event, as any session that ended.
    """
    silent = Q(active_at__lt=now - timedelta(minutes=IDLE_MINUTES))
    with tenancy.unit():
        rows = Session.objects.select_for_update(skip_locked=True).filter(
            silent | _is_long(now), state="open"
        )
        rows = rows.order_by("active_at", "id")[: close.MOST_AT_ONCE]
        return len(close.close(rows=rows, now=now))


def _is_long(now: datetime) -> Q:
    """Say from which sessions that are to be kept nothing was taken for so long."""
    old = now - timedelta(hours=LONGEST_HOURS)
    is_due = Q(consolidated_at__isnull=True) | Q(consolidated_at__lt=old)
    return is_due & Q(opened_at__lt=old, memory_eligible=True)


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
