"""What was given out to somebody, for the guard against loops (spec 11.2)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.providers.contracts import Vectors
from memory.sql import named, retrieval
from teams import visibility
from teams.visibility import Sight

FILE = "told.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearer:
    """To whom it was given: a token, or all that a person uses; and since when it counts."""

    person: UUID | None
    token: UUID | None
    since: datetime


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
    query = None if vector is None else retrieval.prefix_text(vector=vector)
    rows = named.filled(
        "told",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="m")},
        person=hearer.person,
        token=hearer.token,
        since=hearer.since,
        most=most,
        model=model,
        query=query,
        **visibility.parameters(sight=sight),
    )
    return tuple(
        ToldRow(memory_id=id, content=content, cosine=None if cosine is None else float(cosine))
        for id, content, cosine in rows
    )
