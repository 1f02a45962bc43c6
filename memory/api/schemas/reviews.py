"""What a person decided about a memory."""

from uuid import UUID

from pydantic import Field

from accounts.api.schemas import Body, Moment, Result
from memory.api.schemas.memories import Memory
from memory.taxonomy import Verdict


class Decided(Result):
    """The verdict, and the memory as it is now."""

    review_id: UUID
    verdict: Verdict
    memory: Memory


class Snooze(Body):
    """How long something does not wait for a decision."""

    until: Moment = Field(
        description="When it waits again, in a year at most.", examples=["2026-12-01T08:00:00Z"]
    )
