"""Jobs that do what a person asked for, with the rights they have by then, and about sessions."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.identifiers import as_uuid
from accounts.jobs import Claim
from accounts.queries import Initiator, caller_of, check_token
from memory.documents import queries
from memory.documents.actions.import_batches import fail_import, run_import
from memory.extraction.actions import judge_added
from memory.observer.actions import (
    consolidate,
    finalize,
    second_reading,
    session_findings,
    synthesize,
)
from memory.review.actions import rollback
from teams.permissions import Act, require


@jobs.handler("memory.run_import")
def take_in(claim: Claim) -> Mapping[str, Any]:
    """Take in what waits of an import, in the name of who began it."""
    batch_id = as_uuid(text=str(claim.payload["key"]))
    if batch_id is None:
        return {"rows": 0}
    with tenancy.unit():
        began = queries.who_began(batch_id=batch_id)
    if began is None:
        return {"rows": 0}
    tell = partial(jobs.progress, claim)
    try:
        caller = _who_began(began)
        return run_import(caller=caller, batch_id=batch_id, now=timezone.now(), tell=tell)
    except (NotFound, Forbidden, InvalidInput) as error:
        failure = jobs.PermanentFailure(error.detail, error.hint)
        fail_import(batch_id=batch_id, reason=failure.reason, now=timezone.now())
        raise failure from error


@jobs.handler("memory.roll_back")
def roll_back_what_was_chosen(claim: Claim) -> Mapping[str, Any]:
    """Take back what somebody chose, in the name of who asked."""
    began = rollback.INITIATOR.validate_python(claim.payload["by"])
    try:
        return rollback.run(
            caller=_who_began(began),
            choice=rollback.CHOICE.validate_python(claim.payload["choice"]),
            asked_at=datetime.fromisoformat(claim.payload["asked_at"]),
            tell=partial(jobs.progress, claim),
        )
    except (NotFound, Forbidden) as error:  # asking again finds no more
        raise jobs.PermanentFailure(error.detail, error.hint) from error


def _who_began(began: Initiator) -> Caller:
    """Return who began something, with the rights they have now. Raises Forbidden when gone."""
    now = timezone.now()
    check_token(beginner=began, now=now)
    caller = caller_of(beginner=began, now=now)
    require(caller=caller, act=Act.WRITE)
    return replace(caller, agent=began.agent)


@jobs.handler("memory.consolidate")
def consolidate_session(claim: Claim) -> Mapping[str, Any]:
    """Decide what a session has shown, and take what is worth keeping of its turns."""
    (session_id,) = map(UUID, claim.payload["ids"])
    tell = partial(jobs.progress, claim)
    try:
        if claim.payload.get("again"):
            return second_reading.read_again(
                session_id=session_id, now=timezone.now(), tell=tell, holder=claim.id
            )
        counts = finalize.finalize(session_id=session_id, now=timezone.now())
        return {
            **counts,
            **consolidate.consolidate(
                session_id=session_id,
                now=timezone.now(),
                tell=tell,
                holder=claim.id,
                is_decided=bool(counts),
            ),
        }
    except NotFound as error:  # asking again finds no more
        raise jobs.PermanentFailure(error.detail, error.hint) from error


@jobs.handler("memory.observe")
def observe_session(claim: Claim) -> Mapping[str, Any]:
    """Look at what the agent of a session has done."""
    (session_id,) = map(UUID, claim.payload["ids"])
    counts = session_findings.observe(session_id=session_id, now=timezone.now())
    return {**counts, **session_findings.promote_piece(session_id=session_id, now=timezone.now())}


@jobs.handler("memory.synthesize")
def synthesize_sessions(claim: Claim) -> Mapping[str, Any]:
    """Say what many sessions of a place together show."""
    (session_id,) = map(UUID, claim.payload["ids"])
    is_weekly = bool(claim.payload["weekly"])
    return synthesize.synthesize(session_id=session_id, is_weekly=is_weekly, now=timezone.now())


@jobs.handler("memory.judge_added")
def judge_what_was_added(claim: Claim) -> Mapping[str, Any]:
    """Compare with a model what somebody has added, one memory a job."""
    (memory_id,) = (UUID(item) for item in claim.payload["ids"])
    return judge_added(memory_id=memory_id, now=timezone.now())
