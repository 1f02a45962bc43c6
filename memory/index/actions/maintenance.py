"""Keep what searches read up to date: word and access counts, missing vectors, and indexes.

Exact scans are faster and perfect up to ten thousand memories. Beyond, a job makes indexes that a
search reads instead, through a door of the owner's; whoever writes a memory waits meanwhile, so a
far larger organization is left to `manage.py index_search`, which makes them beside the work.
"""

import logging
from collections.abc import Callable
from typing import Final

import psycopg
from django.db import OperationalError, connection
from django.db.models.functions import Now

from accounts import audit as origins
from accounts import jobs, tenancy
from accounts.messages import message
from memory.index import queries
from memory.index.actions import embedding, model_switch
from memory.index.models import EmbeddingModel
from teams import audit

DRIFT: Final = 0.10  # share by which the collection must have changed before words are recounted
BULK_NAME: Final = "memory.embed_bulk"
EMBED_NAMES: Final = ("memory.embed", BULK_NAME)
REFUSED_NAMES: Final = (*EMBED_NAMES, model_switch.SWITCH)
MOST_MISSING: Final = 200  # memories an organization and slot, so that a sweep never floods a queue
INDEX_SEARCH: Final = "memory.index_search"
LARGE: Final = 10_000  # live memories beyond which an index beats an exact scan (measured)
MOST_WAITED_FOR: Final = 50_000  # vectors; making the index takes 1 ms of CPU each
SEARCHED: Final = ("memory", "memorykeyword", "memoryvector", "lexeme", "mention")  # tables
Tell = Callable[[int, int], object]


def refresh_lexicon() -> int:
    """Recount words when the collection has changed by a tenth; return how many, 0 when not."""
    with tenancy.unit():
        present, counted = queries.lexicon_drift()
        queue_when_large(live=present)
        if abs(present - counted) <= DRIFT * counted:
            return 0
        return queries.refresh_lexicon()


def merge_access() -> int:
    """Count what searches gave out since the last merge; return how many memories."""
    with tenancy.unit():
        return queries.merge_access()


def embed_missing() -> int:
    """Queue the embedding of memories that no job will give a vector; return how many.

    A refused embedding is tried again after an hour, because what refused it may have been mended;
    one that was put aside waits for a person. A switch of models whose job was lost goes on; where
    the installation names another model than the organization has, one begins.
    """
    model_switch.resume()
    model_switch.follow_installation()
    with tenancy.unit():
        missing = queries.unembedded(limit=MOST_MISSING)
        known = jobs.known_keys(names=EMBED_NAMES, keys=tuple(id.hex for id in missing))
        left = {id: layer for id, layer in missing.items() if id.hex not in known}
        for id, layer in left.items():
            embedding.enqueue(layers={id: layer}, name=BULK_NAME)
        again = jobs.retry_refused(names=REFUSED_NAMES, limit=MOST_MISSING)
    return len(left) + again


def queue_when_large(*, live: int) -> bool:
    """Queue the making of indexes where they are missing and needed. In a unit."""
    if live <= LARGE or queries.is_indexed():
        return False
    return jobs.enqueue(INDEX_SEARCH, payload={}, key="index") is not None


def make_indexes(*, tell: Tell) -> int:
    """Make what the organization's searches lack, one by one; return how many were made.

    Writers may work between two of them. `tell` hears how many of them stand. Raises
    PermanentFailure where writers would wait for too long.
    """
    every = lacked = _make_one()
    while lacked:
        tell(every - lacked + 1, every)
        lacked = _make_one()
    return every


