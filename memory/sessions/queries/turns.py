"""What was said in a session, turn by turn, as those may read it who see the session."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.sessions.models import Turn
from memory.sessions.queries import sessions
from teams.permissions import Act, require

LARGEST_PAGE: Final = 1_000_000  # characters of a page, ours; a turn has at most 100,000
READ_AT_ONCE: Final = 20  # turns, so that a page that is full early has read little more


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn; `masked` says how many secrets were taken out before it was stored."""

    sequence: int
    role: str
    text: str
    masked: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPage:
    """Turns in their order, and the sequence behind which the next page begins (None: the last)."""

    items: tuple[TurnView, ...]
    next_after: int | None


def turns(*, caller: Caller, session_id: UUID, after: int, limit: int) -> TurnPage:
    """Return turns behind a sequence, fewer where they are long.

    Raises NotFound also for a session the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        rows = Turn.objects.filter(session=row, sequence__gt=after).order_by("sequence")
        items: list[TurnView] = []
        room = LARGEST_PAGE
        for turn in rows[: limit + 1].iterator(chunk_size=READ_AT_ONCE):
            if len(items) == limit or (items and len(turn.text) > room):
                return TurnPage(items=tuple(items), next_after=items[-1].sequence)
            items.append(_to_view(turn))
            room -= len(turn.text)
    return TurnPage(items=tuple(items), next_after=None)


def _to_view(row: Turn) -> TurnView:
    return TurnView(
        sequence=row.sequence, role=row.role, text=row.text, masked=row.masked, at=row.at
    )
