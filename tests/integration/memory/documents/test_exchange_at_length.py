"""A whole tree of rules: imported, reviewed, exported and back without loss, and undone."""

from collections.abc import Callable
from datetime import datetime
from time import perf_counter

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory import tasks
from memory.documents import reading
from memory.documents.actions.export import ExportRequest, export
from memory.documents.actions.import_batches import begin_import
from memory.documents.actions.uploads import Upload
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from memory.index.actions import embedding
from memory.intake.actions.remember import NewMemory
from memory.intake.actions.remember_all import remember_all
from memory.records.models import Memory
from tests.support import rules_tree, work
from tests.support.goals import Scale

pytestmark = [pytest.mark.usefixtures("in_organization"), pytest.mark.timeout(3_600)]

Figure = Callable[[str], None]


def taken_in(caller: Caller, upload: Upload, now: datetime) -> ImportView:
    begun = begin_import(caller=caller, upload=upload, now=now)
    tasks.take_in(work.taken(begun.job_id))
    return imports.get_import(caller=caller, batch_id=begun.id, now=now)


def reviewed() -> None:
    """Keep everything, as people do in the inbox."""
    with tenancy.unit():
        Memory.objects.update(needs_review=False)


@pytest.mark.goal(name="G23")
def test_a_tree_of_rules_is_imported_reviewed_and_exported_without_loss(
    caller: Caller, store: str, now: datetime, scale: Scale, figure: Figure
) -> None:
    size = scale.of(short=20_000, long=1_048_576)
    upload = Upload(files=rules_tree.files(size=size), project=store)
    told = reading.read_all(files=upload.files)
    started = perf_counter()

    done = taken_in(caller, upload, now)
    took = perf_counter() - started
    reviewed()
    data = export(caller=caller, request=ExportRequest(project=store), now=now).file.read()
    again = taken_in(caller, upload, now)

    back = {one.content for one in reading.read(name="a.json", data=data).candidates}
    assert (told.faults, done.counts.get("refused", 0)) == ((), 0)
    assert {one.content for one in told.candidates} == back
    assert "added" not in again.counts
    figure(f"{size:,} bytes, {len(told.candidates):,} statements: in {took:.0f} s; again adds 0")


@pytest.mark.goal(name="G23")
def test_a_thousand_memories_and_their_vectors(
    caller: Caller, store: str, now: datetime, scale: Scale, figure: Figure
) -> None:
    count = scale.of(short=100, long=1_000)
    found = reading.read_all(files=rules_tree.files(size=count * 130)).candidates[:count]
    new = tuple(
        NewMemory(content=one.content, source="import", type=one.type, project=store)
        for one in found
    )
    started = perf_counter()

    outcomes = remember_all(caller=caller, new=new, now=now)
    ids = tuple(one.memory.id for one in outcomes if one.memory and one.outcome == "added")
    embedded = sum(
        embedding.embed_batch(memory_ids=ids[start : start + embedding.BATCH])
        for start in range(0, len(ids), embedding.BATCH)
    )

    figure(f"{len(found):,} memories with vectors: {perf_counter() - started:.1f} s")
    assert embedded == len(ids)
