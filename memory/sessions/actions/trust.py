"""The level of trust that a person has given memory in a project, and its evidence.

A level is its person's alone: nobody else is shown it. It is a definition of theirs, named after
the project. Who has none, and every credential without a person, is at the first level. Counted is
what the person decided in person about what their own agents' sessions proposed; agents raise
nothing. What left undecided, since another memory took its place, is shown to nobody any more.

A level rises as it was earned. It is weighed when a session of the person begins, so that what they
decided before holds from there on; one level at a time, never down. Nobody learns of a rise, so the
audit log has none. Setting it is in person: an agent's token may lower the level that it works at,
and never raise it; what does not lower it changes nothing, since answering what was offered is in
person too.
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Forbidden
from memory import sql_queries
from memory.customization.models import Definition
from memory.customization.queries import STANDING, Kind, standing_of
from memory.records.models import Memory, ReviewVerdict
from memory.sessions.models import GivenOut, Session
from memory.taxonomy import Source, Status, Verdict
from teams import audit, trust
from teams import queries as places
from teams.permissions import Act, require
from teams.trust import NOTHING, Evidence, NextLevel, Standing, TrustLevel

LOOKED_AT: Final = 200  # sessions, the last ones; default, not measured
WRONG_IN: Final = 20  # sessions looked at for what was wrong, the last; default, not measured
PROPOSED: Final = (
    Source.OBSERVER_INFERRED.value,
    Source.EXTRACTED.value,
    Source.QA_AUTO.value,
    Source.TOOL_AUTO.value,
    Source.COMMIT_AUTO.value,
)
CONFIRMED: Final = (Verdict.KEEP.value, Verdict.MERGE.value)
CORRECTED: Final = (Verdict.EDIT.value, Verdict.REJECT.value)
FOUND_WRONG: Final = Q(status=Status.SUPERSEDED.value) & (
    Q(archived_reason__startswith="wrong")
    | Q(archived_reason__startswith="too_broad")
    | Q(archived_reason__startswith="not_here")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustView:
    """A person's own standing in a project, as they see it.

    `level` is the one in force, `open_to` those they may set. `following` is None where nothing is
    earned next; `wrong` counts the wrong memories of the session that had most, where so many call
    for a lower level, else 0. `is_a_persons` is false for a credential without a person.
    """

    level: TrustLevel
    standing: Standing
    evidence: Evidence
    following: NextLevel | None
    open_to: tuple[TrustLevel, ...]
    wrong: int
    is_a_persons: bool


def get_trust(*, caller: Caller, ref: str) -> TrustView:
    """Return the caller's level in a project. Raises NotFound for one they cannot see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        return read_trust(caller=caller, project_id=places.find_project(caller=caller, ref=ref).id)


def read_trust(*, caller: Caller, project_id: UUID) -> TrustView:
    """Return the caller's level in a project that they see. In a unit."""
    standing = standing_of(user_id=caller.user_id, project_id=project_id)
    level = trust.in_force(standing=standing, role=caller.role)
    found = _count_evidence(caller.user_id, project_id, standing)
    may = (
        one
        for one in TrustLevel
        if trust.may_choose(standing=standing, level=one, role=caller.role)
    )
    return TrustView(
        level=level,
        standing=standing,
        evidence=found,
        following=None
        if standing.is_chosen
        else trust.next_level(level=standing.level, evidence=found),
        open_to=tuple(may) if caller.user_id is not None else (),
        wrong=_wrong(caller.user_id, project_id, level, standing.since),
        is_a_persons=caller.user_id is not None,
    )


def _count_evidence(user_id: UUID | None, project_id: UUID, standing: Standing) -> Evidence:
    """Count what happened since a standing was taken.

    Looked at are the last sessions that proposed something, and remembered is what was deleted. A
    session that proposed nothing proves nothing, and takes no other's place.
    """
    if user_id is None:
        return NOTHING
    ended = _ended(user_id, project_id)
    return trust.add_evidence(left=_counted(user_id, ended, standing.since), right=standing.gone)


def _ended(user_id: UUID, project_id: UUID) -> QuerySet[Session]:
    came = Memory.objects.filter(session_id=OuterRef("pk"), source__in=PROPOSED)
    return _sessions(user_id, project_id).filter(Exists(came)).exclude(state="open")


def _counted(user_id: UUID, ended: QuerySet[Session], since: datetime | None) -> Evidence:
    last = tuple(ended.values_list("id", "opened_at")[:LOOKED_AT])
    counted = tuple(one for one, at in last if since is None or at >= since)
    proposed = Memory.objects.filter(session_id__in=counted, source__in=PROPOSED)
    found_wrong = proposed.filter(_found_wrong(user_id)).order_by()
    wrong = frozenset(found_wrong.values_list("id", flat=True))
    verdicts = _verdicts(user_id).filter(memory__in=proposed).order_by()
    said = tuple(verdicts.values_list("memory_id", "verdict"))
    corrected = wrong | {one for one, verdict in said if verdict in CORRECTED}
    kept = {one for one, verdict in said if verdict in CONFIRMED} - corrected
    is_shown = Q(status=Status.ACTIVE.value) | Q(pk__in=kept | corrected)
    return Evidence(
        sessions=len(counted),
        total=len(last),
        shown=proposed.filter(is_shown).count(),
        confirmed=len(kept),
        corrected=len(corrected),
    )


