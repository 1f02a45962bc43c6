"""Jobs about sessions: observe, decide, consolidate, and compare what was added."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts import jobs
from accounts.errors import NotFound
from accounts.jobs import Claim
from memory.extraction.actions.judge_added import judge_added
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.observer.actions.observe import observe
from memory.observer.actions.promote import promote_piece
from memory.observer.actions.synthesize import synthesize


@jobs.handler("memory.consolidate")
def consolidate_session(claim: Claim) -> Mapping[str, Any]:
    """Decide what a session has shown, and take what is worth keeping of its turns."""
    counts: dict[str, Any] = {}
    for item in claim.payload["ids"]:  # one, the job's
        tell = partial(jobs.progress, claim)
        try:
            counts |= finalize(session_id=UUID(item), now=timezone.now())
            counts |= consolidate(
                session_id=UUID(item),
                now=timezone.now(),
                tell=tell,
                holder=claim.id,
                is_decided=bool(counts),
            )
        except NotFound as error:  # asking again finds no more
            raise jobs.PermanentFailure(error.detail, error.hint) from error
    return counts


@jobs.handler("memory.observe")
def observe_session(claim: Claim) -> Mapping[str, Any]:
    """Look at what the agent of a session has done."""
    counts: dict[str, Any] = {}
    for item in claim.payload["ids"]:  # one, the job's
        counts |= observe(session_id=UUID(item), now=timezone.now())
        counts |= promote_piece(session_id=UUID(item), now=timezone.now())
    return counts


@jobs.handler("memory.synthesize")
def synthesize_sessions(claim: Claim) -> Mapping[str, Any]:
    """Say what many sessions of a place together show."""
    counts: dict[str, Any] = {}
    for item in claim.payload["ids"]:  # one, of the place
        is_weekly = bool(claim.payload["weekly"])
        counts |= synthesize(session_id=UUID(item), is_weekly=is_weekly, now=timezone.now())
    return counts


@jobs.handler("memory.judge_added")
def judge_what_was_added(claim: Claim) -> Mapping[str, Any]:
    """Compare with a model what somebody has added, one memory a job."""
    (memory_id,) = (UUID(item) for item in claim.payload["ids"])
    return judge_added(memory_id=memory_id, now=timezone.now())
