"""Background work of memories: what each job name runs."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections
from django.db.utils import DatabaseError
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.identifiers import as_uuid
from accounts.jobs import Claim
from accounts.queries import directory
from accounts.queries.directory import Initiator
from memory.documents.actions.import_batches import fail_import, run_import
from memory.documents.queries import imports
from memory.entities.actions import enrich_entities, queue_enrich_entities, read_names
from memory.entities.actions import queue_read_names as queue_read_names_of_entities
from memory.experiments.actions import demote_harmful
from memory.extraction.actions.llm_relation import judge_added
from memory.index.actions import embedding, maintenance
from memory.intake.actions import apply_decision
from memory.intake.actions.apply_later import integrate_stored, share_of
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.observer.actions.observe import observe
from memory.observer.actions.prior_sessions import forget_counted
from memory.observer.actions.promote import promote_piece
from memory.observer.actions.raise_alarms import raise_alarms
from memory.observer.actions.synthesize import queue_weekly, synthesize
from memory.review.actions import entity_merges
from memory.review.rollback import execute
from memory.sessions.actions import end_session
from memory.topics import actions as topics_actions
from teams.permissions import Act, require

log = logging.getLogger(__name__)


@jobs.handler("memory.embed")
@jobs.handler("memory.embed_bulk")
def embed(claim: Claim) -> Mapping[str, Any]:
    """Embed the memories a job names, batch by batch; then decide what they change."""
    ids = tuple(UUID(item) for item in claim.payload["ids"])
    share = share_of(memory_ids=ids)
    embedded = changed = 0
    for start in range(0, len(ids), embedding.BATCH):
        batch = ids[start : start + embedding.BATCH]
        embedded += embedding.embed_batch(memory_ids=batch)
        changed += integrate_stored(memory_ids=batch, share=share, now=timezone.now())
        jobs.progress(held=claim, done=min(start + embedding.BATCH, len(ids)), total=len(ids))
    return {"embedded": embedded, "gone": len(ids) - embedded, "integrated": changed}


@jobs.handler("memory.consolidate")
def consolidate_session(claim: Claim) -> Mapping[str, Any]:
    """Decide what a session has shown, and take what is worth keeping of its turns."""
    counts: dict[str, Any] = {}
    for item in claim.payload["ids"]:  # one, the job's
        tell = partial(_progress, claim)
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


@jobs.handler("memory.switch_model")
def switch_model(claim: Claim) -> Mapping[str, Any]:
    """Do one part of a switch to another embedding model."""
    tell = partial(_progress, claim)
    return maintenance.work(key=claim.payload["key"], tell=tell)


@jobs.handler("memory.judge_added")
def judge_what_was_added(claim: Claim) -> Mapping[str, Any]:
    """Compare with a model what somebody has added, one memory a job."""
    (memory_id,) = (UUID(item) for item in claim.payload["ids"])
    return judge_added(memory_id=memory_id, now=timezone.now())


@jobs.handler("memory.run_import")
def take_in(claim: Claim) -> Mapping[str, Any]:
    """Take in what waits of an import, in the name of who began it."""
    batch_id = as_uuid(text=str(claim.payload["key"]))
    if batch_id is None:
        return {"rows": 0}
    with tenancy.unit():
        began = imports.who_began(batch_id=batch_id)
    if began is None:
        return {"rows": 0}
    tell = partial(_progress, claim)
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
    began = execute.INITIATOR.validate_python(claim.payload["by"])
    try:
        return execute.run(
            caller=_who_began(began),
            choice=execute.CHOICE.validate_python(claim.payload["choice"]),
            asked_at=datetime.fromisoformat(claim.payload["asked_at"]),
            tell=partial(_progress_so_far, claim),
        )
    except (NotFound, Forbidden) as error:  # asking again finds no more
        raise jobs.PermanentFailure(error.detail, error.hint) from error


def _who_began(began: Initiator) -> Caller:
    """Return who began something, with the rights they have now. Raises Forbidden when gone."""
    now = timezone.now()
    directory.check_token(beginner=began, now=now)
    caller = directory.caller_of(beginner=began, now=now)
    require(caller=caller, act=Act.WRITE)
    return replace(caller, agent=began.agent)


@jobs.handler("memory.drop_vectors")
def drop_vectors(claim: Claim) -> Mapping[str, Any]:
    """Delete the vectors of a model that is not used any more."""
    tell = partial(_progress, claim)
    return {"dropped": maintenance.drop(model_id=claim.payload["model"], tell=tell)}


@jobs.handler("memory.refresh_lexicon")
def refresh_lexicon(claim: Claim) -> Mapping[str, Any]:
    """Count words anew when the organization's memories have changed enough."""
    del claim
    return {"words": maintenance.refresh_lexicon()}


