"""Indexes for searches of large organizations (measured in the contributors' page).

Exact scans are faster and perfect up to ten thousand memories. Beyond, a job makes what a search
reads instead, through a door of the owner's; whoever writes a memory waits meanwhile, so a far
larger organization is left to `manage.py index_search`, which makes them beside the work.
"""

from collections.abc import Callable
from typing import Final

from django.db import connection

from accounts import jobs, tenancy
from accounts.messages import message
from memory.index.sql import search_rows

JOB: Final = "memory.index_search"
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


def queue_when_large(*, live: int) -> bool:
    """Queue the making of indexes where they are missing and needed. In a unit."""
    if live <= LARGE or search_rows.is_indexed():
        return False
    return jobs.enqueue(JOB, payload={}, key="index") is not None


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
