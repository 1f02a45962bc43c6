"""What became of candidates, over REST: rows and counts."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get
from accounts.api.schemas import OneOf, Page, Result
from memory.api.schemas.memories import ProjectPageQuery, ProjectQuery
from memory.intake import queries
from memory.intake.queries import ENDS, OUTCOMES, ActionFilters

LONGEST_DAYS: Final = 365


class ActionQuery(ProjectPageQuery):
    """Which candidates are asked about."""

    outcome: Annotated[str, OneOf(OUTCOMES)] | None = Field(
        None, description="Only those that ended so."
    )
    gate: Annotated[str, OneOf(ENDS)] | None = Field(
        None, description="Only those that ended at this gate; input: malformed."
    )


class ActionCountQuery(ProjectQuery):
    """Which candidates are counted."""

    days: int = Field(30, ge=1, le=LONGEST_DAYS, description="Of the last so many days.")


class Action(Result):
    """What became of a candidate."""

    id: int
    at: datetime
    project_id: UUID | None
    user_id: UUID | None
    agent: str
    source: str
    source_interface: str
    outcome: str
    gate: str
    cause: str
    memory_id: UUID | None
    other_id: UUID | None


class ActionCount(Result):
    """How many candidates ended so."""

    outcome: str
    gate: str
    count: int


class ActionCounts(Result):
    """The most first."""

    days: int
    items: tuple[ActionCount, ...]


@get("actions", tag="memories", answer=Page[Action])
def list_actions(call: Call, query: ActionQuery) -> Answer:
    """See what became of what was sent.

    A row for each candidate that came to the door: when, from whom, how it ended, at which gate;
    never what it said. Of a refused one its sender alone knows. Kept for some time.
    """
    page = queries.page(
        caller=call.caller,
        filters=ActionFilters(project=query.project, outcome=query.outcome, gate=query.gate),
        after=call.after(int),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_after)


@get("actions/counts", tag="memories", answer=ActionCounts)
def count_actions(call: Call, query: ActionCountQuery) -> dict[str, Any]:
    """Count how candidates ended.

    By outcome and gate, of the rows you may see.
    """
    found = queries.tallies(
        caller=call.caller, project=query.project, days=query.days, now=call.now
    )
    return {"days": query.days, "items": found}
