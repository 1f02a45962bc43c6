"""What memory changed, over REST: groups of sessions, and memories one by one."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import ID, MOMENT, NUMBER, TEXT, TRUTH, WHOLE, maybe, record, ref, several
from accounts.api.shapes import Field, Text, Whole
from accounts.caller import TokenScope
from memory.experiments.intervals import LEAST_SESSIONS, Side
from memory.experiments.queries.experiments import (
    LARGEST_DAYS,
    USUAL_DAYS,
    ExperimentReport,
    GraphChanges,
    MemoryEffect,
    memory_effects,
    report,
)
from memory.experiments.uplift import GOALS, ComparedFigure, SavedTokens

PROJECT: Final = Field(
    name="project",
    shape=Text(largest=64, smallest=1),
    says="A project's slug or id.",
    required=True,
)
DAYS: Final = Field(
    name="days",
    shape=Whole(smallest=1, largest=LARGEST_DAYS),
    says="Of sessions that were opened in the last so many days.",
    default=USUAL_DAYS,
)
_SIDE: Final = record(sessions=WHOLE, mean=maybe(NUMBER))
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Measured": record(
        figure=TEXT,
        given=_SIDE,
        without=_SIDE,
        difference=maybe(NUMBER),
        low=maybe(NUMBER),
        high=maybe(NUMBER),
        relative=maybe(NUMBER),
        goal=maybe(NUMBER),
        verdict=TEXT,
    ),
    "Experiments": record(
        settings=ref("ExperimentSettings"),
        since=MOMENT,
        whole_project=TRUTH,
        least_sessions=WHOLE,
        sessions=record(control=WHOLE, passive=WHOLE, full=WHOLE),
        compared=several(record(group=TEXT, measures=several(ref("Measured")))),
        tokens_saved=maybe(record(tokens=NUMBER, low=NUMBER, high=NUMBER, sessions=WHOLE)),
        graph=ref("GraphChanges"),
    ),
    "GraphChanges": record(
        searches=WHOLE,
        took_part=WHOLE,
        changed=WHOLE,
        share=maybe(NUMBER),
        low=maybe(NUMBER),
        high=maybe(NUMBER),
        whole_project=TRUTH,
    ),
    "MemoryProofs": record(
        least_sessions=WHOLE,
        items=several(
            record(memory_id=ID, given=WHOLE, withheld=WHOLE, measures=several(ref("Measured")))
        ),
    ),
}
_MEASURED: Final[Mapping[str, Any]] = {
    "figure": "rereads",
    "given": {"sessions": 340, "mean": 2.1},
    "without": {"sessions": 24, "mean": 3.9},
    "difference": -1.8,
    "low": -2.9,
    "high": -0.7,
    "relative": -0.4615,
    "goal": -0.5,
    "verdict": "better",
}
_REPORT: Final[Mapping[str, Any]] = {
    "settings": {
        "enabled": True,
        "control_percent": 5.0,
        "passive_percent": 10.0,
        "withheld_percent": 10.0,
    },
    "since": "2026-08-22T12:00:00Z",
    "whole_project": True,
    "least_sessions": LEAST_SESSIONS,
    "sessions": {"control": 24, "passive": 41, "full": 340},
    "compared": [{"group": "full", "measures": [_MEASURED]}],
    "tokens_saved": {"tokens": 412_000.0, "low": 88_000.0, "high": 736_000.0, "sessions": 340},
    "graph": {
        "searches": 900,
        "took_part": 310,
        "changed": 72,
        "share": 0.08,
        "low": 0.0640,
        "high": 0.0996,
        "whole_project": True,
    },
}
_PROOFS: Final[Mapping[str, Any]] = {
    "least_sessions": LEAST_SESSIONS,
    "items": [
        {
            "memory_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b10",
            "given": 212,
            "withheld": 23,
            "measures": [_MEASURED],
        }
    ],
}


def look(ask: Ask) -> Answer:
    """Compare the groups of a project."""
    found = report(
        caller=ask.caller, project=ask.query["project"], days=ask.query["days"], now=ask.now
    )
    return Answer(body=shown(found))


def index(ask: Ask) -> Answer:
    """Say what memories are worth that are withheld from some sessions."""
    found = memory_effects(
        caller=ask.caller, project=ask.query["project"], days=ask.query["days"], now=ask.now
    )
    body = {"least_sessions": LEAST_SESSIONS, "items": [_proof(one) for one in found]}
    return Answer(body=body)


def shown(found: ExperimentReport) -> dict[str, Any]:
    """Return a report as callers see it."""
    return {
        "settings": asdict(found.settings),
        "since": found.since,
        "whole_project": found.is_whole,
        "least_sessions": LEAST_SESSIONS,
        "sessions": {group.value: count for group, count in found.sessions.items()},
        "compared": [
            {"group": one.group.value, "measures": [_measured(each) for each in one.measures]}
            for one in found.compared
        ],
        "tokens_saved": _saved(found.saved),
        "graph": _graph(found.graph),
    }


def _saved(saved: SavedTokens | None) -> dict[str, Any] | None:
    return None if saved is None else asdict(saved)


def _graph(found: GraphChanges) -> dict[str, Any]:
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


def _proof(proof: MemoryEffect) -> dict[str, Any]:
    return {
        "memory_id": proof.memory.id,
        "given": proof.given,
        "withheld": proof.withheld,
        "measures": [_measured(one) for one in proof.measures],
    }


def _measured(one: ComparedFigure) -> dict[str, Any]:
    found = one.difference
    return {
        "figure": one.figure.value,
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


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="experiments",
        name="get_experiments",
        tag="experiments",
        summary="What memory changed in a project",
        says=(
            "Sessions that were given memory against those that were not, figure by figure, with "
            "95 % intervals: of means by Welch, of shares by Newcombe. Under a least number of "
            "sessions on either side nothing is claimed. Owners and admins are told of all "
            "sessions, of those that they do not see where enough of several people tell a "
            "figure; others of those that they may see. `graph`: of rankings for the project that "
            "gave something, in how many the graph took part, and in how many a memory of the "
            "first eight, or their order, would have been another one without it."
        ),
        scope=TokenScope.READ,
        run=look,
        query=(PROJECT, DAYS),
        replies=(Reply(status=200, says="The comparison.", schema="Experiments", example=_REPORT),),
    ),
    Endpoint(
        method="GET",
        path="experiments/memories",
        name="list_memory_proofs",
        tag="experiments",
        summary="What single memories are worth",
        says=(
            "Memories that are withheld from a share of the sessions that would be given them, "
            "most often first: sessions with against sessions without, as above."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(PROJECT, DAYS),
        replies=(Reply(status=200, says="At most 50.", schema="MemoryProofs", example=_PROOFS),),
    ),
)
