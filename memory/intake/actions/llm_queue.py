"""Queue a look of a model at what somebody has just added, where a project wishes it.

The answer to the add does not wait for it, and its work is a job of the same transaction.
"""

from typing import Final
from uuid import UUID

from accounts import jobs
from accounts.caller import Caller, principal
from memory.intake.actions.similar_memories import is_passing
from memory.records.models import Memory
from memory.taxonomy import MemoryType, Source
from teams.models import Project
from teams.queries import extraction_of

EXPLICIT: Final = frozenset({Source.USER_TAUGHT.value, Source.AGENT_EXPLICIT.value})


def queue(*, caller: Caller, row: Memory, project: Project | None) -> None:
    """Queue the look at one memory that was added. In a unit."""
    is_off = project is None or not extraction_of(row=project).adds_per_day
    if is_off or row.source not in EXPLICIT or is_passing(type=MemoryType(row.type)):
        return
    enqueue(row=row, created_by=principal(caller=caller))


def enqueue(*, row: Memory, created_by: UUID | None) -> None:
    """Write the job that looks at one memory, as urgent as its layer. In a unit."""
    jobs.enqueue(
        "memory.judge_added",
        payload={"ids": [str(row.id)]},
        key=row.id.hex,
        priority=row.governance,
        created_by=created_by,
    )
