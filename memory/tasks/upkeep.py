"""Jobs that keep an organization's memories searchable, and the upkeep of each slot."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections
from django.db.utils import DatabaseError
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.jobs import Claim
from memory.entities.actions import enrich_entities, queue_enrich_entities, read_names
from memory.entities.actions import queue_read_names as queue_read_names_of_entities
from memory.experiments.actions import consequences, weekly_figures
from memory.index.actions import embedding, maintenance
from memory.intake.actions import apply_decision
from memory.intake.actions.apply_decision import ReplacementShare, integrate_stored
from memory.observer.actions import second_reading
from memory.observer.actions.prior_sessions import forget_counted
from memory.observer.actions.raise_alarms import raise_alarms
from memory.observer.actions.synthesize import queue_weekly
from memory.records.actions import index_days
from memory.review.actions import entity_merges
from memory.sessions.actions import lifecycle
from memory.topics import actions as topics_actions

log = logging.getLogger(__name__)


@jobs.handler("memory.embed")
@jobs.handler("memory.embed_bulk")
def embed(claim: Claim) -> Mapping[str, Any]:
    """Embed the memories a job names, batch by batch; then decide what they change."""
    ids = tuple(UUID(item) for item in claim.payload["ids"])
    share = ReplacementShare(ids=frozenset(ids))
    embedded = changed = 0
    for start in range(0, len(ids), embedding.BATCH):
        batch = ids[start : start + embedding.BATCH]
        embedded += embedding.embed_batch(memory_ids=batch)
        changed += integrate_stored(memory_ids=batch, share=share, now=timezone.now())
        jobs.progress(held=claim, done=min(start + embedding.BATCH, len(ids)), total=len(ids))
    return {"embedded": embedded, "gone": len(ids) - embedded, "integrated": changed}


def _tell(claim: Claim) -> Callable[[int, int], None]:
    return partial(jobs.progress, claim)


JOBS: Final[Mapping[str, Callable[[Claim], Mapping[str, Any]]]] = {  # that are one call
    "memory.switch_model": lambda claim: maintenance.work(
        key=claim.payload["key"], tell=_tell(claim)
    ),
    "memory.drop_vectors": lambda claim: {
        "dropped": maintenance.drop(model_id=claim.payload["model"], tell=_tell(claim))
    },
    "memory.refresh_lexicon": lambda _: {"words": maintenance.refresh_lexicon()},
    "memory.index_search": lambda claim: {"indexes": maintenance.make_indexes(tell=_tell(claim))},
    "memory.sort_topics": lambda claim: asdict(
        topics_actions.sort_topics(now=timezone.now(), tell=_tell(claim))
    ),
    "memory.prove": lambda _: consequences.demote_harmful(now=timezone.now()),
    "memory.join_names": lambda _: entity_merges.join_names(now=timezone.now()),
    "memory.enrich_entities": lambda claim: enrich_entities(
        left=int(claim.payload["left"]), tell=_tell(claim)
    ),
    "memory.read_names": lambda claim: read_names(tell=_tell(claim)),
}
for _name, _work in JOBS.items():
    jobs.handler(_name)(_work)


def _forget_actions() -> int:
    """Forget turns past their time, and what became of candidates and searches."""
    now = timezone.now()
    forgotten = lifecycle.forget(now=now) + forget_counted(now=now)
    return forgotten + apply_decision.forget_actions(now=now, days=settings.KEEP_ACTIONS_DAYS)


def _tend_sessions() -> int:
    """End silent sessions, and let a model read those that it failed on."""
    now = timezone.now()
    return lifecycle.end_idle(now=now) + second_reading.queue_missed(now=now)


UPKEEP: Final[Mapping[str, Callable[[], object]]] = {  # in every organization, once a slot
    "merge_access": maintenance.merge_access,  # the access log into the usage counts
    "embed_missing": maintenance.embed_missing,
    "read_names": queue_read_names_of_entities,
    "tend_sessions": _tend_sessions,
    "raise_alarms": lambda: raise_alarms(now=timezone.now()),
    "forget_actions": _forget_actions,
    "index_days": index_days,
    "sort_topics": topics_actions.queue,
    "enrich_entities": queue_enrich_entities,
    "join_names": entity_merges.queue_join_names,
    "prove": consequences.queue_demotion,
    "find_pairs": queue_weekly,
    "measure_weeks": lambda: weekly_figures.measure_weeks(now=timezone.now()),
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
