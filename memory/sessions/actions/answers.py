"""Know what an agent answers that was asked for lessons before it stopped.

What it adds before a person speaks again is its answer: stored like any explicit memory, through
the same gates, and marked as evidenced, since the session showed what it rests on. Only a person
verifies it. After outside content, of which `binding` knows, nothing an agent adds is evidenced.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from memory.intake.validation import NewMemory
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.models import Session, Turn
from memory.sessions.turns import Speaker
from memory.taxonomy import Source

ANSWERS_MOST: Final = 3  # in a session, however often its agent was asked
ANSWER_MINUTES: Final = 15  # after which what an agent adds is no answer; default, not measured


def as_answer(*, caller: Caller, new: NewMemory, now: datetime) -> NewMemory:
    """Return what an agent adds with its evidence, where it answers what it was asked.

    It was bound to its running session before; anything else comes back as it is.
    """
    if is_person(caller=caller) or new.session_id is None:
        return new
    since = now - timedelta(minutes=ANSWER_MINUTES)
    with tenancy.unit():
        row = sessions.asked(session_id=new.session_id, since=since)
        if row is None or not _is_answer(row, new, parts=(row.id, new.session_id)):
            return new
    asked: dict[str, Any] = row.reflection or {}
    last = max(one["sequence"] for one in asked["lessons"])
    return replace(
        new,
        source_uri=new.source_uri or f"session:{row.id}#event-{last}",
        is_evidenced=not new.taint_reason,
    )


def _is_answer(row: Session, new: NewMemory, *, parts: tuple[UUID, ...]) -> bool:
    """Say whether what is added now answers: to the session's project, no person spoke since.

    And so far its agent has given fewer answers than it may. In a unit.
    """
    names = {row.project.slug, str(row.project_id)} if row.project else {None}
    if new.project not in names:
        return False
    asked_at = datetime.fromisoformat((row.reflection or {})["asked_at"])
    first = datetime.fromisoformat(
        (row.reflection or {}).get("first_asked_at", asked_at.isoformat())
    )
    spoken = Turn.objects.filter(session__in=parts, role=Speaker.USER.value, at__gt=asked_at)
    given = Memory.objects.filter(
        session_id__in=parts, source=Source.AGENT_EXPLICIT.value, created_at__gte=first
    )
    return given.count() < ANSWERS_MOST and not spoken.exists()
