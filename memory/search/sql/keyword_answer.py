"""Typed caller of the query that answers a question by its rarest words alone."""

from typing import Final
from uuid import UUID

from memory import sql_queries
from memory.search.sql.candidates import Found
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "search/sql/keyword_answer.sql"
FEW: Final = 1_000  # memories that hold the rarest words; what more hold answers nothing, ours


def answers(
    *, question: str, projects: tuple[UUID, ...] | None, limit: int, sight: Sight
) -> tuple[Found, ...]:
    """Return the visible memories with the rarest words of a question, best first. In a unit."""
    rows = sql_queries.filled(
        "answers",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="k")},
        question=question,
        projects=None if projects is None else list(projects),
        few=FEW,
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(Found(memory_id=row[0], cosine=None, bm25=row[1], matched=row[2]) for row in rows)
