"""Read the names in memories again: what newer patterns and a statistical reader find in them.

Two jobs, both kept in the rows of memories: which version of the patterns has read a text, and
which statistical reader. A part of a job that is killed loses at most a batch, any number of parts
may run, and asking twice does nothing. Each part is a job of its own. What somebody changes
meanwhile is passed over: who changes a text reads its names, and else the next part does.

`read_names`: the patterns of every write have changed, so every memory is read anew.
`enrich_entities`: memories in which they found fewer than two things are read by a statistical
reader at night, between two transactions. A text over which the reader stumbles is read as one
without names, and counted; those beside it are read. Without the extra nothing is read, and the
job's result says so; a model that is not the pinned one is refused.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from accounts import jobs, tenancy
from memory import sql_queries
from memory.entities import accurate, names
from memory.entities import queries as entities
from memory.entities.accurate import ENOUGH, FEW
from memory.entities.models import Mention
from memory.providers import name_reader, registry
from memory.providers.contracts import NameReader, ReadSpan
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused, ProviderUnavailable
from memory.providers.name_reader import NUMBER

READ_NAMES: Final = "memory.read_names"
READ_BATCH: Final = 250  # memories a transaction; 0.2 s
ENRICH_ENTITIES: Final = "memory.enrich_entities"
ENRICH_BATCH: Final = 50  # memories a transaction; 0.1 s
CHARACTERS: Final = 100_000  # of the texts of a batch; default, not measured
BATCHES: Final = 40  # a part; some seconds
AGAIN_SECONDS: Final = 30  # after which those that somebody held are looked at again
A_NIGHT: Final = 10_000  # memories of an organization; default, not measured

log = logging.getLogger(__name__)

Tell = Callable[[int, int], object]  # hears how many have been read, and of how many
Open = Callable[[], NameReader]  # raises ProviderUnavailable, ProviderRefused


def queue_read_names() -> bool:
    """Queue the reading where a memory waits for it; say whether a job was written."""
    with tenancy.unit():
        unread, _ = entities.count_unread(version=names.VERSION)
        return unread > 0 and jobs.enqueue(READ_NAMES, payload={}, key="names") is not None


def read_names(*, tell: Tell) -> Mapping[str, int]:
    """Read a part's worth of memories again, and queue the next part where some are left."""
    with tenancy.unit():
        unread, total = entities.count_unread(version=names.VERSION)
    read, taken = 0, READ_BATCH
    while taken == READ_BATCH and read < READ_BATCH * BATCHES:
        # those in which the patterns found little wait for the night's reader
        with tenancy.unit():
            found = entities.lock_memories("lock_unread", version=names.VERSION, limit=READ_BATCH)
            rows = tuple(replace(row, names=names.names_in(content=row.content)) for row in found)
            entities.rewrite(rows=rows)
            readers: dict[int, list[UUID]] = defaultdict(list)
            for row in rows:
                readers[accurate.enriched_by(named=row.names)].append(row.id)
            for number, ids in readers.items():
                _mark(ids, number, version=names.VERSION)
        taken = len(rows)
        read += taken
        tell(min(total - unread + read, total), total)
    with tenancy.unit():
        if entities.count_unread(version=names.VERSION)[0]:
            delay = 0 if taken == READ_BATCH else AGAIN_SECONDS
            jobs.enqueue(READ_NAMES, payload={}, key="names", delay_seconds=delay)
    return {"read": read}


def queue_enrich_entities() -> bool:
    """Queue a night's reading where a memory waits for it; say whether a job was written."""
    with tenancy.unit():
        return entities.count_unenriched(number=NUMBER, limit=1) > 0 and _enqueue(A_NIGHT)


def installed_reader() -> NameReader:
    """Return the reader of this machine.

    Raises ProviderUnavailable where the extra is not installed, ProviderRefused for altered files.
    """
    return name_reader.load(models_dir=registry.models_dir())


