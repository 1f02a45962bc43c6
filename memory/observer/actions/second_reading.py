"""Read again with a model what words read while it was away.

Turns on which a model failed are read once more when it answers: a bounded number of sessions a
slot, of turns and of tries. Only what the model writes down is taken then, and nothing that words
have stored of the same turn.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from accounts import jobs, tenancy
from memory.extraction import actions as extraction
from memory.extraction import model_answers
from memory.observer.actions import consolidate
from memory.providers import registry
from memory.records import changes
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.actions.lifecycle import JOB
from memory.sessions.models import Session
from memory.text.text import content_words

# Defaults, not measured.
AGAIN_MINUTES: Final = 10  # between two tries
AGAIN_DAYS: Final = 7  # then it stays as words read it
AGAIN_AT_ONCE: Final = 20  # sessions of a slot
RESTATED: Final = 0.6  # share of the shorter statement's words that the other has too


def read_again(
    *, session_id: UUID, now: datetime, tell: consolidate.Tell, holder: UUID | None = None
) -> Mapping[str, Any]:
    """Let a model read the turns that it failed on, 300 at most; return the counts.

    What is left of a longer session is read when `queue_missed` queues it next.
    Raises as `consolidate` does.
    """
    run = consolidate.begin(session_id, holder or uuid4(), now, is_decided=False)
    if run is None:
        return {"gone": 1}
    row, tenant = run.session, tenancy.current().schema_name
    with tenancy.unit():
        after = int(row.result.get(consolidate.MISSED, row.taken_through))
        spoken = sessions.spoken(session_id=row.id, after=after, limit=consolidate.READ_AT_ONCE + 1)
    missed = tuple(one for one in spoken if one.sequence <= row.taken_through)
    turns = missed[: consolidate.READ_AT_ONCE]
    run.missed = turns[-1].sequence if len(turns) < len(missed) else None
    for batch in model_answers.batches(turns=turns):
        found = extraction.extract_part(turns=batch, allowance=run.allowance, tenant=tenant)
        if found.degraded:
            consolidate.book(run, found)
            run.missed, run.is_failed_try = batch[0].sequence - 1, not found.spent.is_away
            break
        if found.method == extraction.Mode.LLM.value:
            consolidate.take(run, _without_restated(row, found), turns=len(batch))
        run.counts["read_again"] += len(batch)
        tell(run.counts["read_again"], len(turns))
    return consolidate.finish(run)


def queue_missed(*, now: datetime) -> int:
    """Queue the sessions that a model failed on for another reading; return how many."""
    if registry.chat_model(tenant=tenancy.current().schema_name) is None:
        return 0
    with tenancy.unit():
        rows = Session.objects.filter(
            state="consolidated",
            result__has_key=consolidate.MISSED,
            consolidated_at__lt=now - timedelta(minutes=AGAIN_MINUTES),
            ended_at__gt=now - timedelta(days=AGAIN_DAYS),  # each try consolidates anew
        ).order_by("consolidated_at", "id")[:AGAIN_AT_ONCE]
        queued = [
            jobs.enqueue(
                JOB,
                payload={"ids": [str(row.id)], "again": True},
                key=f"again-{row.id.hex}",
                created_by=row.opened_by or row.token_id,
            )
            for row in rows
        ]
    return len(queued) - queued.count(None)


def _without_restated(row: Session, found: extraction.Extracted) -> extraction.Extracted:
    """Leave out what says the same as something that is stored of the same turn."""
    turns = {consolidate.origin_of(row=row, turn=one.turn) for one in found.candidates}
    with tenancy.unit():
        stored = Memory.objects.filter(session_id=row.id, source_uri__in=turns)
        known = tuple(stored.order_by("id").values_list("source_uri", "content"))
    new = tuple(
        one
        for one in found.candidates
        if not any(
            uri == consolidate.origin_of(row=row, turn=one.turn) and _restates(content, one.content)
            for uri, content in known
        )
    )
    dropped = Counter(found.dropped) + Counter(restated=len(found.candidates) - len(new))
    return replace(found, candidates=new, dropped=+dropped)


def _restates(old: str, new: str) -> bool:
    left, right = content_words(text=old), content_words(text=new)
    shared = len(left & right) / max(1, min(len(left), len(right)))
    return shared >= RESTATED and not changes.difference(old=old, new=new)
