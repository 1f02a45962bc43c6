"""Demote memories that surely harm, once a night.

A memory is judged where it is withheld from a share of sessions. Where those that were given it did
worse in a figure, and all intervals of the project hold together, it waits for review from then on:
agents are not given it any more, a person sees it in the inbox, and keeping it restores it. Figures
come from the sessions themselves, so nobody alone may take from the others what all share: personal
sessions do not count then, and on both sides several people need to have the figure, none of them
more than half as often as all the others together.

What a person has verified or pinned is only shown. No night demotes more than a few percent of a
project, so that an error cannot empty it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from memory.experiments import uplift
from memory.experiments.queries import experiments
from memory.experiments.queries.experiments import USUAL_DAYS, MemorySides
from memory.experiments.uplift import ComparedFigure
from memory.index.actions.model_switch import INSTALLATION
from memory.records import writes
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
class DemotionResult:
    """What came of a night: projects and memories judged, and memories demoted."""

    projects: int
    memories: int
    demoted: int


def queue_demotion() -> None:
    """Queue the judgment of the organization's memories, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="prove")


def demote_harmful(*, now: datetime) -> DemotionResult:
    """Judge the memories of every project that withholds some; demote what surely harms."""
    with tenancy.unit():
        rows = tuple(Project.objects.filter(archived_at=None).order_by("id"))
    settings = ((row, experiments_in(project=row)) for row in rows)
    due = tuple(row for row, found in settings if found.enabled and found.withheld_percent > 0)
    judged, demoted = 0, 0
    for project in due:
        with tenancy.unit():
            found = experiments.shared_memories(
                project=project, since=now - timedelta(days=USUAL_DAYS)
            )
            judged += len(found)
            demoted += _demote(project, _harmful(found), found, now)
    return DemotionResult(projects=len(due), memories=judged, demoted=demoted)


def _harmful(found: Mapping[UUID, MemorySides]) -> dict[UUID, tuple[ComparedFigure, ...]]:
    """Return the memories that surely made a figure worse, each with those figures."""
    comparisons = sum(
        uplift.count_claimable(given=one.given, without=one.without) for one in found.values()
    )
    harms = {
        memory_id: uplift.harmed_figures(
            given=one.given, without=one.without, comparisons=comparisons
        )
        for memory_id, one in found.items()
    }
    return {memory_id: harm for memory_id, harm in harms.items() if harm}


def _demote(
    project: Project,
    harmful: Mapping[UUID, tuple[ComparedFigure, ...]],
    found: Mapping[UUID, MemorySides],
    now: datetime,
) -> int:
    """Let harmful memories wait for review, but what a person verified or pinned. In a unit."""
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
    entries = AuditEntry.objects.filter(
        act=ACT, object_type="memory", object_id__in=[str(one) for one in harmful]
    )  # what was demoted before and waits no more was kept, in person or not
    before = [UUID(one) for one in entries.values_list("object_id", flat=True)]
    rows = tuple(open_to_it.exclude(pk__in=before).order_by("id")[:room])
    for row in rows:
        row.needs_review = True
        writes.save(row=row, fields=("needs_review",), now=now)
        audit.append(
            act=ACT,
            object_type="memory",
            object_id=str(row.id),
            caller=ACTOR,
            details={  # why, in numbers
                "worse": [one.figure.value for one in harmful[row.id]],
                "given": found[row.id].given_count,
                "withheld": found[row.id].without_count,
                "given_people": found[row.id].given_people,
                "withheld_people": found[row.id].without_people,
            },
        )
    if rows:
        writes.announce(caller=ACTOR, kind=ACT, rows=rows)
    return len(rows)
