"""What an agent did, event by event, as those may read it who see the session.

Secrets were taken out before anything was stored; long texts were cut then, and are cut once more
for a page.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.sessions import event_storage
from memory.sessions.events import Event
from memory.sessions.models import Turn
from memory.sessions.queries import sessions
from teams.permissions import Act, require

TEXT_MOST: Final = 4_000  # characters of an event that are shown, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """One event; `about` is what a tool was called with, `is_cut` says that its text goes on."""

    sequence: int
    step: int
    kind: str
    name: str
    agent: str
    about: str
    text: str
    is_cut: bool
    is_error: bool
    outcome: str
    tokens: int
    files: tuple[str, ...]
    masked: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events in their order, and the sequence from which the next page goes on (None: the last)."""

    items: tuple[EventView, ...]
    next_from: int | None


def events(*, caller: Caller, session_id: UUID, first: int, last: int, limit: int) -> EventPage:
    """Return the events from one sequence to another, both of them too.

    Raises NotFound also for a session the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        rows = Turn.done.filter(session=row, sequence__gte=first, sequence__lte=last)
        found = [_to_view(turn) for turn in rows.order_by("sequence")[: limit + 1]]
    goes_on = len(found) > limit
    return EventPage(
        items=tuple(found[:limit]), next_from=found[limit].sequence if goes_on else None
    )


def _to_view(turn: Turn) -> EventView:
    event = event_storage.from_row(sequence=turn.sequence, row=turn.body or {})
    return EventView(
        sequence=turn.sequence,
        step=event.step,
        kind=event.kind.value,
        name=event.name,
        agent=event.agent,
        about=_about(event),
        text=event.text[:TEXT_MOST],
        is_cut=len(event.text) > TEXT_MOST,
        is_error=event.is_error,
        outcome=event.outcome.value,
        tokens=event.tokens,
        files=event.files,
        masked=turn.masked,
        at=turn.at,
    )


def _about(event: Event) -> str:
    given = event.arguments
    where = f"{given.path}:{given.line}" if given.path and given.line else given.path
    return next(filter(None, (given.command, where, given.pattern, given.url)), "")
