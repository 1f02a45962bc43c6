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


AREAS: Final = (
    "billing",
    "carts",
    "search",
    "auth",
    "mail",
    "ledger",
    "stock",
    "reports",
    "gateway",
)
PARTS: Final = ("parser", "worker", "cache", "queue", "schema", "client", "view", "job", "token")
WHEN: Final = ("on Fridays", "under load", "in staging", "after a restart", "behind the proxy")
SAID: Final = (
    "Never call `{part}.{verb}()` {when} because {area} keeps its lock for {n} seconds.",
    "We chose {word} for {area} instead of {other} since {n} clients depend on it.",
    "`{area}/{part}.py` holds the {part} of {area}; change {area}/{other}.py together with it.",
    "If you see `{error}` in {area}, the {part} has run out of {n} slots; raise `{key}` first.",
    "Run `make {area}-{part}` {when}; it takes about {n} minutes.",
    "The {part} of {area} must answer within {n} ms {when}.",
    "Prefer {word} over {other} in {area} tests, at most {n} a file.",
)
WORDS: Final = ("advisory locks", "retries", "snapshots", "batches", "streams", "idempotency keys")
VERBS: Final = ("flush", "merge", "reload", "drain", "rotate", "close")
ERRORS: Final = ("PoolTimeout", "LockedError", "StaleRead", "QuotaError")
FRENCH: Final = "Le module {area} ne doit jamais attendre plus de {n} secondes {part}."


def files(*, size: int, seed: int = 7) -> tuple[tuple[str, bytes], ...]:
    """Return files of together at least `size` bytes."""
    random = Random(seed)
    made: list[tuple[str, bytes]] = []
    while sum(len(data) for _, data in made) < size:
        area = AREAS[len(made) % len(AREAS)]
        name = ("CLAUDE.md", "AGENTS.md", "docs/adr.md", ".cursorrules")[len(made) % 4]
        made.append((f"{area}-{len(made)}/{name}", _file(random, area, len(made)).encode()))
    return tuple(made)


def _file(random: Random, area: str, number: int) -> str:
    parts = [f"# {area.title()} {number}\n"]
    for section in range(12):
        parts.append(f"\n## {random.choice(PARTS).title()} {section}\n\n")
        parts.extend(f"- {_said(random, area)}\n" for _ in range(random.randint(6, 14)))
        if section % 4 == 0:
            parts.append(f"\n```sh\nmake {area}-{section}\n```\n")
    return "".join(parts)


def _said(random: Random, area: str) -> str:
    template = random.choice((*SAID, FRENCH)) if random.random() < 0.1 else random.choice(SAID)
    return template.format(
        area=area, part=random.choice(PARTS), other=random.choice(PARTS), n=random.randint(2, 999),
        when=random.choice(WHEN), word=random.choice(WORDS), verb=random.choice(VERBS),
        error=random.choice(ERRORS), key=f"{area.upper()}_SLOTS",
    )  # fmt: skip


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
