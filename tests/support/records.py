"""Memories with something in every column, made from a seed: what an export has to carry."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.index.models import MemoryUsage
from memory.records import writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.taxonomy import LinkKind, MemoryType, Reach, Status, Structure, Tier, Verification
from memory.text import text as texts
from teams.queries import find_project

START: Final = datetime(2026, 3, 1, tzinfo=UTC)
WORDS: Final = (
    "gate", "mill", "ledger", "cart", "token", "queue", "retry", "lock", "épicerie", "日本",
    "invoice", "worker", "shard", "cursor", "`code()`", "“quoted”", "a/b.py", "50 %", "<b>", "\n",
    "naïve", "--",
)  # fmt: skip
PLAIN: Final = tuple(one for one in MemoryType if one is not MemoryType.IDENTITY)


def fill(*, caller: Caller, project: str, count: int, seed: int) -> tuple[UUID, ...]:
    """Store memories with random fields, versions, links and uses; return their ids."""
    random = Random(seed)
    with tenancy.unit():
        place = find_project(caller=caller, ref=project)
        rows = tuple(_row(caller, place.id, random, number) for number in range(count))
        for start in range(0, count, 1_000):
            writes.insert(caller=caller, rows=rows[start : start + 1_000])
        superseded = [row for row in rows if row.status == Status.SUPERSEDED]
        for row in superseded:
            row.superseded_by = random.choice(rows)
        Memory.objects.bulk_update(superseded, ["superseded_by"], batch_size=1_000)
        _beside(caller, rows, random)
    return tuple(row.id for row in rows)


def _row(caller: Caller, project_id: UUID, random: Random, number: int) -> Memory:
    content = f"Number {number}: {' '.join(random.choices(WORDS, k=random.randint(4, 30)))} end"
    personal = random.random() < 0.2
    owner = caller.user_id or project_id
    status = random.choices((Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED), weights=(8, 1, 1))[
        0
    ]
    return Memory(
        project_id=project_id,
        content=content,
        content_hash=texts.content_hash(content=content),
        citation=texts.citation_text(content=content),
        scope="personal" if personal else "project",
        audience=owner if personal else project_id,
        status=status.value,
        author_user=caller.user_id,
        **_facts(random, number),
        **_moments(random),
    )


def _facts(random: Random, number: int) -> dict[str, Any]:
    pick, share = random.choice, random.random
    return {
        "external_id": f"e-{number}" if share() < 0.3 else "",
        "type": pick(PLAIN).value,
        "tags": random.sample(("a", "b", "ç", "d e"), k=random.randint(0, 3)),
        "related_files": random.sample(("a/b.py", "c d.md", "é.ts"), k=random.randint(0, 2)),
        "related_modules": random.sample(("billing", "auth"), k=random.randint(0, 2)),
        "structure": pick(list(Structure)).value,
        "work_unit": pick(({}, {"label": "spec 42", "hierarchy": ["a", 1]})),
        "reach": pick(list(Reach)).value,
        "methodology": pick(("", "scrum")),
        "phase": pick(("", "implement")),
        "confidence": share(),
        "confidence_floor": share() / 2,
        "confirmations": random.randint(0, 9),
        "verification": pick(list(Verification)).value,
        "needs_review": share() < 0.3,
        "user_verified": share() < 0.3,
        "taint_reason": pick(("", "came from a page")),
        "authority": random.randint(1, 6),
        "importance": share(),
        "surprise": share(),
        "tier": pick(list(Tier)).value,
        "governance": random.randint(1, 4),
        "pinned": share() < 0.1,
        "decay_half_life_days": pick((None, 90.0, 14.5)),
        "archived_reason": pick(("", "no longer so")),
        "version": random.randint(1, 5),
        "source": pick(("user_taught", "import", "extracted")),
        "source_interface": pick(("cursor", "dashboard", "import")),
        "source_uri": pick(("", "docs/adr-7.md")),
        "source_hash": pick(("", "ab" * 32)),
        "source_line": pick((None, 7)),
        "commit_sha": pick(("", "0a1b2c3d")),
        "author_agent": pick(("", "claude-code")),
    }


def _moments(random: Random) -> dict[str, Any]:
    def moment() -> datetime:
        return START + timedelta(microseconds=random.randrange(10**13))

    def perhaps() -> datetime | None:
        return moment() if random.random() < 0.4 else None

    return {
        **{name: moment() for name in ("created_at", "updated_at", "valid_from")},
        **{
            name: perhaps()
            for name in ("last_confirmed_at", "verified_at", "event_at", "valid_until", "stale_at")
        },
    }


def _beside(caller: Caller, rows: tuple[Memory, ...], random: Random) -> None:
    versions, links, uses = [], {}, []
    for row in rows:
        if random.random() < 0.3:
            fields = {"type": "fact", "tags": ["a"], "audience": str(row.audience)}
            versions.append(
                MemoryVersion(
                    memory=row, number=1, content=f"Before: {row.content}", fields=fields,
                    reason="it moved", changed_by=caller.user_id, changed_agent="cursor",
                    changed_at=row.updated_at,
                )
            )  # fmt: skip
        other = random.choice(rows)
        if random.random() < 0.5 and other is not row:
            kind = random.choice(list(LinkKind)).value
            links[row.id, other.id, kind] = MemoryLink(
                source=row, target=other, kind=kind, confidence=random.random(),
                automatic=random.random() < 0.5, cosine=random.choice((None, 0.7)),
                description=random.choice(("", "see there")),
            )  # fmt: skip
        if random.random() < 0.4:
            uses.append(
                MemoryUsage(
                    memory=row, access_count=random.randint(9, 99), last_accessed_at=row.updated_at,
                    given_count=random.randint(0, 9), last_given_at=row.created_at,
                )
            )  # fmt: skip
    MemoryVersion.objects.bulk_create(versions, batch_size=1_000)
    MemoryLink.objects.bulk_create(links.values(), batch_size=1_000)
    MemoryUsage.objects.bulk_create(uses, batch_size=1_000)
