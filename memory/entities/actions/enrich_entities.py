"""Read the names of people, organizations and places in the night (accurate; 6).

Memories in which the patterns of their writing found fewer than two things are read by a
statistical reader, each once: which reader has read it stands with the memory, so the state is in
the rows. A part that is killed loses at most a batch, any number of parts may run, and asking twice
does nothing. The reader works between two transactions; what somebody changed meanwhile is passed
over and read the next time. A new text is unread. What is found stays with the memory's audience.

A text over which the reader stumbles is read as one without names, and counted; those beside it are
read. Without the extra nothing is read, and the job's result says so; a model that is not the
pinned one is refused.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import jobs, tenancy
from memory.entities import accurate
from memory.entities.accurate import ENOUGH, FEW
from memory.entities.sql import entities
from memory.providers import name_reader, registry
from memory.providers.contracts import NameReader, ReadSpan
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused, ProviderUnavailable
from memory.providers.name_reader import NUMBER
from memory.records.models import Memory

JOB: Final = "memory.enrich_entities"
BATCH: Final = 50  # memories a transaction; 0.1 s
CHARACTERS: Final = 100_000  # of the texts of a batch; ours
BATCHES: Final = 40  # a part; some seconds
A_NIGHT: Final = 10_000  # memories of an organization; ours

log = logging.getLogger(__name__)

Tell = Callable[[int, int], object]  # hears how many have been read, and of how many
Open = Callable[[], NameReader]  # raises ProviderUnavailable, ProviderRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """How many of a batch were taken, are done, and could not be read; how many names it had."""

    taken: int
    done: int
    named: int
    failed: int


def installed_reader() -> NameReader:
    """Return the reader of this machine.

    Raises ProviderUnavailable where the extra is not installed, ProviderRefused for altered files.
    """
    return name_reader.load(models_dir=registry.models_dir())


def queue() -> bool:
    """Queue a night's reading where a memory waits for it; say whether a job was written."""
    with tenancy.unit():
        return _any_unread() and _enqueue(A_NIGHT) is not None


def enrich_part(
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
    most = min(left, BATCH * BATCHES)
    with tenancy.unit():
        total = _unread()[:most].count()
    looked, named, failed, done = 0, 0, 0, 1
    while looked < total and done:
        part = _enrich_batch(read, min(BATCH, total - looked))
        looked, named, done = looked + part.taken, named + part.named, part.done
        failed += part.failed
        tell(looked, total)
    with tenancy.unit():
        if done and looked < left and _any_unread():
            _enqueue(left - looked)
    return {"read": looked, "named": named, **({"failed": failed} if failed else {})}


def _enrich_batch(read: NameReader, most: int) -> _Part:
    """Read a batch."""
    with tenancy.unit():
        texts = _waiting(most)
        few = _with_few(tuple(texts))
    asked = {id: accurate.prose_of(content=texts[id]) for id in few}
    marks = _read(read, asked) if asked else {}
    with tenancy.unit():
        rows = _held(texts)
        for row in rows:
            prose = asked.get(row.id, "")
            row.names = accurate.names_of(prose=prose, read=marks.get(row.id, ()))
        entities.write_read(rows=rows, read_by=NUMBER)
        _mark(tuple(row.id for row in rows), few)
    return _Part(
        taken=len(texts),
        done=len(rows),
        named=sum(len(row.names) for row in rows),
        failed=sum(row.id in asked and row.id not in marks for row in rows),
    )


def _read(read: NameReader, asked: Mapping[UUID, str]) -> dict[UUID, tuple[ReadSpan, ...]]:
    """Read texts together, or one by one where the reader stumbles; leave out what it cannot."""
    try:
        return dict(zip(asked, read(tuple(asked.values())), strict=True))
    except ProviderInvalidAnswer:
        found = {id: _read_one(read, id, text) for id, text in asked.items()}
    return {id: marks for id, marks in found.items() if marks is not None}


def _read_one(read: NameReader, id: UUID, text: str) -> tuple[ReadSpan, ...] | None:
    try:
        (marks,) = read((text,))
    except ProviderInvalidAnswer as error:
        log.warning("The names of memory %s are not read: %s", id, error.detail)
        return None
    return marks


def _waiting(most: int) -> dict[UUID, str]:
    """Return the texts of so many unread memories by their ids, of a batch's length at most."""
    rows = _unread().order_by("enriched_by")  # by index alone; which of them is first is the same
    texts: dict[UUID, str] = {}
    length = 0
    for id, content in rows.values_list("id", "content")[:most]:
        length += len(content)
        if texts and length > CHARACTERS:
            break
        texts[id] = content
    return texts


def _with_few(ids: tuple[UUID, ...]) -> frozenset[UUID]:
    counts = entities.counts_of(memory_ids=ids)
    return frozenset(id for id in ids if counts.get(id, 0) < FEW)


def _held(texts: Mapping[UUID, str]) -> tuple[Memory, ...]:
    """Lock those of a batch that are still unread, say the same, and are held by nobody else."""
    rows = (
        _unread()
        .filter(pk__in=tuple(texts))
        .select_for_update(skip_locked=True, no_key=True)
        .only("content", "audience", "project_id")
    )
    return tuple(row for row in rows if row.content == texts[row.id])


def _mark(ids: tuple[UUID, ...], few: frozenset[UUID]) -> None:
    for number, marked in ((NUMBER, set(ids) & few), (ENOUGH, set(ids) - few)):
        Memory.objects.filter(pk__in=marked).update(enriched_by=number)


def _unread() -> QuerySet[Memory]:
    return Memory.objects.filter(status="active", enriched_by__lt=NUMBER)


def _any_unread() -> bool:
    return _unread().exists()


def _enqueue(left: int) -> object:
    return jobs.enqueue(JOB, payload={"left": left}, key="entities")
