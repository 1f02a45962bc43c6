"""Read what ranking looks at besides the paths, for the candidates of one search."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory import sql_queries
from memory.records.confidence import Belief, effective_confidence
from memory.search.candidates import Item
from memory.search.evidence import Evidence
from memory.search.neighborhood import Turn
from memory.search.query import Query
from memory.taxonomy import (
    CODE_TAG,
    PROTECTED_TAGS,
    Governance,
    MemoryType,
    Source,
    Verification,
    activation_floor,
)
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "search/sql/evidence.sql"
MOST_IDENTIFIERS: Final = 16  # of a query that are looked for, the first ones; ours
NAMES: Final = (
    "id", "type", "source", "files", "age_days", "idle_days", "accesses", "confidence",
    "verification", "half_life_days", "pinned", "tainted", "governance", "tags", "missing", "text",
    "things",
)  # fmt: skip


def read_evidence(
    *,
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    asked: Query,
    with_text: bool,
    now: datetime,
) -> dict[UUID, Evidence]:
    """Return the evidence of the visible ones of these memories, by id. In a unit.

    What the query names is looked for in each; texts are read when a reranker needs them.
    """
    rows = sql_queries.rows(
        "evidence",
        file=FILE,
        ids=list(memory_ids),
        identifiers=list(asked.identifiers[:MOST_IDENTIFIERS]),
        keys=list(asked.identifier_keys[:MOST_IDENTIFIERS]),
        with_text=with_text,
        now=now,
        **parameters(sight=sight),
    )
    return {row[0]: _evidence(dict(zip(NAMES, row, strict=True))) for row in rows}


def read_turns(*, memory_ids: tuple[UUID, ...], sight: Sight) -> dict[UUID, Turn]:
    """Return what stands beside these episodes in their sessions, as far as visible. In a unit."""
    rows = sql_queries.filled(
        "turns",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="m"), "seen": visibility.as_sql(alias="c")},
        ids=list(memory_ids),
        **parameters(sight=sight),
    )
    return {row[0]: Turn(previous=row[1], next=row[2]) for row in rows}


def _evidence(row: Mapping[str, Any]) -> Evidence:
    idle_days = max(0.0, row["idle_days"])
    is_protected = row["pinned"] or not PROTECTED_TAGS.isdisjoint(row["tags"])
    belief = Belief(
        confidence=row["confidence"],
        verification=Verification(row["verification"]),
        half_life_days=row["half_life_days"],
        pinned=row["pinned"],
        is_tainted=row["tainted"],
        is_disputed=False,
    )
    return Evidence(
        memory_id=row["id"],
        type=MemoryType(row["type"]),
        source=Source(row["source"]),
        files=tuple(row["files"]),
        age_days=max(0.0, row["age_days"]),
        idle_days=idle_days,
        accesses=row["accesses"] or 0,
        activation_floor=activation_floor(
            governance=Governance(row["governance"]), protected_or_pinned=is_protected
        ),
        confidence=effective_confidence(belief=belief, days_since_access=idle_days).value,
        missing=row["missing"] or 0.0,
        text=row["text"],
        things=frozenset(row["things"]),
        item=_item(row),
    )


def _item(row: Mapping[str, Any]) -> Item:
    if row["type"] == MemoryType.EPISODE:
        return Item.DIALOGUE
    return Item.CODE if CODE_TAG in row["tags"] else Item.PROSE
