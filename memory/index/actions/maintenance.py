"""Keep what searches read up to date: word and access counts, missing vectors, and indexes.

Exact scans are faster and perfect up to ten thousand memories. Beyond, a job makes indexes that a
search reads instead, through a door of the owner's; whoever writes a memory waits meanwhile, so a
far larger organization is left to `manage.py index_search`, which makes them beside the work.
"""

from collections.abc import Callable
from typing import Final

from django.db import connection

from accounts import jobs, tenancy
from accounts.messages import message
from memory.index.actions import embedding, model_switch
from memory.index.sql import search_rows

DRIFT: Final = 0.10  # share by which the collection must have changed before words are recounted
BULK_NAME: Final = "memory.embed_bulk"
EMBED_NAMES: Final = ("memory.embed", BULK_NAME)
REFUSED_NAMES: Final = (*EMBED_NAMES, model_switch.SWITCH)
MOST_MISSING: Final = 200  # memories an organization and slot, so that a sweep never floods a queue
INDEX_SEARCH: Final = "memory.index_search"
LARGE: Final = 10_000  # live memories beyond which an index beats an exact scan (measured)
MOST_WAITED_FOR: Final = 50_000  # vectors; making the index takes 1 ms of CPU each
SEARCHED: Final = (
    "memory_memory",
    "memory_memorykeyword",
    "memory_memoryvector",
    "memory_lexeme",
    "memory_mention",
)

Tell = Callable[[int, int], object]


def refresh_lexicon() -> int:
    """Recount words when the collection has changed by a tenth; return how many, 0 when not."""
    with tenancy.unit():
        present, counted = search_rows.lexicon_drift()
        queue_when_large(live=present)
        if abs(present - counted) <= DRIFT * counted:
            return 0
        return search_rows.refresh_lexicon()


def merge_access() -> int:
    """Count what searches gave out since the last merge; return how many memories."""
    with tenancy.unit():
        return search_rows.merge_access()


def embed_missing() -> int:
    """Queue the embedding of memories that no job will give a vector; return how many.

    A refused embedding is tried again after an hour, because what refused it may have been mended;
    one that was put aside waits for a person. A switch of models whose job was lost goes on; where
    the installation names another model than the organization has, one begins.
    """
    model_switch.resume()
    model_switch.follow_installation()
    with tenancy.unit():
        missing = search_rows.unembedded(limit=MOST_MISSING)
        known = jobs.known_keys(names=EMBED_NAMES, keys=tuple(id.hex for id in missing))
        left = {id: layer for id, layer in missing.items() if id.hex not in known}
        for id, layer in left.items():
            embedding.enqueue(layers={id: layer}, name=BULK_NAME)
        again = jobs.retry_refused(names=REFUSED_NAMES, limit=MOST_MISSING)
    return len(left) + again


def queue_when_large(*, live: int) -> bool:
    """Queue the making of indexes where they are missing and needed. In a unit."""
    if live <= LARGE or search_rows.is_indexed():
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
        missing = search_rows.missing_indexes(least=LARGE)
        schema = tenancy.current().schema_name
    with connection.cursor() as cursor:
        if memory is not None:
            cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        for name, definition in missing:
            say(name)
            cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{schema}"."{name}"')
            cursor.execute(f'CREATE INDEX CONCURRENTLY "{name}" ON {definition}')
        if missing:
            tables = ", ".join(f'"{schema}".{table}' for table in SEARCHED)
            cursor.execute(f"ANALYZE {tables}")
    return tuple(name for name, _ in missing)


def _make_one() -> int:
    """Make one of those that are missing; return how many were before."""
    with tenancy.unit():
        lacked = search_rows.index_search(most=MOST_WAITED_FOR)
    if lacked is None:
        raise jobs.PermanentFailure(
            message(
                "There are more than {most} vectors, or none; an operator makes the indexes by "
                "manage.py index_search, which nobody waits for.",
                most=MOST_WAITED_FOR,
            )
        )
    return lacked
