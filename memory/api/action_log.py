"""What became of candidates, over REST: rows and counts."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import ID, MOMENT, TEXT, WHOLE, maybe, page_of, record, several
from accounts.api.shapes import Field, Text, Whole
from accounts.caller import TokenScope
from memory.api import inputs
from memory.intake import queries as intake_queries
from memory.intake.queries import ENDS, OUTCOMES, ActionFilters

_EXAMPLE: Final[Mapping[str, Any]] = {
    "id": 81,
    "at": "2026-11-20T12:00:00Z",
    "project_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a10",
    "user_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a01",
    "agent": "Claude Code on the laptop",
    "source": "agent_explicit",
    "source_interface": "claude-code",
    "outcome": "refused",
    "gate": "length",
    "cause": "too_short",
    "memory_id": None,
    "other_id": None,
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Action": record(
        id=WHOLE,
        at=MOMENT,
        project_id=maybe(ID),
        user_id=maybe(ID),
        agent=TEXT,
        source=TEXT,
        source_interface=TEXT,
        outcome=TEXT,
        gate=TEXT,
        cause=TEXT,
        memory_id=maybe(ID),
        other_id=maybe(ID),
    ),
    "ActionPage": page_of("Action"),
    "ActionCounts": record(days=WHOLE, items=several(record(outcome=TEXT, gate=TEXT, count=WHOLE))),
}
LONGEST_DAYS: Final = 365


def index(ask: Ask) -> Answer:
    """Return a page of what became of candidates, the newest first."""
    query = ask.query
    page = intake_queries.page(
        caller=ask.caller,
        filters=ActionFilters(
            project=query["project"], outcome=query["outcome"], gate=query["gate"]
        ),
        after=None if ask.cursor is None else int(ask.cursor),
        limit=query["limit"],
    )
    written = None if page.next_after is None else str(page.next_after)
    return Answer(body={"items": [asdict(one) for one in page.items]}, next_cursor=written)


def counts(ask: Ask) -> Answer:
    """Return how candidates ended, by outcome and gate."""
    days = ask.query["days"]
    found = intake_queries.tallies(
        caller=ask.caller, project=ask.query["project"], days=days, now=ask.now
    )
    return Answer(body={"days": days, "items": [asdict(one) for one in found]})


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="actions",
        name="list_actions",
        tag="memories",
        summary="See what became of what was sent",
        says=(
            "A row for each candidate that came to the door: when, from whom, how it ended, at "
            "which gate; never what it said. Of a refused one its sender alone knows. Kept for "
            "some time."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(
            inputs.PROJECT,
            Field(
                name="outcome",
                shape=Text(largest=12, choices=OUTCOMES),
                says="Only those that ended so.",
            ),
            Field(
                name="gate",
                shape=Text(largest=16, choices=ENDS),
                says="Only those that ended at this gate; input: malformed.",
            ),
        ),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of rows, the newest first.",
                schema="ActionPage",
                example={"items": [_EXAMPLE], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="actions/counts",
        name="count_actions",
        tag="memories",
        summary="Count how candidates ended",
        says="By outcome and gate, of the rows you may see.",
        scope=TokenScope.READ,
        run=counts,
        query=(
            inputs.PROJECT,
            Field(
                name="days",
                shape=Whole(smallest=1, largest=LONGEST_DAYS),
                says="Of the last so many days.",
                default=30,
            ),
        ),
        replies=(
            Reply(
                status=200,
                says="The most first.",
                schema="ActionCounts",
                example={
                    "days": 30,
                    "items": [{"outcome": "refused", "gate": "length", "count": 4}],
                },
            ),
        ),
    ),
)
