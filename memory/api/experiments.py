"""What memory changed, over REST: groups of sessions, and memories one by one."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, get
from accounts.api.schemas import Query, Result
from memory.api.schemas.memories import Slug
from memory.experiments.queries import LARGEST_DAYS, USUAL_DAYS, memory_effects, report
from memory.experiments.queries import GraphChanges as GraphValue
from memory.experiments.uplift import GOALS, LEAST_SESSIONS, ComparedFigure, Side
from teams.api.project_settings import ExperimentSettings


class ExperimentQuery(Query):
    """Which sessions are compared."""

    project: Slug = Field(description="A project's slug or id.")
    days: int = Field(
        USUAL_DAYS,
        ge=1,
        le=LARGEST_DAYS,
        description="Of sessions that were opened in the last so many days.",
    )


class MeasuredSide(Result):
    """One side of a comparison."""

    sessions: int
    mean: float | None


class MeasuredFigure(Result):
    """A figure of sessions with memory against sessions without."""

    figure: str
    given: MeasuredSide
    without: MeasuredSide
    difference: float | None
    low: float | None
    high: float | None
    relative: float | None
    goal: float | None
    verdict: str


class GroupSizes(Result):
    """How many sessions are in each group."""

    control: int
    passive: int
    full: int


class ComparedGroup(Result):
    """A group that is compared with the control group."""

    group: str
    measures: tuple[MeasuredFigure, ...]


class SavedTokens(Result):
    """How many tokens memory saved."""

    tokens: float
    low: float
    high: float
    sessions: int


class GraphChanges(Result):
    """In how many searches the graph took part, and changed the ranking."""

    searches: int
    took_part: int
    changed: int
    share: float | None
    low: float | None
    high: float | None
    whole_project: bool


class Experiments(Result):
    """The comparison."""

    settings: ExperimentSettings
    since: datetime
    whole_project: bool
    least_sessions: int
    sessions: GroupSizes
    compared: tuple[ComparedGroup, ...]
    tokens_saved: SavedTokens | None
    graph: GraphChanges


class MemoryProof(Result):
    """What a memory is worth."""

    memory_id: UUID
    given: int
    withheld: int
    measures: tuple[MeasuredFigure, ...]


class MemoryProofs(Result):
    """At most 50 memories."""

    least_sessions: int
    items: tuple[MemoryProof, ...]


@get("experiments", tag="experiments", answer=Experiments)
def get_experiments(call: Call, query: ExperimentQuery) -> dict[str, Any]:
    """What memory changed in a project.

    Sessions that were given memory against those that were not, figure by figure, with 95 %
    intervals: of means by Welch, of shares by Newcombe. Under a least number of sessions on either
    side nothing is claimed. Owners and admins are told of all sessions, of those that they do not
    see where enough of several people tell a figure; others of those that they may see. `graph`: of
    rankings for the project that gave something, in how many the graph took part, and in how many a
    memory of the first eight, or their order, would have been another one without it.
    """
    found = report(caller=call.caller, project=query.project, days=query.days, now=call.now)
    return {
        "settings": found.settings,
        "since": found.since,
        "whole_project": found.is_whole,
        "least_sessions": LEAST_SESSIONS,
        "sessions": {group.value: count for group, count in found.sessions.items()},
        "compared": [
            {"group": group, "measures": [_measured(one) for one in measures]}
            for group, measures in found.compared.items()
        ],
        "tokens_saved": found.saved,
        "graph": _graph(found.graph),
    }


@get("experiments/memories", tag="experiments", answer=MemoryProofs)
def list_memory_proofs(call: Call, query: ExperimentQuery) -> dict[str, Any]:
    """What single memories are worth.

    Memories that are withheld from a share of the sessions that would be given them, most often
    first: sessions with against sessions without, as above.
    """
    found = memory_effects(caller=call.caller, project=query.project, days=query.days, now=call.now)
    items = [
        {
            "memory_id": proof.memory.id,
            "given": proof.given,
            "withheld": proof.withheld,
            "measures": [_measured(one) for one in proof.measures],
        }
        for proof in found
    ]
    return {"least_sessions": LEAST_SESSIONS, "items": items}


def _graph(found: GraphValue) -> dict[str, Any]:
    share = found.share
    return {
        "searches": found.searches,
        "took_part": found.took_part,
        "changed": share.successes if share else 0,
        "share": share.value if share else None,
        "low": share.low if share else None,
        "high": share.high if share else None,
        "whole_project": found.is_whole,
    }


def _measured(one: ComparedFigure) -> dict[str, Any]:
    found = one.difference
    return {
        "figure": one.figure,
        "given": _side(one.given),
        "without": _side(one.without),
        "difference": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "relative": one.relative,
        "goal": GOALS.get(one.figure),
        "verdict": one.verdict,
    }


def _side(side: Side) -> dict[str, Any]:
    return {"sessions": side.count, "mean": side.mean if side.count else None}