def make_beside(*, say: Callable[[str], object], memory: str | None) -> tuple[str, ...]:
    """Make them without keeping anybody waiting, as the owner of the tables; return their names.

    `say` hears the name of each before it is made; `memory` is what Postgres may take for one, its
    own setting when None: a graph that fits is made several times as fast. Afterwards the planner
    learns what there is: who has just loaded that much asks at once. Call inside
    `connection.as_owner()`, in an organization and outside of a unit. One that was left unfinished
    is made anew. Below the size at which they help, none is made.
    """
    with tenancy.unit():
        missing = queries.missing_indexes(least=LARGE)
        schema = tenancy.current().schema_name
    with connection.cursor() as cursor:
        if memory is not None:
            cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        for name, definition in missing:
            say(name)
            cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{schema}"."{name}"')
            cursor.execute(f'CREATE INDEX CONCURRENTLY "{name}" ON {definition}')
        if missing:
            tables = ", ".join(f'"{schema}".memory_{table}' for table in SEARCHED)
            cursor.execute(f"ANALYZE {tables}")
    return tuple(name for name, _ in missing)


def _make_one() -> int:
    """Make one of those that are missing; return how many were before."""
    with tenancy.unit():
        lacked = queries.index_search(most=MOST_WAITED_FOR)
    if lacked is None:
        raise jobs.PermanentFailure(
            message(
                "There are more than {most} vectors, or none; an operator makes the indexes by "
                "manage.py index_search, which nobody waits for.",
                most=MOST_WAITED_FOR,
            )
        )
    return lacked


# The work of a switch: make every vector of the other model, compare, cut over.
#
# The state is in the rows: a memory has a vector of the model or lacks one. So a part that is
# killed loses at most a batch, and any number of parts may run. Each part is a job of its own,
# because a job whose worker dies three times is put aside: in a long switch that would happen by
# and by, in a part only to what really kills its worker.
#
# The cut-over holds the tables of memories and vectors for an instant: writers that have begun
# are waited for, others wait. Then nothing may lack a vector, else it is tried again after that
# has been made.

log = logging.getLogger(__name__)

BATCHES: Final = 16  # a part; some seconds of the local model
CUT_OVER_TRIES: Final = 20  # then the next part begins, when fewer write perhaps
AGAIN_SECONDS: Final = 5
SAMPLE: Final = 50  # memories whose neighbors are compared
NEAR: Final = 10  # neighbors
DROPPED_TOGETHER: Final = 5_000  # vectors a transaction


def work(*, key: str, tell: Tell) -> dict[str, object]:
    """Do one part of a switch to a model; queue the next one, or cut over when it was the last.

    Returns the `state` (working, done, or stopped because nobody wants it), how many memories were
    embedded, and the `overlap` with the model before; `tell` hears how many have a vector, and how
    many need one. Raises EmbedderUnavailable when the model does not answer now, PermanentFailure
    when asking again cannot help.
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
            share = queries.overlap(first=first, second=row.id, sample=SAMPLE, near=NEAR)
            EmbeddingModel.objects.filter(pk=row.pk).update(overlap=share)
        for _ in range(CUT_OVER_TRIES):
            state = _cut_over(row)
            if state is not None:
                with tenancy.unit():  # what searches of a large organization read of the model
                    needed, _ = queries.coverage(model_id=row.id)
                    queue_when_large(live=needed)
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
            gone = queries.forget_some(model_id=model_id, limit=DROPPED_TOGETHER)
            if gone == 0:
                unused = EmbeddingModel.objects.filter(pk=model_id, active=False, filling=False)
                unused.filter(activated_at=None).delete()
                return done
        done += gone
        tell(done, done)


def _fill(row: EmbeddingModel, tell: Tell) -> int:
    """Embed up to a part's worth of memories; return how many were taken."""
    with tenancy.unit():
        needed, done = queries.coverage(model_id=row.id)
    after, taken = queries.FIRST, 0
    for _ in range(BATCHES):
        with tenancy.unit():
            lacking = queries.without_vector(model_id=row.id, after=after, limit=embedding.BATCH)
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
            queries.hold_memories()
            if queries.without_vector(model_id=row.id, after=queries.FIRST, limit=1):
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
