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
from typing import Final

import psycopg
from django.db import OperationalError
from django.db.models.functions import Now

from accounts import audit as origins
from accounts import tenancy
from memory.index.actions import embedding, maintenance, model_switch
from memory.index.models import EmbeddingModel
from memory.index.sql import search_rows
from teams import audit

log = logging.getLogger(__name__)

BATCHES: Final = 16  # a part; some seconds of the local model
CUT_OVER_TRIES: Final = 20  # then the next part begins, when fewer write perhaps
AGAIN_SECONDS: Final = 5
SAMPLE: Final = 50  # memories whose neighbors are compared
NEAR: Final = 10  # neighbors
DROPPED_TOGETHER: Final = 5_000  # vectors a transaction

Tell = Callable[[int, int], object]  # hears how many have a vector, and how many need one


def work(*, key: str, tell: Tell) -> dict[str, object]:
    """Do one part of a switch to a model; queue the next one, or cut over when it was the last.

    Returns the `state` (working, done, or stopped because nobody wants it), how many memories were
    embedded, and the `overlap` with the model before. Raises EmbedderUnavailable when the model
    does not answer now, PermanentFailure when asking again cannot help.
    """
    with tenancy.unit():
        row = EmbeddingModel.objects.filter(key=key).first()
    if row is None or not (row.filling or row.active):
        return {"state": "stopped", "embedded": 0, "overlap": None}
    embedded = _fill(row, tell)
    delay_seconds = 0
    if embedded < BATCHES * embedding.BATCH:
        if row.active:
            return {"state": "done", "embedded": embedded, "overlap": None}
        with tenancy.unit():
            first = embedding.active_model()[0]
            share = search_rows.overlap(first=first, second=row.id, sample=SAMPLE, near=NEAR)
            EmbeddingModel.objects.filter(pk=row.pk).update(overlap=share)
        for _ in range(CUT_OVER_TRIES):
            state = _cut_over(row)
            if state is not None:
                with tenancy.unit():  # what searches of a large organization read of the model
                    needed, _ = search_rows.coverage(model_id=row.id)
                    maintenance.queue_when_large(live=needed)
                return {"state": state, "embedded": embedded, "overlap": share}
            embedded += _fill(row, tell)
        delay_seconds = AGAIN_SECONDS
    with tenancy.unit():
        model_switch.enqueue(key=row.key, delay_seconds=delay_seconds)
    return {"state": "working", "embedded": embedded, "overlap": None}


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


def _fill(row: EmbeddingModel, tell: Tell) -> int:
    """Embed up to a part's worth of memories; return how many were taken."""
    with tenancy.unit():
        needed, done = search_rows.coverage(model_id=row.id)
    after, taken = search_rows.FIRST, 0
    for _ in range(BATCHES):
        with tenancy.unit():
            lacking = search_rows.without_vector(
                model_id=row.id, after=after, limit=embedding.BATCH
            )
        if not lacking:
            break
        done += embedding.embed_beside(key=row.key, memory_ids=lacking)
        taken, after = taken + len(lacking), lacking[-1]
        tell(min(done, needed), needed)
    return taken


def _cut_over(row: EmbeddingModel) -> str | None:
    """Make a model the active one; return done, stopped, or None where a vector is missing."""
    try:
        with tenancy.unit():
            search_rows.hold_memories()
            if search_rows.without_vector(model_id=row.id, after=search_rows.FIRST, limit=1):
                return None
            wanted = EmbeddingModel.objects.filter(pk=row.pk, filling=True)
            if not wanted.select_for_update().exists():
                return "stopped"  # cancelled, or another part was faster
            EmbeddingModel.objects.filter(active=True).update(active=False)
            wanted.update(active=True, filling=False, activated_at=Now())
            audit.append(
                act="model.activated",
                object_type="model",
                object_id=str(row.pk),
                caller=origins.Person(user_id=None, source_interface=model_switch.INSTALLATION),
                details={"key": row.key},
            )
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            return None
        raise
    log.info("Searches compare by %s from now on", row.key)
    return "done"
