"""How much types of memories count in the phases of a project, over REST."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import MOMENT, NUMBER, TEXT, TRUTH, WHOLE, maybe, record, ref, several
from accounts.caller import TokenScope
from memory.customization.phases import Own
from memory.experiments.phase_learning import SESSIONS_LEAST, LearnedWeight, OutcomeCounts
from memory.experiments.queries.phase_weights import PhaseWeights, weights_of

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "PhaseWeight": record(phase=TEXT, type=TEXT, weight=NUMBER),
    "LearnedWeight": record(
        phase=TEXT,
        type=TEXT,
        given=WHOLE,
        used=WHOLE,
        others_given=WHOLE,
        others_used=WHOLE,
        difference=maybe(NUMBER),
        low=maybe(NUMBER),
        high=maybe(NUMBER),
        weight=NUMBER,
        proposed=maybe(NUMBER),
    ),
    "PhaseWeights": record(
        sessions=WHOLE,
        least_sessions=WHOLE,
        since=MOMENT,
        whole_project=TRUTH,
        proposal=TEXT,
        items=several(ref("LearnedWeight")),
        own=several(ref("PhaseWeight")),
        decided_at=maybe(MOMENT),
    ),
}
_EXAMPLE: Final[Mapping[str, Any]] = {
    "sessions": 84,
    "least_sessions": SESSIONS_LEAST,
    "since": "2026-08-22T12:00:00Z",
    "whole_project": True,
    "proposal": "3f0c7a19d2b4e865",
    "items": [
        {
            "phase": "implement",
            "type": "decision",
            "given": 120,
            "used": 84,
            "others_given": 260,
            "others_used": 91,
            "difference": 0.35,
            "low": 0.2443,
            "high": 0.4430,
            "weight": 1.0,
            "proposed": 1.4,
        }
    ],
    "own": [{"phase": "define", "type": "decision", "weight": 1.3}],
    "decided_at": "2026-08-01T09:30:00Z",
}


def look(ask: Ask) -> Answer:
    """Say what a project's sessions taught about its phases, and what holds."""
    return Answer(body=shown(weights_of(caller=ask.caller, project=ask.path["ref"], now=ask.now)))


def shown(found: PhaseWeights) -> dict[str, Any]:
    """Return it as callers see it."""
    return {
        "sessions": found.sessions,
        "least_sessions": found.least,
        "since": found.since,
        "whole_project": found.is_whole,
        "proposal": found.proposal,
        "items": [_learned(one, is_proposed=bool(found.proposal)) for one in found.found],
        "own": _own(found.own),
        "decided_at": found.decided_at,
    }


def _learned(one: LearnedWeight, *, is_proposed: bool) -> dict[str, Any]:
    found = one.difference
    return {
        "phase": one.phase.value,
        "type": one.type.value,
        **_came("", one.own),
        **_came("others_", one.others),
        "difference": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "weight": one.now,
        "proposed": one.proposed if is_proposed else None,
    }


def _came(side: str, came: OutcomeCounts) -> dict[str, int]:
    return {f"{side}given": came.given, f"{side}used": came.used}


def _own(own: Own) -> list[dict[str, Any]]:
    return [
        {"phase": phase.value, "type": type.value, "weight": weight}
        for phase, weights in own.items()
        for type, weight in weights.items()
    ]


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/phase-weights",
        name="get_phase_weights",
        tag="experiments",
        summary="What sessions taught about the phases of a project",
        says=(
            "How often memories of a type were used in a phase of the work, against those of the "
            "other types, with intervals that hold together at 95 %, and which weights are "
            "proposed. A person approves or declines them on the page of experiments. `own` are "
            "the weights that a person approved; others are those of the table. Whom sums are "
            "told is as for experiments."
        ),
        scope=TokenScope.READ,
        run=look,
        replies=(
            Reply(status=200, says="What was learned.", schema="PhaseWeights", example=_EXAMPLE),
        ),
    ),
)
