"""Know what an agent answers that was asked for lessons before it stopped.

What it adds before a person speaks again is its answer: stored like any explicit memory, through
the same gates, and marked as evidenced, since the session showed what it rests on. Only a person
verifies it. After outside content nothing an agent adds is evidenced: it is tainted and waits.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from accounts import tenancy
from accounts.caller import Caller, is_person
from memory.intake.validation import NewMemory
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.models import Session, Turn
from memory.sessions.turns import Speaker
from memory.taxonomy import Source

ANSWERS_MOST: Final = 3  # to one question
ANSWER_MINUTES: Final = 15  # after which what an agent adds is no answer; default, not measured


def as_answer(*, caller: Caller, new: NewMemory, now: datetime) -> NewMemory:
    """Return what an agent adds with its evidence, where it answers what it was asked.

    Anything else comes back as it is.
    """
    if is_person(caller=caller):
        return new
    since = now - timedelta(minutes=ANSWER_MINUTES)
    with tenancy.unit():
        row = sessions.asked(caller=caller, project=new.project, since=since)
        if row is None or not _is_answer(row):
            return new
    asked: dict[str, Any] = row.reflection or {}
    last = max(one["sequence"] for one in asked["lessons"])
    reason = asked["tainted_by"]
    return replace(
        new,
        session_id=row.id,
        source_uri=new.source_uri or f"session:{row.id}#event-{last}",
        is_evidenced=not reason,
        taint_reason=reason,
        needs_review=new.needs_review or bool(reason),
    )


def _is_answer(row: Session) -> bool:
    """Say whether what an agent that was asked adds now answers it: no person spoke since.

    And so far it has given fewer answers than it may. In a unit.
    """
    asked_at = datetime.fromisoformat((row.reflection or {})["asked_at"])
    spoken = Turn.objects.filter(session=row, role=Speaker.USER.value, at__gt=asked_at)
    given = Memory.objects.filter(
        session_id=row.id, source=Source.AGENT_EXPLICIT.value, created_at__gte=asked_at
    )
    return given.count() < ANSWERS_MOST and not spoken.exists()