def _sessions(user_id: UUID, project_id: UUID) -> QuerySet[Session]:
    rows = Session.objects.filter(
        audience__in=(user_id, project_id),
        project_id=project_id,
        opened_by=user_id,
        memory_eligible=True,
    )
    return rows.order_by("-opened_at", "id")


def _verdicts(user_id: UUID) -> QuerySet[ReviewVerdict]:
    """Return what a person decided in person."""
    return ReviewVerdict.objects.filter(
        decided_by=user_id,
        decided_agent="",
        undone_at__isnull=True,
        verdict__in=(*CONFIRMED, *CORRECTED),
    )


def _found_wrong(user_id: UUID) -> Q:
    """Return the condition that a person, in person, corrected a memory outside of the inbox."""
    return FOUND_WRONG & Q(superseded_by__author_user=user_id, superseded_by__author_agent="")


def _wrong(
    user_id: UUID | None, project_id: UUID, level: TrustLevel, since: datetime | None
) -> int:
    """Return how many memories of one session were wrong, where they call for a lower level."""
    if user_id is None or level is TrustLevel.CAUTIOUS:
        return 0
    rows = _sessions(user_id, project_id)
    if since is not None:
        rows = rows.filter(opened_at__gte=since)
    opened: dict[UUID | None, datetime] = dict(rows.values_list("id", "opened_at")[:WRONG_IN])
    came = Memory.objects.filter(session_id__in=opened).order_by()
    given = GivenOut.objects.filter(session_id__in=opened).order_by()
    touched = {
        *came.values_list("session_id", "id"),
        *given.values_list("session_id", "memory_id"),
    }
    memory_ids = {memory_id for _, memory_id in touched}
    said = _verdicts(user_id).filter(verdict__in=CORRECTED, memory__in=memory_ids).order_by()
    others = Memory.objects.filter(_found_wrong(user_id), pk__in=memory_ids).order_by()
    at: dict[UUID | None, datetime | None] = {
        **dict(said.values_list("memory_id", "decided_at")),
        **dict(others.values_list("id", "valid_until")),
    }
    counts = Counter(
        session_id
        for session_id, memory_id in touched
        if (found_at := at.get(memory_id)) is not None and found_at >= opened[session_id]
    )
    most = max(counts.values(), default=0)
    return most if trust.should_offer_step_back(level=level, wrong_in_session=most) else 0


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
        held = trust.in_force(standing=standing, role=caller.role)
        if level > held and not is_person(caller=caller):
            raise Forbidden(
                detail="An agent does not raise the trust that its person has in memory.",
                hint="Raise it in person, on the project's page about trust.",
            )
        if not trust.may_choose(standing=standing, level=level, role=caller.role):
            if level is TrustLevel.AUTONOMOUS:
                raise Forbidden(
                    detail="Only an owner works without being asked.", hint="Ask an owner about it."
                )
            raise Forbidden(
                detail="This level is not reached yet.",
                hint="GET /api/v1/projects/{ref}/trust says what is missing.",
            )
        if is_person(caller=caller) or level < held:
            _store(user_id, project_id, trust.chosen(standing=standing, level=level, now=now), now)
            audit.append(  # that it changed, and not to what: the level is its person's alone
                "project.trust_set", "project", str(project_id), caller=caller
            )
        return read_trust(caller=caller, project_id=project_id)


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

    Otherwise an agent would undo what its person rejected by deleting where it came from. It counts
    as a session only where everything that it proposed was decided: what is decided later is not
    counted any more.
    """
    user_id, project_id = row.opened_by, row.project_id
    if user_id is None or project_id is None:
        return
    _hold(user_id, project_id)
    standing = standing_of(user_id=user_id, project_id=project_id)
    gone = _counted(user_id, _ended(user_id, project_id).filter(pk=row.pk), standing.since)
    if gone.confirmed + gone.corrected != gone.shown:
        gone = replace(gone, sessions=0, total=0)
    if gone != NOTHING:
        kept = replace(standing, gone=trust.add_evidence(left=standing.gone, right=gone))
        _store(user_id, project_id, kept, now)


def _risen(user_id: UUID, project_id: UUID, standing: Standing, now: datetime) -> Standing:
    if standing.is_chosen or standing.level >= TrustLevel.CONFIDENT:
        return standing
    found = _count_evidence(user_id, project_id, standing)
    return trust.risen(standing=standing, evidence=found, now=now)


def _hold(user_id: UUID, project_id: UUID) -> None:
    sql_queries.hold_path(audience=user_id, project_id=project_id, path=Kind.TRUST)


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
