"""What was delivered to a person or an agent."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import sql_queries
from memory.index.sql import search_rows
from memory.providers.contracts import Vectors
from teams import visibility
from teams.visibility import Sight

FILE = "injection/sql/deliveries.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredRow:
    """A memory that was delivered, and its cosine with a text; None where that is not known."""

    memory_id: UUID
    content: str
    cosine: float | None


def delivered_to_person(
    *,
    person: UUID | None,
    token: UUID | None,
    since: datetime,
    in_any_way: bool,
    sight: Sight,
    model: str | None,
    vector: Vectors | None,
    most: int,
) -> tuple[DeliveredRow, ...]:
    """Return the newest `most` memories delivered since a time that may still be seen, by id.

    Delivered to a token, or to any token of a person; `in_any_way`: also what the person was shown
    without a token. Logs of their open sessions count since ever. `vector` is of the space whose
    key is `model`. In a unit.
    """
    query = None if vector is None else search_rows.prefix_text(vector=vector)
    rows = sql_queries.filled(
        "delivered_to_person",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="m")},
        person=person,
        token=token,
        since=since,
        in_any_way=in_any_way,
        most=most,
        model=model,
        query=query,
        **visibility.parameters(sight=sight),
    )
    return tuple(
        DeliveredRow(
            memory_id=id, content=content, cosine=None if cosine is None else float(cosine)
        )
        for id, content, cosine in rows
    )


def delivered_to_agent(
    *,
    sessions: tuple[UUID, ...],
    agent: str,
    token: UUID | None,
    since: datetime,
    compacted_at: datetime | None,
    is_anew: bool,
    memory_ids: tuple[UUID, ...],
) -> frozenset[UUID]:
    """Return which of some memories an agent of a session and its full parts need not be given.

    `is_anew`: log entries of before `compacted_at` do not count. Without a token, answers to its
    searches do not count. In a unit.
    """
    if not memory_ids:
        return frozenset()
    rows = sql_queries.rows(
        "delivered_to_agent",
        file=FILE,
        sessions=list(sessions),
        agent=agent,
        token=token,
        since=since,
        compacted=compacted_at,
        is_anew=is_anew,
        ids=list(memory_ids),
    )
    return frozenset(memory_id for (memory_id,) in rows)
