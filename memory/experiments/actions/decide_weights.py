"""Decide about the phase weights that a project's sessions taught: a person does.

What was shown is what is approved: the name of the proposal proves it. Declined, it is proposed
again once sessions that were opened later teach the same. The last decision can be undone, once:
its timestamp proves that it is the one that was shown.
"""

from datetime import datetime
from enum import StrEnum

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict, Forbidden
from memory.customization import phases
from memory.customization.phases import KEPT, Own
from memory.customization.queries import own_methodologies
from memory.experiments import phase_learning
from memory.experiments.queries import learned_weights
from memory.experiments.queries.learned_weights import PhaseWeights
from teams.actions.projects import hold_project, tell
from teams.permissions import Act, require
from teams.queries import check_unbound


class Verdict(StrEnum):
    """What a person says to what sessions taught."""

    APPROVE = "approve"
    DECLINE = "decline"
    UNDO = "undo"


def decide_weights(
    *, caller: Caller, ref: str, verdict: Verdict, shown: str, now: datetime
) -> PhaseWeights:
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
        before = learned_weights.read(caller=caller, place=row, known=known, now=now)
        if verdict is Verdict.UNDO:
            _check_undoable(before, shown)
            row.settings = phases.without_decision(settings=row.settings, now=now)
        else:
            after = _after(before, verdict, shown)
            row.settings = phases.with_decision(settings=row.settings, weights=after, now=now)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(KEPT,))
        return learned_weights.read(caller=caller, place=row, known=known, now=now)


def _check_undoable(before: PhaseWeights, shown: str) -> None:
    if before.decided_at is None or not before.may_undo:
        raise Conflict(
            detail="There is no decision about these weights, or it was already undone.",
            hint="The Experiments page shows the current weights.",
        )
    if before.decided_at.isoformat() != shown:
        raise Conflict(
            detail="Someone has changed these weights since.",
            hint="Check the current weights, then undo that change.",
        )


def _after(before: PhaseWeights, verdict: Verdict, shown: str) -> Own:
    """Return the own weights after a decision about what was shown."""
    if not before.proposal or before.proposal != shown:
        raise Conflict(
            detail="The proposal has changed or no longer exists.",
            hint="Review the current proposal and decide again.",
        )
    if verdict is Verdict.DECLINE:
        return before.own
    changes = phase_learning.proposed_weights(found=before.found)
    return phases.joined_weights(own=before.own, changes=changes)
