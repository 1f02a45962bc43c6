"""What memory changed, over REST: groups of sessions, single memories, weights of phases."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, get
from accounts.api.schemas import Query, Result, fields_of
from memory.api.schemas.memories import Slug
from memory.experiments import queries, uplift
from teams.api import ExperimentSettings


class ExperimentQuery(Query):
    """Which sessions are compared."""

    project: Slug = Field(description="A project's slug or id.")
    days: int = Field(
        queries.USUAL_DAYS,
        ge=1,
        le=queries.LARGEST_DAYS,
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


@fields_of(uplift.SavedTokens)
class SavedTokens(Result):
    """How many tokens memory saved."""


class GraphChanges(Result):
    """In how many searches the graph took part, and changed the ranking."""

    searches: int
    took_part: int
    changed: int
    share: float | None
    low: float | None
    high: float | None
    whole_project: bool


@fields_of(queries.WeekFigures)
class WeekOfSessions(Result):
    """What sessions of a week went wrong in; `week` is its Monday."""


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
    weeks: tuple[WeekOfSessions, ...]


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
    memory of the first eight, or their order, would have been another one without it. `weeks`: how
    many sessions that the reader may see were given contradicting memories, met an error that an
    earlier one had met, or entered a known dead end again.
    """
    found = queries.report(caller=call.caller, project=query.project, days=query.days, now=call.now)
    return {
        "settings": found.settings,
        "since": found.since,
        "whole_project": found.is_whole,
        "least_sessions": uplift.LEAST_SESSIONS,
        "sessions": {group.value: count for group, count in found.sessions.items()},
        "compared": [
            {"group": group, "measures": [_measured(one) for one in measures]}
            for group, measures in found.compared.items()
        ],
        "tokens_saved": found.saved,
        "graph": {
            "searches": found.graph.searches,
            "took_part": found.graph.took_part,
            "changed": found.graph.changed,
            **_ends("share", found.graph.share),
            "whole_project": found.graph.is_whole,
        },
        "weeks": found.weeks,
    }


@get("experiments/memories", tag="experiments", answer=MemoryProofs)
def list_memory_proofs(call: Call, query: ExperimentQuery) -> dict[str, Any]:
    """What single memories are worth.

    Memories that are withheld from a share of the sessions that would be given them, most often
    first: sessions with against sessions without, as above.
    """
    found = queries.memory_effects(
        caller=call.caller, project=query.project, days=query.days, now=call.now
    )
    items = [
        {
            "memory_id": proof.memory.id,
            "given": proof.given,
            "withheld": proof.withheld,
            "measures": [_measured(one) for one in proof.measures],
        }
        for proof in found
    ]
    return {"least_sessions": uplift.LEAST_SESSIONS, "items": items}


def _ends(name: str, estimate: uplift.Estimate | None) -> dict[str, float | None]:
    """Return an estimate under a name, and the ends of its interval."""
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, "low", "high"), ends, strict=True))


def _measured(one: uplift.ComparedFigure) -> dict[str, Any]:
    return {
        "figure": one.figure,
        "given": _side(one.given),
        "without": _side(one.without),
        **_ends("difference", one.difference),
        "relative": one.relative,
        "goal": uplift.GOALS.get(one.figure),
        "verdict": one.verdict,
    }


def _side(side: uplift.Side) -> dict[str, Any]:
    return {"sessions": side.count, "mean": side.mean if side.count else None}


class PhaseWeight(Result):
    """A weight that a person approved."""

    phase: str
    type: str
    weight: float


class LearnedWeight(Result):
    """What sessions taught about a type in a phase."""

    phase: str
    type: str
    given: int
    used: int
    others_given: int
    others_used: int
    difference: float | None
    low: float | None
    high: float | None
    weight: float
    proposed: float | None


class LearnedWeights(Result):
    """What was learned."""

    sessions: int
    least_sessions: int
    since: datetime
    whole_project: bool
    proposal: str
    items: tuple[LearnedWeight, ...]
    own: tuple[PhaseWeight, ...]
    decided_at: datetime | None


@get("projects/{ref}/phase-weights", tag="experiments", answer=LearnedWeights)
def get_phase_weights(call: Call) -> dict[str, Any]:
    """What sessions taught about the phases of a project.

    How often memories of a type were used in a phase of the work, against those of the other types,
    with intervals that hold together at 95 %, and which weights are proposed. A person approves or
    declines them on the page of experiments. `own` are the weights that a person approved; others
    are those of the table. Whom sums are told is as for experiments.
    """
    found = queries.weights_of(caller=call.caller, project=call.ref, now=call.now)
    own = [
        {"phase": phase, "type": type, "weight": weight}
        for phase, weights in found.own.items()
        for type, weight in weights.items()
    ]
    return {
        "sessions": found.sessions,
        "least_sessions": found.least,
        "since": found.since,
        "whole_project": found.is_whole,
        "proposal": found.proposal,
        "items": [
            {
                "phase": one.phase,
                "type": one.type,
                "given": one.own.count,
                "used": int(one.own.total),
                "others_given": one.others.count,
                "others_used": int(one.others.total),
                **_ends("difference", one.difference),
                "weight": one.now,
                "proposed": one.proposed if found.proposal else None,
            }
            for one in found.found
        ],
        "own": own,
        "decided_at": found.decided_at,
    }
