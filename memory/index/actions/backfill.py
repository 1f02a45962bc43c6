"""The work of a switch: make every vector of the other model, compare, cut over.

The state is in the rows: a memory has a vector of the model or lacks one. So a part that is killed
loses at most a batch, and any number of parts may run. Each part is a job of its own, because a job
whose worker dies three times is put aside: in a long switch that would happen by and by, in a part
only to what really kills its worker.

The cut-over holds the tables of memories and vectors for an instant: writers that have begun are
waited for, others wait. Then nothing may lack a vector, else it is tried again after that has been
made. So at the moment when the other model answers, it knows all that the one before knew.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import psycopg
from django.db import OperationalError
from django.db.models.functions import Now

from accounts import audit as origins
from accounts import tenancy
from memory.index.actions import embedding, maintenance, model_switch
from memory.index.models import EmbeddingModel
from memory.index.sql import search_rows
from memory.index.sql.search_rows import FIRST, Overlap
from teams import audit

log = logging.getLogger(__name__)

BATCHES: Final = 16  # a part; some seconds of the local model
CUT_OVER_TRIES: Final = 20  # then the next part begins, when fewer write perhaps
AGAIN_SECONDS: Final = 5
SAMPLE: Final = 50  # memories whose neighbors are compared
NEAR: Final = 10  # neighbors
DROPPED_TOGETHER: Final = 5_000  # vectors a transaction

Tell = Callable[[int, int], object]  # hears how many have a vector, and how many need one


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part of a switch did. `state`: working, done, or stopped because nobody wants it."""

    state: str
    embedded: int
    overlap: float | None = None


def work(*, key: str, tell: Tell) -> Part:
    """Do one part of a switch to a model; queue the next one, or cut over when it was the last.

    Raises EmbedderUnavailable when the model does not answer now, PermanentFailure when asking
    again cannot help.
    """
    row = _wanted(key)
    if row is None:
        return Part(state="stopped", embedded=0)
    embedded = _fill(row, tell)
    if embedded == BATCHES * embedding.BATCH:
        return _next_part(row, embedded)
    if row.active:
        return Part(state="done", embedded=embedded)
    found = _compare(row)
    for _ in range(CUT_OVER_TRIES):
        state = _cut_over(row)
        if state is not None:
            _index(row)
            return Part(state=state, embedded=embedded, overlap=found.share)
        embedded += _fill(row, tell)
    return _next_part(row, embedded, delay_seconds=AGAIN_SECONDS)


def drop(*, model_id: int, tell: Tell) -> int:
    """Delete the vectors of a model that nobody searches by, then the model; return how many."""
    done = 0
    while True:
        with tenancy.unit():
            gone = search_rows.forget_some(model_id=model_id, limit=DROPPED_TOGETHER)
            if gone == 0:
                unused = EmbeddingModel.objects.filter(pk=model_id, active=False, filling=False)
                unused.filter(activated_at=None).delete()
                return done
        done += gone
        tell(done, done)


def _wanted(key: str) -> EmbeddingModel | None:
    with tenancy.unit():
        row = EmbeddingModel.objects.filter(key=key).first()
    return row if row is not None and (row.filling or row.active) else None


def _fill(row: EmbeddingModel, tell: Tell) -> int:
    """Embed up to a part's worth of memories; return how many were taken."""
    with tenancy.unit():
        coverage = search_rows.coverage(model_id=row.id)
    done, after, taken = coverage.embedded, FIRST, 0
    for _ in range(BATCHES):
        with tenancy.unit():
            lacking = search_rows.without_vector(
                model_id=row.id, after=after, limit=embedding.BATCH
            )
        if not lacking:
            break
        done += embedding.embed_beside(key=row.key, memory_ids=lacking)
        taken, after = taken + len(lacking), lacking[-1]
        tell(min(done, coverage.needed), coverage.needed)
    return taken


def _next_part(row: EmbeddingModel, embedded: int, delay_seconds: int = 0) -> Part:
    with tenancy.unit():
        model_switch.enqueue(key=row.key, delay_seconds=delay_seconds)
    return Part(state="working", embedded=embedded)


def _compare(row: EmbeddingModel) -> Overlap:
    """Keep how much the model agrees with the active one about what is near."""
    with tenancy.unit():
        active = embedding.active_model()
        found = search_rows.overlap(first=active.id, second=row.id, sample=SAMPLE, near=NEAR)
        EmbeddingModel.objects.filter(pk=row.pk).update(overlap=found.share)
    return found


def _cut_over(row: EmbeddingModel) -> str | None:
    """Make a model the active one; return done, stopped, or None where a vector is missing."""
    try:
        with tenancy.unit():
            search_rows.hold_memories()
            if search_rows.without_vector(model_id=row.id, after=FIRST, limit=1):
                return None
            wanted = EmbeddingModel.objects.filter(pk=row.pk, filling=True)
            if not wanted.select_for_update().exists():
                return "stopped"  # cancelled, or another part was faster
            EmbeddingModel.objects.filter(active=True).update(active=False)
            wanted.update(active=True, filling=False, activated_at=Now())
            _note(row)
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            return None
        raise
    log.info("Searches compare by %s from now on", row.key)
    return "done"


def _index(row: EmbeddingModel) -> None:
    """Queue what searches of a large organization read of the model."""
    with tenancy.unit():
        maintenance.queue_when_large(live=search_rows.coverage(model_id=row.id).needed)


def _note(row: EmbeddingModel) -> None:
    audit.append(
        act="model.activated",
        object_type="model",
        object_id=str(row.pk),
        caller=origins.Person(user_id=None, source_interface=model_switch.INSTALLATION),
        details={"key": row.key},
    )
