"""Typed callers of the queries about vector spaces: what has a vector of which model."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgvector import HalfVector

from memory import sql_queries
from memory.providers.contracts import Vectors

FILE = "index/sql/vectors.sql"
FIRST = UUID(int=0)  # every id comes after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A model of an organization, its part, and how many memories have a vector of it."""

    id: int
    key: str
    dimensions: int
    active: bool
    filling: bool
    chosen: bool
    overlap: float | None
    activated_at: datetime | None
    vectors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many memories need a vector, and how many have one of the model asked about."""

    needed: int
    embedded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The mean share (0..1) of nearest memories that two models agree on; None without any."""

    share: float | None
    compared: int


def every() -> tuple[Space, ...]:
    """Return the models of the organization, in the order in which they came."""
    return tuple(
        Space(
            id=row[0],
            key=row[1],
            dimensions=row[2],
            active=row[3],
            filling=row[4],
            chosen=row[5],
            overlap=row[6],
            activated_at=row[7],
            vectors=row[8],
        )
        for row in sql_queries.rows("spaces", file=FILE)
    )


def without_vector(*, model_id: int, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Return memories that need a vector of a model and have none, by id, after one."""
    found = sql_queries.filled(
        "without_vector", file=FILE, parts=_needed(), model=model_id, after=after, limit=limit
    )
    return tuple(row[0] for row in found)


def coverage(*, model_id: int) -> Coverage:
    """Count the memories that need a vector, and those that have one of a model."""
    [(needed, embedded)] = sql_queries.filled("needing", file=FILE, parts=_needed(), model=model_id)
    return Coverage(needed=needed, embedded=embedded)


def hold_memories() -> None:
    """Wait until nobody writes memories or vectors, and have writers wait until the unit ends.

    Raises OperationalError, caused by LockNotAvailable, after two seconds.
    """
    sql_queries.execute("wait_briefly", file=FILE)
    sql_queries.execute("hold_memories", file=FILE)


def hashes(*, model_id: int, memory_ids: tuple[UUID, ...]) -> dict[UUID, str]:
    """Return the hash of the text that each stored vector of a model came from."""
    found = sql_queries.rows("hashes", file=FILE, model=model_id, ids=list(memory_ids))
    return {row[0]: row[1] for row in found}


def forget_others(*, model_id: int, texts: dict[UUID, str]) -> int:
    """Delete vectors of other models than this whose text is not the one of this hash."""
    return sql_queries.execute(
        "forget_others", file=FILE, model=model_id, ids=list(texts), hashes=list(texts.values())
    )


def forget_some(*, model_id: int, limit: int) -> int:
    """Delete some vectors of a model nobody searches by; return how many."""
    return sql_queries.execute("forget_some", file=FILE, model=model_id, limit=limit)


def overlap(*, first: int, second: int, sample: int, near: int) -> Overlap:
    """Compare what two models find near some memories; the same memories each time."""
    [(share, compared)] = sql_queries.rows(
        "overlap", file=FILE, first=first, second=second, sample=sample, near=near
    )
    return Overlap(share=share, compared=compared)


def whole_cosines(
    *, vector: Vectors, memory_ids: tuple[UUID, ...], key: str = "", model_id: int = 0
) -> dict[UUID, float]:
    """Return cosines by whole vectors (dimensions,) of the model with this key or id.

    Memories without a whole vector are left out.
    """
    found = sql_queries.rows(
        "whole_cosines",
        file=FILE,
        key=key,
        model=model_id,
        query=HalfVector(vector).to_text(),
        ids=list(memory_ids),
    )
    return {row[0]: float(row[1]) for row in found}


def _needed() -> dict[str, str]:
    return {"needed": sql_queries.text("needed", file=FILE)}
