"""What a person decided about a memory."""

from uuid import UUID

from accounts.api.schemas import Result
from memory.api.schemas.memories import Memory
from memory.taxonomy import Verdict


class Decided(Result):
    """The verdict, and the memory as it is now."""

    review_id: UUID
    verdict: Verdict
    memory: Memory
