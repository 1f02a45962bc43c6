"""Let the level of trust rise as it was earned, and let a person set their own.

Weighed when a session of the person begins, so that what they decided before holds from there on;
one level at a time, never down. Nobody learns of a rise, so the audit log has none. Setting it is
in person: an agent's token may lower the level that it works at, and never raise it; what does not
lower it changes nothing, since answering what was offered is in person too.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Forbidden
from memory import path_lock
from memory.customization import queries as trust_levels
from memory.customization.models import Definition
from memory.customization.queries import STANDING, Kind, standing_of
from memory.sessions.models import Session
from memory.sessions.queries import trust_evidence
from memory.sessions.queries.trust_evidence import TrustView
from teams import audit, trust
from teams import queries as places
from teams.permissions import Act, require
from teams.trust import Standing, TrustLevel


def set_trust(*, caller: Caller, ref: str, level: TrustLevel, now: datetime) -> TrustView:
    """Set the caller's own level in a project; the same level again answers what was offered.

    Raises NotFound, RoleNotSufficient, and Forbidden for what was not reached, for a credential
    without a person, and for an agent that would raise it.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        project_id = places.find_project(caller=caller, ref=ref).id
        user_id = caller.user_id
        if user_id is None:
            raise Forbidden(
                detail="Nobody stands behind this credential, so it works at the first level.",
                hint="Use a person's token, or the dashboard.",
            )
        _hold(user_id, project_id)
        standing = standing_of(user_id=user_id, project_id=project_id)
        _check(caller, standing, level)
        if is_person(caller=caller) or level < trust.in_force(standing=standing, role=caller.role):
            _store(user_id, project_id, trust.chosen(standing=standing, level=level, now=now), now)
            audit.append(  # that it changed, and not to what: the level is its person's alone
                act="project.trust_set",
                object_type="project",
                object_id=str(project_id),
                caller=caller,
            )
        return trust_evidence.read_trust(caller=caller, project_id=project_id)


def raise_trust(*, caller: Caller, project_id: UUID | None, now: datetime) -> TrustLevel:
    """Let the caller's level rise when the next one is earned; return the one in force. In a unit.

    Nothing is written where nothing rises.
    """
    user_id = caller.user_id
    if user_id is None or project_id is None:
        return TrustLevel.CAUTIOUS
    standing = standing_of(user_id=user_id, project_id=project_id)
    if _risen(user_id, project_id, standing, now) != standing:
        _hold(user_id, project_id)  # somebody may have set it meanwhile: look again
        standing = standing_of(user_id=user_id, project_id=project_id)
        after = _risen(user_id, project_id, standing, now)
        if after != standing:
            _store(user_id, project_id, after, now)
        standing = after
    return trust.in_force(standing=standing, role=caller.role)


def keep_session_evidence(*, row: Session, now: datetime) -> None:
    """Keep for its opener what a session proved, before it is deleted. In a unit.

    Otherwise an agent would undo what its person rejected by deleting where it came from.
    """
    user_id, project_id = row.opened_by, row.project_id
    if user_id is None or project_id is None:
        return
    _hold(user_id, project_id)
    standing = trust_levels.standing_of(user_id=user_id, project_id=project_id)
    gone = trust_evidence.count_session(row=row, since=standing.since)
    if gone != trust.NOTHING:
        kept = replace(standing, gone=trust.add_evidence(left=standing.gone, right=gone))
        _store(user_id, project_id, kept, now)


def _risen(user_id: UUID, project_id: UUID, standing: Standing, now: datetime) -> Standing:
    if standing.is_chosen or standing.level >= TrustLevel.CONFIDENT:
        return standing
    found = trust_evidence.count_evidence(user_id=user_id, project_id=project_id, standing=standing)
    return trust.risen(standing=standing, evidence=found, now=now)


def _check(caller: Caller, standing: Standing, level: TrustLevel) -> None:
    held = trust.in_force(standing=standing, role=caller.role)
    if level > held and not is_person(caller=caller):
        raise Forbidden(
            detail="An agent does not raise the trust that its person has in memory.",
            hint="Raise it in person, on the project's page about trust.",
        )
    if trust.may_choose(standing=standing, level=level, role=caller.role):
        return
    if level is TrustLevel.AUTONOMOUS:
        raise Forbidden(
            detail="Only an owner works without being asked.", hint="Ask an owner about it."
        )
    raise Forbidden(
        detail="This level is not reached yet.",
        hint="GET /api/v1/projects/{ref}/trust says what is missing.",
    )


def _hold(user_id: UUID, project_id: UUID) -> None:
    path_lock.hold(audience=user_id, project_id=project_id, path=Kind.TRUST)


def _store(user_id: UUID, project_id: UUID, standing: Standing, now: datetime) -> None:
    Definition.objects.update_or_create(
        audience=user_id,
        kind=Kind.TRUST,
        name=project_id.hex,
        defaults={
            "body": STANDING.dump_python(standing, mode="json"),
            "defined_by": user_id,
            "defined_at": now,
        },
    )
