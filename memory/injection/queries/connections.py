"""How far an agent's connection to a project has come: the live check-list."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Max, Min, Q

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries.views import visible
from memory.taxonomy import SourceInterface
from teams import queries as places

PEOPLE_AND_FILES: Final = (SourceInterface.DASHBOARD.value, SourceInterface.IMPORT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestones:
    """When agents first stored a memory in a project, and when one was last given out."""

    first_memory_at: datetime | None
    last_given_at: datetime | None


def milestones(*, caller: Caller, project: str) -> Milestones:
    """Read the milestones of a project. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        found = (
            visible(caller=caller)
            .filter(project_id=place.id)
            .aggregate(
                first=Min("created_at", filter=~Q(source_interface__in=PEOPLE_AND_FILES)),
                given=Max("memoryusage__last_accessed_at"),
            )
        )
    return Milestones(first_memory_at=found["first"], last_given_at=found["given"])
