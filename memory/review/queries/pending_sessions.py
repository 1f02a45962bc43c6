"""The sessions of which something waits in the inbox: each is decided about on its page (9.2)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count

from accounts import tenancy
from accounts.caller import Caller
from memory.review.queries import reviews
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from teams import queries as places
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSession:
    """A session, and how many of its memories wait for the caller."""

    id: UUID
    agent: str
    source_interface: str
    opened_at: datetime
    count: int


def waiting_sessions(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[WaitingSession, ...]:
    """Return the newest sessions of a project of which something waits.

    Of sessions and memories that the caller may see. Raises NotFound for a project not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        seen = sessions.of_project(caller=caller, project_id=place.id)
        due = reviews.due(caller=caller, project=project, batch=None, now=now)
        due = due.filter(session_id__in=seen.order_by().values("id"))
        found = due.order_by().values("session_id").annotate(count=Count("pk"))
        counts: dict[Any, int] = {one["session_id"]: one["count"] for one in found}
        rows = Session.objects.filter(pk__in=counts).order_by("-opened_at", "id")[:limit]
        return tuple(
            WaitingSession(
                id=row.id,
                agent=row.agent,
                source_interface=row.source_interface,
                opened_at=row.opened_at,
                count=counts[row.id],
            )
            for row in rows.only("id", "agent", "source_interface", "opened_at")
        )
