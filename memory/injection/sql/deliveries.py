"""What was given out to somebody, for the guard against loops."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import sql_queries
from memory.providers.contracts import Vectors
from memory.search.sql import candidates
from teams import visibility
from teams.visibility import Sight

FILE = "injection/sql/deliveries.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearer:
    """To whom it was given: a token, any token of a person; and since when it counts.

    `in_any_way`: also what the person was shown without a token. What stands in the ledgers of
    their open sessions counts since ever.
    """

    person: UUID | None
    token: UUID | None
    since: datetime
    in_any_way: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ear:
    """An agent of a session, what it may have been told since when, and when it last forgot.

    `sessions` are the session and the full ones that it goes on from.

    `is_anew`: what its ledger says of before does not count. Without a token nothing counts that it
    asked for.
    """

    sessions: tuple[UUID, ...]
    agent: str
    token: UUID | None
    since: datetime
    compacted_at: datetime | None
    is_anew: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRow:
    """A memory that was given out, and its cosine with a text; None where that is not known."""

    memory_id: UUID
    content: str
    cosine: float | None


def told_to(
    *,
    hearer: Hearer,
    sight: Sight,
    model: str | None,
    vector: Vectors | None,
    most: int,
) -> tuple[ToldRow, ...]:
    """Return the newest `most` memories given out that may still be seen, by id. In a unit.

    `vector` is of the space whose key is `model`.
    """
    query = None if vector is None else candidates.prefix_text(vector=vector)
    rows = sql_queries.filled(
        "told",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="m")},
        person=hearer.person,
        token=hearer.token,
        since=hearer.since,
        in_any_way=hearer.in_any_way,
        most=most,
        model=model,
        query=query,
        **visibility.parameters(sight=sight),
    )
    return tuple(
        ToldRow(memory_id=id, content=content, cosine=None if cosine is None else float(cosine))
        for id, content, cosine in rows
    )


def told_here(*, ear: Ear, memory_ids: tuple[UUID, ...]) -> frozenset[UUID]:
    """Return which of some memories an agent need not be told. In a unit."""
    if not memory_ids:
        return frozenset()
    rows = sql_queries.rows(
        "told_here",
        file=FILE,
        sessions=list(ear.sessions),
        agent=ear.agent,
        token=ear.token,
        since=ear.since,
        compacted=ear.compacted_at,
        is_anew=ear.is_anew,
        ids=list(memory_ids),
    )
    return frozenset(memory_id for (memory_id,) in rows)