def enrich_entities(
    *, left: int, tell: Tell, open_reader: Open = installed_reader
) -> Mapping[str, Any]:
    """Read a part of the `left` memories of this night, and queue the next part if some are left.

    Raises PermanentFailure for a model that is not the pinned one.
    """
    try:
        read = open_reader()
    except ProviderUnavailable as error:
        return {"read": 0, "named": 0, "not_installed": f"{error.detail} {error.hint}"}
    except ProviderRefused as error:
        raise jobs.PermanentFailure(error.detail, error.hint) from error
    with tenancy.unit():
        total = entities.count_unenriched(number=NUMBER, limit=min(left, ENRICH_BATCH * BATCHES))
    looked, named, failed, done = 0, 0, 0, 1
    while looked < total and done:
        taken, done, found, stumbled = _enrich_batch(read, min(ENRICH_BATCH, total - looked))
        looked, named, failed = looked + taken, named + found, failed + stumbled
        tell(looked, total)
    with tenancy.unit():
        if done and looked < left and entities.count_unenriched(number=NUMBER, limit=1):
            _enqueue(left - looked)
    return {"read": looked, "named": named, **({"failed": failed} if failed else {})}


def _enrich_batch(read: NameReader, most: int) -> tuple[int, int, int, int]:
    """Read a batch; return how many were taken and are done, their names, and the unreadable."""
    with tenancy.unit():
        texts = _waiting_texts(most)
        counts = entities.counts_of(memory_ids=tuple(texts))
    asked = {
        id: accurate.prose_of(content=text) for id, text in texts.items() if counts.get(id, 0) < FEW
    }
    marks = _read_all(read, asked) if asked else {}
    with tenancy.unit():
        held = entities.lock_memories("lock_unenriched", ids=[*texts], number=NUMBER)
        rows = tuple(
            replace(
                row,
                names=accurate.names_of(prose=asked.get(row.id, ""), read=marks.get(row.id, ())),
            )
            for row in held
            if row.content == texts[row.id]
        )
        entities.rewrite(rows=rows, read_by=NUMBER)
        ids = {row.id for row in rows}
        _mark([*ids & asked.keys()], NUMBER)
        _mark([*ids - asked.keys()], ENOUGH)
    found = sum(len(row.names) for row in rows)
    return len(texts), len(rows), found, len(ids & asked.keys() - marks.keys())


def _mark(ids: list[UUID], number: int, version: int | None = None) -> None:
    """Say which reader, and which version of the patterns, have read memories. In a unit."""
    sql_queries.execute(
        "mark_read", file=entities.FILE, ids=ids, enriched_by=number, version=version
    )


def _waiting_texts(most: int) -> dict[UUID, str]:
    """Return the texts of so many unread memories by their ids, of a batch's length at most."""
    texts: dict[UUID, str] = {}
    length = 0
    rows = sql_queries.rows("list_unenriched", file=entities.FILE, number=NUMBER, limit=most)
    for id, content in rows:
        length += len(content)
        if texts and length > CHARACTERS:
            break
        texts[id] = content
    return texts


def _read_all(read: NameReader, asked: Mapping[UUID, str]) -> dict[UUID, tuple[ReadSpan, ...]]:
    """Read texts at once, or one by one where the reader stumbles; leave out what it cannot."""
    try:
        return dict(zip(asked, read(tuple(asked.values())), strict=True))
    except ProviderInvalidAnswer as error:
        if len(asked) == 1:
            (id,) = asked
            log.warning("The names of memory %s are not read: %s", id, error.detail)
            return {}
    found: dict[UUID, tuple[ReadSpan, ...]] = {}
    for id, text in asked.items():
        found |= _read_all(read, {id: text})
    return found


def forget_enriched() -> int:
    """Forget the names that a reader of the night found; return how many.

    What the patterns found stays. The memories stay marked as read, so the next night does not find
    the same again; a new text of one is read anew.
    """
    with tenancy.unit():
        return Mention.objects.filter(read_by__gt=0).delete()[0]


def _enqueue(left: int) -> bool:
    return jobs.enqueue(ENRICH_ENTITIES, payload={"left": left}, key="entities") is not None
