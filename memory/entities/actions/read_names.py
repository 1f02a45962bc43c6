"""Read the names of memories again that an older reader has read, or none.

Which reader it was stands with each memory, so the state is in the rows: a part that is killed
loses at most a batch, any number of parts may run, and asking twice does nothing. Each part is a
job of its own, as in `reembedding`. What somebody changes meanwhile is passed over: who changes a
text reads its names, and else the next part does.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from accounts import jobs, tenancy
from memory.entities import accurate, names
from memory.entities.sql import entities
from memory.records.models import Memory

JOB: Final = "memory.read_names"
BATCH: Final = 250  # memories a transaction; 0.2 s
BATCHES: Final = 40  # a part; some seconds
AGAIN_SECONDS: Final = 30  # after which those that somebody held are looked at again

Tell = Callable[[int, int], object]  # hears how many have been read, and how many there are


def queue_when_old() -> bool:
    """Queue the reading where a memory waits for it; say whether a job was written."""
    with tenancy.unit():
        return _any_old() and _enqueue() is not None


def read_part(*, tell: Tell) -> Mapping[str, int]:
    """Read a part's worth of memories again, and queue the next part where some are left."""
    with tenancy.unit():
        total = Memory.objects.count()
        done = total - Memory.objects.filter(names_version__lt=names.VERSION).count()
    read, taken = 0, BATCH
    while taken == BATCH and read < BATCH * BATCHES:
        taken = _read_batch()
        read += taken
        tell(min(done + read, total), total)
    with tenancy.unit():
        if _any_old():
            _enqueue(delay_seconds=0 if taken == BATCH else AGAIN_SECONDS)
    return {"read": read}


def _read_batch() -> int:
    with tenancy.unit():
        rows = tuple(
            Memory.objects.filter(names_version__lt=names.VERSION)
            .order_by("names_version")  # by index alone; which of them is first does not matter
            .select_for_update(skip_locked=True, no_key=True)
            .only("content", "audience", "project_id")[:BATCH]
        )
        for row in rows:
            row.names = names.names_in(content=row.content)
        entities.rewrite(rows=rows)
        _mark(rows)
    return len(rows)


def _mark(rows: tuple[Memory, ...]) -> None:
    """Say which reader has read them; those in which it found little wait for the night's."""
    waits: dict[int, list[UUID]] = defaultdict(list)
    for row in rows:
        waits[accurate.enriched_by(named=row.names)].append(row.id)
    for number, ids in waits.items():
        read = Memory.objects.filter(pk__in=ids)
        read.update(names_version=names.VERSION, enriched_by=number)


def _any_old() -> bool:
    return Memory.objects.filter(names_version__lt=names.VERSION).exists()


def _enqueue(delay_seconds: int = 0) -> object:
    return jobs.enqueue(JOB, payload={}, key="names", delay_seconds=delay_seconds)
