"""Who is given something: which agent of a session, and until when it listens."""

from dataclasses import dataclass
from datetime import datetime

from memory.records.deadline import NEVER, Deadline
from memory.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An agent of a held session; `agent` is empty for the first one, whose session it is.

    Each has a context of its own, so what one was told is news to another. `goes_on`: what is given
    stands behind something in the same answer.
    """

    row: Session
    agent: str = ""
    deadline: Deadline = NEVER
    goes_on: bool = False

    @property
    def compacted_at(self) -> datetime | None:
        """When it last forgot what it was told, None where it never did."""
        return None if self.agent else self.row.compacted_at
