"""How much types of memories count in the phases of a project, over REST."""

from datetime import datetime
from typing import Any

from accounts.api.endpoints import Call, get
from accounts.api.schemas import Result
from memory.experiments.phase_learning import LearnedWeight as Learned
from memory.experiments.queries import weights_of


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
    found = weights_of(caller=call.caller, project=call.ref, now=call.now)
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
        "items": [_learned(one, is_proposed=bool(found.proposal)) for one in found.found],
        "own": own,
        "decided_at": found.decided_at,
    }


def _learned(one: Learned, *, is_proposed: bool) -> dict[str, Any]:
    found = one.difference
    return {
        "phase": one.phase,
        "type": one.type,
        "given": one.own.count,
        "used": int(one.own.total),
        "others_given": one.others.count,
        "others_used": int(one.others.total),
        "difference": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "weight": one.now,
        "proposed": one.proposed if is_proposed else None,
    }