@jobs.handler("memory.index_search")
def index_search(claim: Claim) -> Mapping[str, Any]:
    """Make the indexes that searches of a large organization read, with progress."""
    return {"indexes": maintenance.make_indexes(tell=partial(_progress, claim))}


@jobs.handler("memory.sort_topics")
def sort_topics(claim: Claim) -> Mapping[str, Any]:
    """Sort an organization's memories into topics."""
    tell = partial(_progress, claim)
    return asdict(topics_actions.sort_topics(now=timezone.now(), tell=tell))


@jobs.handler("memory.prove")
def prove_memories(claim: Claim) -> Mapping[str, Any]:
    """Set memories aside that surely harm."""
    del claim
    return asdict(demote_harmful.demote_harmful(now=timezone.now()))


@jobs.handler("memory.join_names")
def join_names_of(claim: Claim) -> Mapping[str, Any]:
    """Say that names are one thing which surely are."""
    del claim
    return asdict(entity_merges.join_names(now=timezone.now()))


@jobs.handler("memory.enrich_entities")
def enrich_entities_of(claim: Claim) -> Mapping[str, Any]:
    """Read the names in memories in which patterns found few."""
    left, tell = int(claim.payload["left"]), partial(_progress, claim)
    return enrich_entities(left=left, tell=tell)


@jobs.handler("memory.read_names")
def read_names_again(claim: Claim) -> Mapping[str, Any]:
    """Read what memories name that an older reader has read."""
    return read_names(tell=partial(_progress, claim))


def _forget_actions() -> int:
    """Forget turns past their time, and what became of candidates and searches."""
    now = timezone.now()
    forgotten = end_session.forget(now=now) + forget_counted(now=now)
    return forgotten + apply_decision.forget_actions(now=now, days=settings.KEEP_ACTIONS_DAYS)


UPKEEP: Final[Mapping[str, Callable[[], object]]] = {  # in every organization, once a slot
    "merge_access": maintenance.merge_access,  # the access log into the usage counts
    "embed_missing": maintenance.embed_missing,
    "read_names": queue_read_names_of_entities,
    "tend_sessions": lambda: end_session.end_idle(now=timezone.now()),
    "raise_alarms": lambda: raise_alarms(now=timezone.now()),
    "forget_actions": _forget_actions,
    "sort_topics": topics_actions.queue,
    "enrich_entities": queue_enrich_entities,
    "join_names": entity_merges.queue_join_names,
    "prove": demote_harmful.queue_demotion,
    "find_pairs": queue_weekly,
}


def run_upkeep(name: str, interval_seconds: int) -> None:
    """Do a piece of upkeep in every organization, once a slot; one that fails stops no other."""
    close_old_connections()
    if not jobs.take_slot(name=name.replace("_", "-"), interval_seconds=interval_seconds):
        return
    for tenant in tenancy.each_organization():
        try:
            with tenancy.enter(tenant):
                UPKEEP[name]()
        except DatabaseError:
            log.exception("Upkeep %s of %s failed", name, tenant.slug)


def _register_upkeep(name: str) -> None:
    def upkeep(interval_seconds: int) -> None:
        run_upkeep(name, interval_seconds)

    shared_task(name=f"cairn.{name}", ignore_result=True)(upkeep)


for _name in UPKEEP:
    _register_upkeep(_name)


def _progress(claim: Claim, done: int, total: int) -> None:
    jobs.progress(held=claim, done=done, total=total)


def _progress_so_far(claim: Claim, done: int, total: int, so_far: Mapping[str, Any]) -> None:
    jobs.progress(held=claim, done=done, total=total, so_far=so_far)
