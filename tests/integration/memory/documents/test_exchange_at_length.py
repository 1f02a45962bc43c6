"""A whole tree of rules: imported, reviewed, exported and back without loss, and undone."""

from collections.abc import Callable
from datetime import datetime
from random import Random
from time import perf_counter
from typing import Final

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.documents import queries, reading
from memory.documents.actions.export import ExportRequest, export
from memory.documents.actions.import_batches import begin_import
from memory.documents.actions.uploads import Upload
from memory.documents.queries import ImportView
from memory.records.models import Memory
from memory.tasks import job_handlers
from tests.support import work
from tests.support.goals import Scale

pytestmark = [pytest.mark.usefixtures("in_organization"), pytest.mark.timeout(3_600)]

Figure = Callable[[str], None]


SAID: Final = (
    "Never call `{part}.flush()` on Fridays because {part} keeps its lock for {n} seconds.",
    "We chose advisory locks for {part} instead of retries since {n} clients depend on it.",
    "If you see `PoolTimeout` in {part}, it has run out of {n} slots; raise its limit first.",
    "Le module {part} ne doit jamais attendre plus de {n} secondes.",
)
PARTS: Final = ("parser", "worker", "cache", "queue", "schema", "client", "view", "job", "token")


def files(*, size: int) -> tuple[tuple[str, bytes], ...]:
    """Return files of rules, of together at least `size` bytes."""
    random = Random(7)
    made: list[tuple[str, bytes]] = []
    while sum(len(data) for _, data in made) < size:
        name = ("CLAUDE.md", "AGENTS.md", "docs/adr.md", ".cursorrules")[len(made) % 4]
        rules = (
            random.choice(SAID).format(part=random.choice(PARTS), n=random.randint(2, 99_999))
            for _ in range(100)
        )
        text = f"# Team {len(made)}\n\n## Rules\n\n" + "".join(f"- {rule}\n" for rule in rules)
        made.append((f"team-{len(made)}/{name}", text.encode()))
    return tuple(made)


def taken_in(caller: Caller, upload: Upload, now: datetime) -> ImportView:
    begun = begin_import(caller=caller, upload=upload, now=now)
    job_handlers.take_in(work.taken(begun.job_id))
    return queries.get_import(caller=caller, batch_id=begun.id, now=now)


def reviewed() -> None:
    """Keep everything, as people do in the inbox."""
    with tenancy.unit():
        Memory.objects.update(needs_review=False)


@pytest.mark.goal(name="G23")
def test_a_tree_of_rules_is_imported_reviewed_and_exported_without_loss(
    caller: Caller, store: str, now: datetime, scale: Scale, figure: Figure
) -> None:
    size = scale.of(short=20_000, long=1_048_576)
    upload = Upload(files=files(size=size), project=store)
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
