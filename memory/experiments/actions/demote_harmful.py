"""Set memories aside that surely harm, once a night.

A memory is looked at where it is withheld from a share of sessions. Where those that were given it
did worse in a figure, and all intervals of the project hold together, it waits for review from then
on: agents are not given it any more, a person sees it in the inbox, and keeping it brings it back.
Sessions say of themselves what they came to, so nobody alone may take from the others what all
share: personal sessions do not count then, and on both sides several people have to tell of the
figure, none of them more than half as often as all the others together.

What a person has vouched for or pinned is only shown. No night takes more than a few percent of a
project, so that a fault of ours cannot empty it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from memory.experiments import uplift
from memory.experiments.queries import experiments
from memory.experiments.queries.experiments import USUAL_DAYS, Sides
from memory.experiments.uplift import Measured
from memory.index.actions.model_switch import INSTALLATION
from memory.records.actions import writes
from memory.records.models import Memory
from memory.taxonomy import Governance, Status
from teams import audit
from teams.models import AuditEntry, Project
from teams.queries import experiments_in

JOB: Final = "memory.prove"
ACT: Final = "memory.demoted"
MOST_SHARE: Final = 0.05  # of a project's memories in a night
ACTOR: Final = origins.Person(user_id=None, source_interface=INSTALLATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """What came of a night: projects and memories looked at, and memories set aside."""

    projects: int
    memories: int
    demoted: int


def queue() -> None:
    """Queue the look at the organization's memories, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="prove")


def prove(*, now: datetime) -> Proved:
    """Look at every project that withholds memories; set aside what surely harms."""
    with tenancy.unit():
        rows = tuple(Project.objects.filter(archived_at=None).order_by("id"))
    due = tuple(row for row in rows if _is_due(row))
    looked, demoted = 0, 0
    for project in due:
        with tenancy.unit():
            found = experiments.weighed(project=project, since=now - timedelta(days=USUAL_DAYS))
            looked += len(found)
            demoted += _demote(project, _harmful(found), found, now)
    return Proved(projects=len(due), memories=looked, demoted=demoted)


def _is_due(project: Project) -> bool:
    found = experiments_in(project=project)
    return found.enabled and found.withheld_percent > 0


def _harmful(found: Mapping[UUID, Sides]) -> dict[UUID, tuple[Measured, ...]]:
    """Return the memories that surely made a figure worse, each with those figures."""
    comparisons = sum(
        uplift.claimable(given=one.given, without=one.without) for one in found.values()
    )
    harms = {
        memory_id: uplift.harm(given=one.given, without=one.without, comparisons=comparisons)
        for memory_id, one in found.items()
    }
    return {memory_id: harm for memory_id, harm in harms.items() if harm}


def _demote(
    project: Project,
    harmful: Mapping[UUID, tuple[Measured, ...]],
    found: Mapping[UUID, Sides],
    now: datetime,
) -> int:
    """Let harmful memories wait for review, but those that a person stands for. In a unit."""
    if not harmful:
        return 0
    active = Memory.objects.filter(project=project, status=Status.ACTIVE.value)
    room = ceil(MOST_SHARE * active.count())
    open_to_it = Memory.objects.select_for_update().filter(
        pk__in=harmful,
        project=project,
        status=Status.ACTIVE.value,
        needs_review=False,
        user_verified=False,
        pinned=False,
        governance__gt=Governance.CONSTITUTIONAL.value,
    )
    rows = tuple(open_to_it.exclude(pk__in=_brought_back(harmful)).order_by("id")[:room])
    for row in rows:
        row.needs_review = True
        writes.save(row=row, fields=("needs_review",), now=now)
        audit.append(
            act=ACT,
            object_type="memory",
            object_id=str(row.id),
            caller=ACTOR,
            details=_details(harmful[row.id], found[row.id]),
        )
    if rows:
        writes.announce(caller=ACTOR, kind=ACT, rows=rows)
    return len(rows)


def _brought_back(harmful: Mapping[UUID, tuple[Measured, ...]]) -> tuple[UUID, ...]:
    """Return those that were set aside before: what waits no more was kept, in person or not."""
    entries = AuditEntry.objects.filter(
        act=ACT, object_type="memory", object_id__in=[str(one) for one in harmful]
    )
    return tuple(UUID(one) for one in entries.values_list("object_id", flat=True))


def _details(harm: tuple[Measured, ...], sides: Sides) -> dict[str, Any]:
    """Return why, in numbers: which figures were worse, and of how many sessions and people."""
    return {
        "worse": [one.figure.value for one in harm],
        "given": sides.given_count,
        "withheld": sides.without_count,
        "given_people": sides.given_people,
        "withheld_people": sides.without_people,
    }
