"""What follows from experiments: memories that harm are demoted, phase weights are approved.

Once a night a memory is judged where it is withheld from a share of sessions. Where those that were
given it did worse in a figure, and all intervals of the project hold together, it waits for review
from then on: agents are not given it any more, a person sees it in the inbox, and keeping it
restores it. Figures come from the sessions themselves, so nobody alone may take from the others
what all share: personal sessions do not count then, and on both sides several people need to have
the figure, none of them more than half as often as all the others together. What a person has
verified or pinned is only shown. No night demotes more than a few percent of a project, so that an
error cannot empty it.

Weights that sessions taught count once a person approves them. What was shown is what is approved:
the name of the proposal proves it. Declined, it is proposed again once sessions that were opened
later teach the same. The last decision can be undone, once: its timestamp proves that it is the one
that was shown.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict, Forbidden
from memory.customization import phases
from memory.customization.queries import own_methodologies
from memory.experiments import phase_learning, queries, uplift
from memory.index.actions.model_switch import INSTALLATION
from memory.records import writes
from memory.records.models import Memory
from memory.taxonomy import Governance, Status
from teams import audit
from teams.actions import hold_project, tell
from teams.models import AuditEntry, Project
from teams.permissions import Act, require
from teams.queries import check_unbound, experiments_in

JOB: Final = "memory.prove"
ACT: Final = "memory.demoted"
MOST_SHARE: Final = 0.05  # of a project's memories in a night
ACTOR: Final = origins.Person(user_id=None, source_interface=INSTALLATION)


def queue_demotion() -> None:
    """Queue the judgment of the organization's memories, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="prove")


def demote_harmful(*, now: datetime) -> dict[str, int]:
    """Judge the memories of every project that withholds some; demote what surely harms.

    Returns how many projects and memories were judged, and how many memories were demoted.
    """
    counts = {"projects": 0, "memories": 0, "demoted": 0}
    with tenancy.unit():
        projects = tuple(Project.objects.filter(archived_at=None).order_by("id"))
    for project in projects:
        settings = experiments_in(project=project)
        if not settings.enabled or settings.withheld_percent <= 0:
            continue
        with tenancy.unit():
            since = now - timedelta(days=queries.USUAL_DAYS)
            effects = queries.shared_effects(project=project, since=since)
            counts["projects"] += 1
            counts["memories"] += len(effects)
            counts["demoted"] += _demote(project, effects, now)
    return counts


def _demote(project: Project, effects: Mapping[UUID, uplift.Effect], now: datetime) -> int:
    """Let harmful memories wait for review, but what a person verified or pinned. In a unit."""
    harmful = uplift.harmful_memories(effects=effects)
    if not harmful:
        return 0
    active = Memory.objects.filter(project=project, status=Status.ACTIVE.value)
    room = ceil(MOST_SHARE * active.count())
    open_to_it = active.select_for_update().filter(
        pk__in=harmful,
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
        given, without = (queries.sessions_of(sums=sums) for sums in effects[row.id])
        audit.append(
            act=ACT,
            object_type="memory",
            object_id=str(row.id),
            caller=ACTOR,
            details={  # why, in numbers
                "worse": [figure.value for figure in harmful[row.id]],
                "given": given.count,
                "withheld": without.count,
                "given_people": given.people,
                "withheld_people": without.people,
            },
        )
    if rows:
        writes.announce(caller=ACTOR, kind=ACT, rows=rows)
    return len(rows)


class Verdict(StrEnum):
    """What a person says to what sessions taught."""

    APPROVE = "approve"
    DECLINE = "decline"
    UNDO = "undo"


def decide_weights(
    *, caller: Caller, ref: str, verdict: Verdict, shown: str, now: datetime
) -> queries.PhaseWeights:
    """Let proposed weights count, or not, or take the last decision back; return what holds.

    `shown` is what the person saw: the name of a proposal, or when the last decision was made.
    Raises NotFound, RoleNotSufficient, NotBoundToProject, Forbidden for who is no person, and
    Conflict where something else is proposed or decided by now, or nothing can be taken back.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    known = own_methodologies(caller=caller)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        if not is_person(caller=caller):
            raise Forbidden(
                detail="Only a person can change the weights of memory types.",
                hint="Decide it on the project's page about experiments.",
            )
        before = queries.read_weights(caller=caller, place=row, known=known, now=now)
        _check_shown(before, verdict, shown)
        if verdict is Verdict.UNDO:
            row.settings = phases.without_decision(settings=row.settings, now=now)
        else:
            weights = before.own
            if verdict is Verdict.APPROVE:
                changes = phase_learning.proposed_weights(found=before.found)
                weights = phases.joined_weights(own=weights, changes=changes)
            row.settings = phases.with_decision(settings=row.settings, weights=weights, now=now)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(phases.KEPT,))
        return queries.read_weights(caller=caller, place=row, known=known, now=now)


def _check_shown(before: queries.PhaseWeights, verdict: Verdict, shown: str) -> None:
    """Check that what is decided about, or undone, is what was shown. Raises Conflict."""
    if verdict is not Verdict.UNDO:
        if not before.proposal or before.proposal != shown:
            raise Conflict(
                detail="The proposal has changed or no longer exists.",
                hint="Review the current proposal and decide again.",
            )
    elif before.decided_at is None or not before.may_undo:
        raise Conflict(
            detail="There is no decision about these weights, or it was already undone.",
            hint="The Experiments page shows the current weights.",
        )
    elif before.decided_at.isoformat() != shown:
        raise Conflict(
            detail="Someone has changed these weights since.",
            hint="Check the current weights, then undo that change.",
        )
